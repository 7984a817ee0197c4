// SPDX-License-Identifier: BSD-3-Clause
//
// Applies the directives `tls-*`: builds TLS contexts from them at the start, and again when CONFIG SET changes one.
// While nothing uses TLS, their files are not read.
//
// Thread: main at the start, then the thread of CONFIG SET, one at a time.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/tls.h"
#include "config/config.h"

namespace cairn {

// CONFIG SET's error when the new values do not work.
inline constexpr std::string_view kCannotUpdateTls = "Unable to update TLS configuration. Check server logs.";

// Whether a listener or a link to another server uses TLS.
bool UsesTls(const Config& config);

// The error is a sentence for the operator; the former configuration stays in use.
Status ConfigureTls(const Config& config, Tls& tls);

// Makes `tls` follow CONFIG SET from now on.
void WatchTls(Config& config, Tls& tls);

}  // namespace cairn
