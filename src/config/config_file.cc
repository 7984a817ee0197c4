// SPDX-License-Identifier: BSD-3-Clause
#include "config/config_file.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/words.h"
#include "command/args.h"

namespace cairn {
namespace {

Status Fail(std::string text) { return Status::Error(Code::kIo, std::move(text)); }

// The number of single-character edits that turn one word into the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The directive that the operator probably meant, or none.
std::string_view ClosestName(std::string_view name) {
  std::string_view closest;
  size_t best = std::max<size_t>(2, name.size() / 4) + 1;
  for (const Directive& directive : AllDirectives()) {
    const size_t distance = EditDistance(name, directive.name);
    if (distance < best) {
      best = distance;
      closest = directive.name;
    }
  }
  return closest;
}

std::string Bounds(const Directive& directive) {
  if (directive.kind == Kind::kMemory) return ", with a unit if wanted: kb, mb, gb";
  if (directive.kind != Kind::kNumber) return {};
  std::string text = ", from " + std::to_string(directive.min);
  if (directive.max != INT64_MAX) text += " to " + std::to_string(directive.max);
  return text;
}

std::string Quoted(std::span<const std::string> words) {
  std::string text = "'";
  for (const std::string& word : words) text.append(text.size() > 1 ? " " : "").append(QuoteWordIfNeeded(word));
  return text + "'";
}

Status LoadText(const std::string& text, const std::string& name, Config& config, int depth);

Status LoadFile(const std::string& path, Config& config, int depth) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return LoadText(text.str(), "standard input", config, depth);
  }
  std::error_code error;  // the stream reports it
  errno = std::filesystem::is_directory(path, error) ? EISDIR : 0;
  std::ifstream file(path);
  if (file && errno == 0) text << file.rdbuf();
  if (!file || errno != 0) {
    return Fail("cannot read the configuration file " + path + ": " + std::strerror(errno));
  }
  return LoadText(text.str(), path, config, depth);
}

Status LoadInclude(const std::string& origin, std::span<const std::string> words, Config& config, int depth) {
  if (words.size() != 2) return Fail(origin + ": include takes one path");
  if (depth >= kMaxIncludeDepth) return Fail(origin + ": files include each other more than 16 deep");
  for (const std::string& path : ExpandInclude(words[1])) {
    const Status status = LoadFile(path, config, depth + 1);
    if (!status.ok()) return Fail(fmt::format("{} (included by {})", status.text(), origin));
  }
  return Ok();
}

Status LoadText(const std::string& text, const std::string& name, Config& config, int depth) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string origin = fmt::format("{}, line {}", name, number);
    const size_t start = line.find_first_not_of(" \t\r");
    if (start == line.npos || line[start] == '#') continue;
    const auto words = SplitWords(line);
    if (!words) return Fail(origin + ": a quote is not closed, or closed in the middle of a word");
    if (words->empty()) continue;
    if (EqualsIgnoreCase(words->front(), "include")) {
      TRY(LoadInclude(origin, *words, config, depth));
    } else {
      TRY(ApplyDirective(origin, *words, config));
    }
  }
  return Ok();
}

}  // namespace

std::vector<std::string> ExpandInclude(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == pattern.npos) return {pattern};
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

Status LoadConfigFile(const std::string& path, Config& config) { return LoadFile(path, config, 0); }

Status LoadConfigText(const std::string& text, const std::string& name, Config& config) {
  return LoadText(text, name, config, 0);
}

Status ApplyDirective(std::string_view origin, std::span<const std::string> words, Config& config) {
  const std::string start = std::string(origin) + ": ";
  const Directive* directive = FindDirective(words[0]);
  if (directive == nullptr) {
    std::string name = words[0];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string_view closest = ClosestName(name);
    std::string text = start + "unknown directive '" + words[0] + "'";
    if (!closest.empty()) text.append("; is '").append(closest).append("' meant?");
    return Fail(std::move(text));
  }
  const Status status = config.Apply(*directive, words.subspan(1));
  if (status.ok()) return Ok();
  const std::string shown = directive->Has(kSecret) ? fmt::format("'{}'", directive->name) : Quoted(words);
  return Fail(fmt::format("{}{}: {}. The directive is: {} {}{}", start, shown, status.text(), directive->name,
                          DescribeSyntax(*directive), Bounds(*directive)));
}

}  // namespace cairn
