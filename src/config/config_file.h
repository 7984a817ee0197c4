// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration file: one directive a line, its words cut as base/words.h says; lines that
// start with # and empty ones are comments. `include <path or glob>` reads another file in its
// place.
//
// Thread: main, before the server runs; RewriteConfigFile any.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"

namespace cairn {

class Users;

// Applies the file at `path`, or the standard input for "-". The error is a sentence for the
// operator with file, line number and what the directive takes.
Status LoadConfigFile(const std::string& path, Config& config);

// Applies one directive given as words; `origin` ("cairn.conf, line 3") starts the error's
// sentence.
Status ApplyDirective(std::string_view origin, std::span<const std::string> words, Config& config);

// CONFIG REWRITE: writes what is set now back into the file. Comments, order and lines whose
// meaning has not changed stay as they are; a directive that stands more than once keeps its first
// place; what is not in the file and not at its default is added at the end. The file is replaced
// in one step. The error is that of the file system.
enum class RewriteScope : unsigned char { kChanged, kAll };  // kAll: also what is at its default
Status RewriteConfigFile(const std::string& path, const Config& config, RewriteScope scope = RewriteScope::kChanged);

// CONFIG REWRITE of `path`, empty when there is no such file, with the users as they are; no lines for them while
// requirepass says it all.
Status RewriteConfig(Config& config, const Users& users, const std::string& path, RewriteScope scope);

}  // namespace cairn
