// SPDX-License-Identifier: BSD-3-Clause
//
// JsonDocument: the document of one key as commands of JSON use it: the key, a path within it, and the matches.
//
// A command on a JSONPath replies with an array, an element for each match; null for a match of another kind. A command
// on a legacy path replies with one element, that of the first match if it reads, of the last if it edits; it fails if
// there is none.
//
// Thread: that of the worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "types/json.h"
#include "types/json_path.h"

namespace cairn {

inline constexpr std::string_view kNoJsonKey = "ERR could not perform this operation on a key that doesn't exist";
inline constexpr std::string_view kNoJsonPath = "ERR Path does not exist";
inline constexpr std::string_view kJsonNotAtRoot = "ERR new objects must be created at the root";

enum class MissingKey : uint8_t { kAllowed, kError };

// Parses a path that is an argument of the command.
Result<std::shared_ptr<const JsonPath>> ParseJsonPath(CommandContext& ctx, std::string_view text);

class JsonDocument {
 public:
  JsonDocument(CommandContext& ctx, std::string_view name)
      : ctx_(ctx), keys_(ctx.keys()), key_(keys_.Name(name)), json_(keys_, key_) {}

  // Opens the key and parses the path; reads the document if it exists, and matches the path.
  Status Open(std::string_view path, MissingKey missing);
  // The same with a path of ParseJsonPath.
  Status Open(std::shared_ptr<const JsonPath> path, MissingKey missing);

  bool exists() const { return json_.exists(); }
  std::string_view text() const { return json_.text(); }
  // REQUIRES for all that use the path: opened
  const JsonPath& path() const { return *path_; }
  JsonValue& root() { return root_; }
  const std::vector<JsonMatch>& matches() const { return matches_; }
  // The work on the matches. A command counts all that it does for each of them.
  JsonWork& work() { return work_; }
  // Whether the path is legacy and matches nothing.
  bool LacksLegacy() const { return path_->is_legacy() && matches_.empty(); }

  // The matches of another path.
  Result<std::vector<JsonMatch>> Match(const JsonPath& path) { return path.Match(root_, work_); }
  // Json::Parse for an argument of the command.
  Result<JsonValue> Parse(std::string_view text, uint64_t taken = 0) const { return json_.Parse(text, taken); }
  // Charges the work of so many copies of values of this size. Returns an error if they would exceed the largest
  // document.
  Status CheckCopies(size_t copies, size_t bytes) const;

  // The locations of the matches in the order of the document, without those within another match.
  std::vector<JsonLocation> TopLocations() const;

  using IsEdited = bool (*)(const JsonValue& value);
  using Edit = std::function<Status(JsonValue& value, Reply& reply)>;
  // Edits each match of the right kind, and replies; stores the document and emits `event` if there was one.
  // `expected` ends the error of a legacy path: "not an array".
  Status EditAndReply(IsEdited is_edited, std::string_view expected, std::string_view event, Reply& reply,
                      const Edit& edit);
  // The same, but returns the parts of the reply: one for each match, empty for a match of another kind.
  Result<std::vector<std::string>> EditMatches(IsEdited is_edited, std::string_view expected, std::string_view event,
                                               const Edit& edit, int protocol);

  Status Store(std::string_view event);
  Status Remove(std::string_view event);

 private:
  Status Find(MissingKey missing);
  Status MatchPath();

  CommandContext& ctx_;
  Keyspace keys_;
  const Key key_;
  Json json_;
  std::shared_ptr<const JsonPath> path_;
  JsonValue root_;
  JsonWork work_;
  std::vector<JsonMatch> matches_;
};

// Replies with an array of the parts that EditMatches returned; an empty part is null.
void ReplyJsonParts(const std::vector<std::string>& parts, Reply& reply);

// The path argument that may be missing: the legacy root.
inline std::string_view JsonPathArgument(Args& args) { return args.More() ? args.Bytes() : "."; }

}  // namespace cairn
