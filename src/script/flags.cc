// SPDX-License-Identifier: BSD-3-Clause
#include "script/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "command/args.h"

namespace cairn {
namespace {

struct NamedFlag {
  std::string_view name;
  ScriptFlag flag;
};

constexpr NamedFlag kFlags[] = {
    {"no-writes", kNoWrites},
    {"allow-oom", kAllowOom},
    {"allow-stale", kAllowStale},
    {"no-cluster", kNoCluster},
    {"allow-cross-slot-keys", kAllowCrossSlotKeys},
};

constexpr std::string_view kFlagsOption = "flags=";
constexpr std::string_view kNameOption = "name=";

Status Refuse(std::string_view text) { return Status::Reply("ERR " + std::string(text)); }
Status Refuse(std::string_view text, std::string_view what) {
  return Status::Reply(fmt::format("ERR {}{}", text, what));
}

Status ReadFlags(std::string_view list, uint32_t& flags) {
  if (list.empty()) return Ok();
  for (;;) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    const auto flag = FindScriptFlag(name, false);
    if (!flag) return Refuse("Unexpected flag in script shebang: ", name);
    flags |= *flag;
    if (comma == std::string_view::npos) return Ok();
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<ScriptFlag> FindScriptFlag(std::string_view name, bool any_case) {
  for (const NamedFlag& known : kFlags) {
    if (any_case ? EqualsIgnoreCase(known.name, name) : known.name == name) return known.flag;
  }
  return std::nullopt;
}

std::vector<std::string_view> ScriptFlagNames(uint32_t flags) {
  std::vector<std::string_view> names;
  for (const NamedFlag& known : kFlags) {
    if (flags & known.flag) names.push_back(known.name);
  }
  return names;
}

Result<ScriptHead> ReadScriptHead(std::string_view body) {
  ScriptHead head;
  if (!body.starts_with("#!")) return head;
  const size_t end = body.find('\n');
  if (end == std::string_view::npos) return Refuse("Invalid script shebang");
  const auto words = SplitWords(body.substr(0, end));
  if (!words || words->empty()) return Refuse("Invalid engine in script shebang");
  if (words->front() != "#!lua") return Refuse("Unexpected engine in script shebang: ", words->front());
  head.flags = 0;
  head.size = end;
  for (size_t i = 1; i < words->size(); ++i) {
    const std::string_view word = (*words)[i];
    if (!word.starts_with(kFlagsOption)) return Refuse("Unknown lua shebang option: ", word);
    TRY(ReadFlags(word.substr(kFlagsOption.size()), head.flags));
  }
  return head;
}

Result<LibraryHead> ReadLibraryHead(std::string_view code) {
  if (!code.starts_with("#!")) return Refuse("Missing library metadata");
  const size_t end = code.find('\n');
  if (end == std::string_view::npos) return Refuse("Invalid library metadata");
  const auto words = SplitWords(code.substr(0, end));
  if (!words || words->empty()) return Refuse("Invalid library metadata");
  LibraryHead head;
  head.size = end;
  bool named = false;
  for (size_t i = 1; i < words->size(); ++i) {
    const std::string_view word = (*words)[i];
    if (!EqualsIgnoreCase(word.substr(0, kNameOption.size()), kNameOption)) {
      return Refuse("Invalid metadata value given: ", word);
    }
    if (named) return Refuse("Invalid metadata value, name argument was given multiple times");
    head.name = word.substr(kNameOption.size());
    named = true;
  }
  if (!named) return Refuse("Library name was not given");
  if (!IsFunctionName(head.name)) return Refuse(kBadFunctionName);
  const std::string_view engine = std::string_view(words->front()).substr(2);
  if (!EqualsIgnoreCase(engine, "lua")) return Refuse(fmt::format("Engine '{}' not found", engine));
  return head;
}

bool IsFunctionName(std::string_view name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_fine);
}

}  // namespace cairn
