// SPDX-License-Identifier: BSD-3-Clause
//
// XDEL, XDELEX and XACKDEL: delete entries of a stream by id. The last two also decide about the references that
// consumer groups have to them (types/stream_references.h). They are replicated as XACK and XDEL with the ids that they
// have changed.
#include <optional>
#include <string>
#include <vector>

#include "base/number.h"
#include "base/words.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/named.h"
#include "command/stream_args.h"
#include "types/stream.h"
#include "types/stream_group.h"
#include "types/stream_references.h"

namespace cairn {
namespace {

constexpr std::string_view kIdCount = "ERR Number of IDs must be a positive integer";
constexpr std::string_view kIdMismatch = "ERR The `numids` parameter must match the number of arguments";

// The reply for an id.
constexpr int64_t kNoEntry = -1;
constexpr int64_t kDeleted = 1;
constexpr int64_t kReferenced = 2;

// XDEL key id [id ...]
Status XDel(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args.Bytes());
  TRY(stream.Open());
  if (!stream.exists()) {
    reply.Integer(0);
    return Ok();
  }
  std::vector<StreamId> ids;
  while (args.More()) ids.push_back(TRY(ReadStreamIdArgument(args.Bytes())));
  int64_t deleted = 0;
  for (const StreamId id : ids) deleted += TRY(stream.Delete(id)) ? 1 : 0;
  if (deleted > 0) {
    TRY(stream.Save());
    ctx.Changed(kStreamEvent, "xdel", stream.key.bytes(), static_cast<uint64_t>(deleted));
  }
  reply.Integer(deleted);
  return Ok();
}

struct DeleteOptions {
  ReferencePolicy policy = ReferencePolicy::kKeep;
  std::vector<StreamId> ids;
};

// numids id [id ...]
Result<std::vector<StreamId>> ReadIdList(Args& args) {
  const auto count = ParseInt64(args.Bytes());
  if (!count || *count < 1) return Status::Reply(kIdCount);
  if (static_cast<uint64_t>(*count) > args.left()) return Status::Reply(kIdMismatch);
  std::vector<StreamId> ids;
  for (int64_t i = 0; i < *count; ++i) ids.push_back(TRY(ReadStreamIdArgument(args.Bytes())));
  return ids;
}

// [KEEPREF | DELREF | ACKED] IDS numids id [id ...], in any order.
Result<DeleteOptions> ReadDeleteOptions(Args& args) {
  DeleteOptions options;
  bool has_policy = false;
  while (args.More()) {
    const std::string_view word = args.Bytes();
    const auto policy = ParseReferencePolicy(word);
    if (policy && !has_policy) {
      options.policy = *policy;
      has_policy = true;
    } else if (options.ids.empty() && args.More() && EqualsIgnoreCase(word, "ids")) {
      options.ids = TRY(ReadIdList(args));
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  if (options.ids.empty()) return Status::Reply(errors::kSyntax);
  return options;
}

// Replies that no id exists.
Status ReplyNoEntries(Reply& reply, size_t count) {
  reply.Array(count);
  for (size_t i = 0; i < count; ++i) reply.Integer(kNoEntry);
  return Ok();
}

// Deletes entries with their references, and remembers what it changed.
class Deletion {
 public:
  Deletion(CommandContext& ctx, Named<Stream>& stream, StreamReferences& references, ReferencePolicy policy)
      : ctx_(ctx), stream_(stream), references_(references), policy_(policy) {}

  // Deletes one entry. Returns the reply, and counts a change if there was one. `acknowledged`: its group's reference
  // was deleted before.
  Result<int64_t> Delete(StreamId id, bool acknowledged) {
    if (policy_ == ReferencePolicy::kAcked && TRY(references_.Include(id))) {
      changes_ += acknowledged ? 1 : 0;
      return kReferenced;
    }
    const bool released = policy_ == ReferencePolicy::kDrop && TRY(references_.Release(id));
    const bool deleted = TRY(stream_.Delete(id));
    if (deleted) deleted_.push_back(id);
    changes_ += deleted || released || acknowledged ? 1 : 0;
    return deleted || acknowledged ? kDeleted : kNoEntry;
  }

  // Saves, replicates and emits the changes.
  Status Finish() {
    if (changes_ == 0) return Ok();
    references_.Save();
    ReplicateReleased(ctx_, stream_.key.bytes(), references_);
    ctx_.CountChanges(changes_);
    if (deleted_.empty()) return Ok();
    TRY(stream_.Save());
    ctx_.Emit(kStreamEvent, "xdel", stream_.key.bytes());
    ReplicateIds(ctx_, {"XDEL", stream_.key.bytes()}, deleted_);
    return Ok();
  }

 private:
  CommandContext& ctx_;
  Named<Stream>& stream_;
  StreamReferences& references_;
  const ReferencePolicy policy_;
  std::vector<StreamId> deleted_;
  uint64_t changes_ = 0;
};

// XDELEX key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]
Status XDelEx(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args.Bytes());
  const DeleteOptions options = TRY(ReadDeleteOptions(args));
  TRY(stream.Open());
  if (!stream.exists()) return ReplyNoEntries(reply, options.ids.size());
  StreamReferences references;
  if (options.policy != ReferencePolicy::kKeep) references = TRY(StreamReferences::Load(stream));
  Deletion deletion(ctx, stream, references, options.policy);
  reply.Array(options.ids.size());
  for (const StreamId id : options.ids) reply.Integer(TRY(deletion.Delete(id, /*acknowledged=*/false)));
  return deletion.Finish();
}

// XACKDEL key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]
Status XAckDel(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args.Bytes());
  const std::string_view name = args.Bytes();
  const DeleteOptions options = TRY(ReadDeleteOptions(args));
  TRY(stream.Open());
  StreamReferences references = TRY(StreamReferences::Load(stream));
  StreamReferences::Group* const group = references.Find(name);
  if (group == nullptr) return ReplyNoEntries(reply, options.ids.size());
  Deletion deletion(ctx, stream, references, options.policy);
  reply.Array(options.ids.size());
  for (const StreamId id : options.ids) {
    const bool acknowledged = TRY(StreamReferences::ReleaseIn(*group, id));
    reply.Integer(acknowledged ? TRY(deletion.Delete(id, /*acknowledged=*/true)) : kNoEntry);
  }
  return deletion.Finish();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xdel", .arity = -3, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = XDel,
     .group = Group::kStream, .since = "5.0.0", .summary = "Deletes entries of a stream.",
     .complexity = "O(1) for each entry", .syntax = "key id [id ...]"},
    {.name = "xdelex", .arity = -5, .flags = kWrite | kFast, .keys = {OneKey(kRW | kDelete)}, .run = XDelEx,
     .group = Group::kStream, .since = "8.2.0",
     .summary = "Deletes entries of a stream, with a choice for those that consumer groups still need.",
     .complexity = "O(G) for each entry with G the number of consumer groups",
     .syntax = "key [KEEPREF | DELREF | ACKED] IDS numids:integer id [id ...]"},
    {.name = "xackdel", .arity = -6, .flags = kWrite | kFast, .keys = {OneKey(kRW | kUpdate | kDelete)},
     .run = XAckDel, .group = Group::kStream, .since = "8.2.0",
     .summary = "Acknowledges entries in a consumer group and deletes them.",
     .complexity = "O(G) for each entry with G the number of consumer groups",
     .syntax = "key group [KEEPREF | DELREF | ACKED] IDS numids:integer id [id ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamDeleteCommands() { return kRows; }

}  // namespace cairn
