// SPDX-License-Identifier: BSD-3-Clause
//
// What the directives `tls-*` come to: certificates and rules built from them at the start and anew when CONFIG SET
// changes one. While nothing uses TLS they are only kept, and nothing is read from their files.
//
// Thread: main at the start, then that of CONFIG SET, one at a time.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/tls.h"
#include "config/config.h"

namespace cairn {

// CONFIG SET's answer when what it sets does not do.
inline constexpr std::string_view kCannotUpdateTls = "Unable to update TLS configuration. Check server logs.";

// A listener or a link to another server speaks TLS.
bool UsesTls(const Config& config);

// The error is a sentence for the operator; what was configured before stays.
Status ConfigureTls(const Config& config, Tls& tls);

// From now on `tls` follows what CONFIG SET changes.
void WatchTls(Config& config, Tls& tls);

}  // namespace cairn
