// SPDX-License-Identifier: BSD-3-Clause
//
// Streams as logs: adding entries, reading ranges, trimming. Deletion by id is in stream_delete.cc, reads after an id
// in stream_read.cc, consumer groups in stream_group.cc and stream_claim.cc.
#include "types/stream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/fixed.h"
#include "command/named.h"
#include "command/stream_args.h"
#include "command/stream_idempotence.h"
#include "types/stream_references.h"

namespace cairn {
namespace {

constexpr std::string_view kTwoRules = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible";
constexpr std::string_view kMaxLenRange = "ERR The MAXLEN argument must be >= 0.";
constexpr std::string_view kLimitRange = "ERR The LIMIT argument must be >= 0.";
constexpr std::string_view kLimitAlone =
    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy";
constexpr std::string_view kNoRule = "ERR syntax error, XTRIM must be called with a trimming strategy";
constexpr std::string_view kLimitExact = "ERR syntax error, LIMIT cannot be used without the special ~ option";
constexpr std::string_view kZeroId = "ERR The ID specified in XADD must be greater than 0-0";
constexpr std::string_view kNoIdLeft = "ERR The stream has exhausted the last possible ID, unable to add more items";
constexpr std::string_view kGivenId = "ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs";
constexpr std::string_view kIdTooLow =
    "ERR The ID specified in XADD is equal or smaller than the target stream top item";

// Approximate trimming without LIMIT stops after as many entries as fit into this many chunks.
constexpr int64_t kChunksPerTrim = 100;
constexpr int64_t kFallbackLimit = 10000;
constexpr int64_t kMostLimit = 1000000;

// The options of XADD and XTRIM, and XADD's id.
struct AddOptions {
  bool no_create = false;
  bool trims = false;
  std::optional<int64_t> limit;
  size_t limit_at = 0;      // position of LIMIT; 0: not given
  size_t rule_at = 0;       // position of MAXLEN or MINID; 0: not given
  size_t threshold_at = 0;  // position of the threshold
  size_t policy_at = 0;     // position of KEEPREF, DELREF or ACKED; 0: not given
  ReferencePolicy policy = ReferencePolicy::kKeep;
  StreamTrim trim;
  IdempotentAdd idempotent;
  bool id_given = false;  // else "*"
  bool seq_given = true;  // else "ms-*"
  StreamId id;
};

// MAXLEN | MINID [= | ~] threshold
Status ReadTrimRule(Args& args, AddOptions& options, bool by_length) {
  if (options.trims) return Status::Reply(kTwoRules);
  options.rule_at = args.position() - 1;
  if (args.left() >= 2 && (args.Peek() == "~" || args.Peek() == "=")) {
    options.trim.whole_chunks = args.Bytes() == "~";
  }
  options.threshold_at = args.position();
  if (by_length) {
    const int64_t length = TRY(ReadStreamNumber(args.Bytes()));
    if (length < 0) return Status::Reply(kMaxLenRange);
    options.trim.max_length = static_cast<uint64_t>(length);
  } else {
    options.trim.min_id = TRY(ReadStreamIdArgument(args.Bytes()));
  }
  options.trims = true;
  return Ok();
}

Status ReadAddId(std::string_view text, AddOptions& options) {
  if (text == "*") return Ok();
  options.id_given = true;
  if (text.ends_with("-*")) {
    options.seq_given = false;
    text.remove_suffix(2);
    if (text.find('-') != std::string_view::npos) text = {};
  }
  options.id = TRY(ReadStreamIdArgument(text));
  return Ok();
}

// Checks LIMIT and sets its default, after all options are read.
Status SettleLimit(CommandContext& ctx, AddOptions& options, bool adds) {
  if (options.limit.value_or(0) != 0 && !options.trims) return Status::Reply(kLimitAlone);
  if (!adds && !options.trims) return Status::Reply(kNoRule);
  if (options.limit && !options.trim.whole_chunks) return Status::Reply(kLimitExact);
  if (!options.trim.whole_chunks) return Ok();
  if (!options.limit) {
    const int64_t entries = ctx.limits().stream_node_max_entries;
    const int64_t most = entries > kMostLimit ? kMostLimit : entries * kChunksPerTrim;
    options.limit = most <= 0 ? kFallbackLimit : std::min(most, kMostLimit);
  }
  options.trim.limit = static_cast<uint64_t>(*options.limit);
  return Ok();
}

// Reads the arguments up to and including XADD's id, or all of XTRIM's.
Result<AddOptions> ReadAddOptions(CommandContext& ctx, Args& args, bool adds) {
  AddOptions options;
  while (args.More()) {
    const std::string_view word = args.Bytes();
    const bool followed = args.More();
    if (adds && word == "*") break;
    if (followed && EqualsIgnoreCase(word, "maxlen")) {
      TRY(ReadTrimRule(args, options, /*by_length=*/true));
    } else if (followed && EqualsIgnoreCase(word, "minid")) {
      TRY(ReadTrimRule(args, options, /*by_length=*/false));
    } else if (followed && EqualsIgnoreCase(word, "limit")) {
      options.limit_at = args.position() - 1;
      options.limit = TRY(ReadStreamNumber(args.Bytes()));
      if (*options.limit < 0) return Status::Reply(kLimitRange);
    } else if (adds && EqualsIgnoreCase(word, "nomkstream")) {
      options.no_create = true;
    } else if (const bool is_auto = EqualsIgnoreCase(word, "idmpauto");
               adds && args.left() >= (is_auto ? 1 : 2) && (is_auto || EqualsIgnoreCase(word, "idmp"))) {
      TRY(ReadIdempotentAdd(args, options.idempotent, is_auto));
    } else if (const auto policy = ParseReferencePolicy(word)) {
      if (options.policy_at != 0) return Status::Reply(errors::kSyntax);
      options.policy_at = args.position() - 1;
      options.policy = *policy;
    } else if (adds) {
      TRY(ReadAddId(word, options));
      // A primary replicates the id that it has chosen.
      if (options.idempotent.is_given() && !ctx.session().is_primary) return Status::Reply(kGivenId);
      break;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  TRY(SettleLimit(ctx, options, adds));
  return options;
}

// Returns the id of a new entry; nullopt if it would not be above the last one.
std::optional<StreamId> ChooseId(const AddOptions& options, StreamId last, int64_t now_ms) {
  StreamId id = options.id;
  if (!options.id_given) {
    const auto now = static_cast<uint64_t>(now_ms);
    if (now > last.ms) return StreamId{now, 0};
    return NextStreamId(last);
  }
  if (!options.seq_given && id.ms == last.ms) {
    if (last.seq == UINT64_MAX) return std::nullopt;
    id.seq = last.seq + 1;
  }
  return id > last ? std::optional(id) : std::nullopt;
}

// What XADD or XTRIM has trimmed.
struct Trimmed {
  uint64_t count = 0;
  std::vector<StreamId> ids;  // only with ACKED: of the entries that had no references
};

// Trims, and replicates the references that DELREF deletes.
Result<Trimmed> TrimStream(CommandContext& ctx, Named<Stream>& stream, AddOptions& options) {
  Trimmed trimmed;
  if (!options.trims) return trimmed;
  if (stream.state().groups == 0) options.policy = ReferencePolicy::kKeep;
  if (options.policy == ReferencePolicy::kKeep) {
    trimmed.count = TRY(stream.Trim(options.trim));
    return trimmed;
  }
  StreamReferences references = TRY(StreamReferences::Load(stream));
  trimmed.ids = TRY(references.Trim(stream, options.trim, options.policy));
  trimmed.count = trimmed.ids.size();
  if (options.policy == ReferencePolicy::kDrop) {
    ReplicateReleased(ctx, stream.key.bytes(), references);
    trimmed.ids.clear();
  }
  references.Save();
  return trimmed;
}

// Replicates the command with the final id, at position `id_at` if not 0, and the exact result of trimming. A policy
// for references becomes the changes that it made, so the replica may be older than the policies.
void Replicate(CommandContext& ctx, const Args& args, const AddOptions& options, const StreamState& state, size_t id_at,
               StreamId id) {
  if (!ctx.is_replicated()) return ctx.ReplicateNothing();
  std::vector<std::string_view> words(args.all().begin(), args.all().end());
  const std::string id_text = id.ToString();
  if (id_at != 0) words[id_at] = id_text;
  std::string threshold;
  if (options.trim.whole_chunks) {
    const StreamId first = state.count == 0 ? kLastStreamId : state.first_id;
    threshold = options.trim.max_length ? std::to_string(state.count) : first.ToString();
    words[options.threshold_at] = threshold;
    words[options.threshold_at - 1] = "=";
  }
  const bool trims = options.policy != ReferencePolicy::kAcked;
  std::vector<std::string_view> kept;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool is_limit = options.limit_at != 0 && (i == options.limit_at || i == options.limit_at + 1);
    const bool is_policy = options.policy_at != 0 && i == options.policy_at;
    const bool is_rule = options.rule_at != 0 && i >= options.rule_at && i <= options.threshold_at;
    if (!is_limit && !is_policy && (trims || !is_rule)) kept.push_back(words[i]);
  }
  ctx.Replicate(kept);
}

// Returns the entry that the producer has added before with the same id, if any. From a primary, the id of a given
// entry may be in use for an older one, which has expired there.
Result<std::optional<StreamId>> FindDuplicate(CommandContext& ctx, Stream& stream, const AddOptions& options,
                                              std::string_view id) {
  if (!options.idempotent.is_given()) return std::optional<StreamId>();
  const auto found = TRY(ProducersOf(stream).Find(options.idempotent.producer, id, ExpiryTime(ctx)));
  if (found && options.id_given && *found != options.id) return std::optional<StreamId>();
  return found;
}

// XADD key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [IDMPAUTO producer-id | IDMP producer-id idempotent-id]
//      [MAXLEN | MINID [= | ~] threshold [LIMIT count]] * | id field value [...]
Status XAdd(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  AddOptions options = TRY(ReadAddOptions(ctx, args, /*adds=*/true));
  if (args.left() < 2 || args.left() % 2 != 0) {
    return Status::Reply(errors::WrongArity(ctx.command().full_name()));
  }
  if (options.id_given && options.seq_given && options.id.IsZero()) return Status::Reply(kZeroId);
  Named<Stream> stream(ctx, name);
  TRY(stream.Open());
  if (!stream.exists()) {
    if (options.no_create) {
      reply.Null();
      return Ok();
    }
    stream.Create();
  }
  const auto fields = args.all().subspan(args.position());
  std::string idempotent_id;
  if (options.idempotent.is_given()) idempotent_id = IdempotentId(options.idempotent, fields);
  if (const auto added = TRY(FindDuplicate(ctx, stream, options, idempotent_id))) {
    ++stream.state().idempotence.duplicates;
    TRY(stream.Save());
    ctx.CountChanges(1);
    ctx.ReplicateNothing();  // it is a statistic
    ReplyStreamId(reply, *added);
    return Ok();
  }
  if (stream.state().last_id == kLastStreamId) return Status::Reply(kNoIdLeft);
  const std::optional<StreamId> id = ChooseId(options, stream.state().last_id, ctx.now_ms());
  if (!id) return Status::Reply(kIdTooLow);
  const size_t id_at = args.position() - 1;
  TRY(stream.Append(*id, fields));
  if (options.idempotent.is_given()) {
    TRY(StartedProducersOf(ctx, stream).Add(options.idempotent.producer, idempotent_id, *id, ExpiryTime(ctx)));
  }
  const Trimmed trimmed = TRY(TrimStream(ctx, stream, options));
  const StreamState state = stream.state();
  TRY(stream.Save());
  ctx.Changed(kStreamEvent, "xadd", name);
  if (trimmed.count > 0) ctx.Emit(kStreamEvent, "xtrim", name);
  const bool given = options.id_given && options.seq_given;
  if (!given || options.trim.whole_chunks || options.policy_at != 0) {
    Replicate(ctx, args, options, state, given ? 0 : id_at, *id);
  }
  ReplicateIds(ctx, {"XDEL", name}, trimmed.ids);
  ReplyStreamId(reply, *id);
  return Ok();
}

// XTRIM key MAXLEN | MINID [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]
Status XTrim(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  AddOptions options = TRY(ReadAddOptions(ctx, args, /*adds=*/false));
  Named<Stream> stream(ctx, name);
  TRY(stream.Open());
  const Trimmed trimmed = TRY(TrimStream(ctx, stream, options));
  if (trimmed.count > 0) {
    const StreamState state = stream.state();
    TRY(stream.Save());
    ctx.Changed(kStreamEvent, "xtrim", name, trimmed.count);
    if (options.policy == ReferencePolicy::kAcked && !trimmed.ids.empty()) {
      ReplicateIds(ctx, {"XDEL", name}, trimmed.ids);
    } else if (options.trim.whole_chunks || options.policy_at != 0) {
      Replicate(ctx, args, options, state, 0, {});
    }
  }
  reply.Integer(static_cast<int64_t>(trimmed.count));
  return Ok();
}

// XLEN key
Status XLen(CommandContext& ctx, Args& args, Reply& reply) {
  Named<Stream> stream(ctx, args.Bytes());
  TRY(stream.Open());
  reply.Integer(static_cast<int64_t>(stream.size()));
  return Ok();
}

// XRANGE and XREVRANGE.
Status ReplyRange(CommandContext& ctx, Args& args, Reply& reply, bool reverse) {
  StreamRange range;
  range.from = TRY(ReadRangeStart(args[reverse ? 3 : 2]));
  range.to = TRY(ReadRangeEnd(args[reverse ? 2 : 3]));
  std::optional<int64_t> count;
  args.Skip(3);
  while (args.More()) {
    if (!args.Keyword("count")) return Status::Reply(errors::kSyntax);
    if (!args.More()) return Status::Reply(errors::kSyntax);
    count = TRY(ReadStreamCount(args.Bytes()));
  }
  Named<Stream> stream(ctx, args[1]);
  TRY(stream.Open());
  if (stream.exists() && count == 0) {
    reply.NullArray();
    return Ok();
  }
  const size_t mark = reply.Later();
  const auto most = static_cast<uint64_t>(count.value_or(0));
  reply.FinishArray(mark, TRY(ReplyStreamEntries(reply, stream, range, most, reverse)));
  return Ok();
}

// XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]
Status XSetId(CommandContext& ctx, Args& args, Reply& reply) {
  const std::string_view name = args.Bytes();
  const StreamId last_id = TRY(ReadStreamIdArgument(args.Bytes()));
  std::optional<uint64_t> entries_added;
  StreamId max_deleted_id;
  while (args.More()) {
    const std::string_view word = args.Bytes();
    if (args.More() && EqualsIgnoreCase(word, "entriesadded")) {
      const int64_t added = TRY(ReadStreamNumber(args.Bytes()));
      if (added < 0) return Status::Reply("ERR entries_added must be positive");
      entries_added = static_cast<uint64_t>(added);
    } else if (args.More() && EqualsIgnoreCase(word, "maxdeletedid")) {
      max_deleted_id = TRY(ReadStreamIdArgument(args.Bytes()));
      if (last_id < max_deleted_id) {
        return Status::Reply("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
      }
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  Named<Stream> stream(ctx, name);
  TRY(stream.Open());
  if (!stream.exists()) return Status::Reply(errors::kNoSuchKey);
  if (last_id < stream.state().max_deleted_id) {
    return Status::Reply("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id");
  }
  if (stream.size() > 0) {
    if (last_id < TRY(stream.LastEntryId())) {
      return Status::Reply("ERR The ID specified in XSETID is smaller than the target stream top item");
    }
    if (entries_added && stream.size() > *entries_added) {
      return Status::Reply("ERR The entries_added specified in XSETID is smaller than the target stream length");
    }
  }
  StreamState& state = stream.state();
  state.last_id = last_id;
  if (entries_added) state.entries_added = *entries_added;
  if (!max_deleted_id.IsZero()) state.max_deleted_id = max_deleted_id;
  TRY(stream.Save());
  ctx.Changed(kStreamEvent, "xsetid", name);
  reply.Ok();
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xadd", .arity = -5, .flags = kWrite | kDenyOom | kFast,
     .keys = {{.flags = kRW | kUpdate, .begin = 1,
               .notes = "UPDATE instead of INSERT because of the optional trimming feature"}},
     .run = XAdd, .group = Group::kStream, .since = "5.0.0",
     .summary = "Adds an entry at the end of a stream.",
     .complexity = "O(1) to add, O(N) to trim with N the number of entries deleted",
     .syntax = "key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [IDMPAUTO producer-id | IDMP producer-id idempotent-id] "
               "[<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]",
     .tips = "nondeterministic_output"},
    {.name = "xtrim", .arity = -4, .flags = kWrite, .keys = {OneKey(kRW | kDelete)}, .run = XTrim,
     .group = Group::kStream, .since = "5.0.0", .summary = "Deletes entries at the beginning of a stream.",
     .complexity = "O(N) with N the number of entries deleted",
     .syntax = "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]",
     .tips = "nondeterministic_output"},
    {.name = "xlen", .arity = 2, .flags = kReadonly | kFast, .keys = {OneKey(kRO)}, .run = XLen,
     .group = Group::kStream, .since = "5.0.0", .summary = "Returns the number of entries of a stream.",
     .complexity = "O(1)", .syntax = "key"},
    {.name = "xrange", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, false>, .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns the entries within a range of ids.",
     .complexity = "O(N) with N the number of entries returned", .syntax = "key start end [COUNT count]"},
    {.name = "xrevrange", .arity = -4, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)},
     .run = Fixed<ReplyRange, true>, .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns the entries within a range of ids, in reverse order.",
     .complexity = "O(N) with N the number of entries returned", .syntax = "key end start [COUNT count]"},
    {.name = "xsetid", .arity = -3, .flags = kWrite | kDenyOom | kFast, .keys = {OneKey(kRW | kUpdate)}, .run = XSetId,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Sets the id counters of a stream; for internal use by replication.", .complexity = "O(1)",
     .syntax = "key last-id [ENTRIESADDED entries_added:integer] [MAXDELETEDID max_deleted_entry_id]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamCommands() { return kRows; }

}  // namespace cairn
