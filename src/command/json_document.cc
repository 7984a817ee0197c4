// SPDX-License-Identifier: BSD-3-Clause
#include "command/json_document.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cairn {
namespace {

constexpr size_t kCopiedBytesPerStep = 1024;

bool IsWithin(const JsonLocation& location, const JsonLocation& other) {
  return location.size() >= other.size() && std::equal(other.begin(), other.end(), location.begin());
}

}  // namespace

Result<std::shared_ptr<const JsonPath>> ParseJsonPath(CommandContext& ctx, std::string_view text) {
  Keyspace keys = ctx.keys();
  JsonWork work = Json::Work(keys);
  return std::make_shared<const JsonPath>(TRY(Json::ParsePath(text, work)));
}

Status JsonDocument::Find(MissingKey missing) {
  TRY(json_.Open());
  return !json_.exists() && missing == MissingKey::kError ? Status::Reply(kNoJsonKey) : Ok();
}

Status JsonDocument::MatchPath() {
  if (!json_.exists()) return Ok();
  root_ = TRY(json_.Read());
  work_ = json_.work();
  matches_ = TRY(path_->Match(root_, work_));
  return Ok();
}

Status JsonDocument::Open(std::string_view path, MissingKey missing) {
  TRY(Find(missing));
  path_ = TRY(ParseJsonPath(ctx_, path));
  return MatchPath();
}

Status JsonDocument::Open(std::shared_ptr<const JsonPath> path, MissingKey missing) {
  TRY(Find(missing));
  path_ = std::move(path);
  return MatchPath();
}

Status JsonDocument::CheckCopies(size_t copies, size_t bytes) const {
  if (copies <= 1) return Ok();
  if (bytes > Json::kMostBytes / copies) return Status::Reply("ERR the document exceeds the maximum of 512 MB");
  TRY(json_.CheckMemory(copies * bytes));
  return ctx_.txn().command().Spend(copies * bytes / kCopiedBytesPerStep);
}

std::vector<JsonLocation> JsonDocument::TopLocations() const {
  std::vector<JsonLocation> sorted;
  sorted.reserve(matches_.size());
  for (const JsonMatch& match : matches_) sorted.push_back(match.location);
  std::sort(sorted.begin(), sorted.end());
  std::vector<JsonLocation> top;
  for (JsonLocation& location : sorted) {
    if (top.empty() || !IsWithin(location, top.back())) top.push_back(std::move(location));
  }
  return top;
}

Result<std::vector<std::string>> JsonDocument::EditMatches(IsEdited is_edited, std::string_view expected,
                                                           std::string_view event, const Edit& edit, int protocol) {
  std::vector<size_t> order(matches_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return !is_edited(*matches_[i].value); });
  if (path_->is_legacy() && order.empty()) {
    return Status::Reply(std::string(kNoJsonPath) + " or " + std::string(expected));
  }
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return matches_[a].location > matches_[b].location; });
  std::vector<std::string> parts(matches_.size());
  for (const size_t i : order) {
    JsonValue& value = ValueAt(root_, matches_[i].location);
    if (value.Is(JsonKind::kArray)) TRY(work_.Visit(value.array().size() / JsonWork::kMovesPerVisit));
    Reply part(parts[i], protocol);
    TRY(edit(value, part));
  }
  if (!order.empty()) TRY(Store(event));
  return parts;
}

Status JsonDocument::EditAndReply(IsEdited is_edited, std::string_view expected, std::string_view event, Reply& reply,
                                  const Edit& edit) {
  std::vector<std::string> parts = TRY(EditMatches(is_edited, expected, event, edit, reply.protocol()));
  if (path_->is_legacy()) {
    std::erase(parts, "");
    reply.Raw(parts.back());
    return Ok();
  }
  ReplyJsonParts(parts, reply);
  return Ok();
}

void ReplyJsonParts(const std::vector<std::string>& parts, Reply& reply) {
  reply.Array(parts.size());
  for (const std::string& part : parts) {
    if (part.empty()) {
      reply.Null();
    } else {
      reply.Raw(part);
    }
  }
}

Status JsonDocument::Store(std::string_view event) {
  TRY(json_.Write(root_));
  ctx_.Changed(kModuleEvent, event, key_.bytes());
  return Ok();
}

Status JsonDocument::Remove(std::string_view event) {
  TRY(json_.Remove());
  ctx_.Changed(kModuleEvent, event, key_.bytes());
  return Ok();
}

}  // namespace cairn
