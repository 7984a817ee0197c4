// SPDX-License-Identifier: BSD-3-Clause
//
// The configuration file: one directive per line, split into words by base/words.h; empty lines and lines that start
// with # are comments. `include <path or glob>` reads another file in its place.
//
// Thread: main, before the server runs; any for RewriteConfigFile.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace cairn {

class Users;

// Applies the file at `path`, or the standard input for "-". The error is a sentence for the operator with the file,
// the line number and the directive's syntax.
Status LoadConfigFile(const std::string& path, Config& config);

// The same for the text of a file; `name` is its name in errors.
Status LoadConfigText(const std::string& text, const std::string& name, Config& config);

// Applies one directive, given as words; `origin` ("cairn.conf, line 3") begins the error's sentence.
Status ApplyDirective(std::string_view origin, std::span<const std::string> words, Config& config);

// The most files between the first one and an included one.
inline constexpr int kMaxIncludeDepth = 16;

// The files that an `include` with this path or pattern names, in order; without wildcards, the path itself.
std::vector<std::string> ExpandInclude(const std::string& pattern);

// CONFIG REWRITE: writes the current values to the file. Comments, the order, and lines whose meaning has not changed
// are kept; a directive with several lines keeps its first place; values that differ from the default and have no line
// are added at the end, except listeners, users and renamed commands of an included file, which would be there twice.
// So are values, defaults too, for which a later line of an included file says something else.
// The file is replaced atomically. The error is that of the file system.
enum class RewriteScope : unsigned char { kChanged, kAll };  // kAll: defaults too
Status RewriteConfigFile(const std::string& path, const Config& config, RewriteScope scope = RewriteScope::kChanged);

// CONFIG REWRITE of `path`, empty if there is no file, with the current users; users that requirepass describes
// completely get no lines.
Status RewriteConfig(Config& config, const Users& users, const std::string& path, RewriteScope scope);

}  // namespace cairn
