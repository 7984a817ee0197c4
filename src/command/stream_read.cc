// SPDX-License-Identifier: BSD-3-Clause
//
// XREAD reads entries behind an id. It may block until there are some.
//
// A blocked command runs again from the start when one of its keys changes; before it blocks, `$` is replaced by the
// stream's last id. XREAD writes nothing, so it holds no stripes while it reads; it locks them before it parks, so that
// no commit falls between its read and its registration.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "command/stream_args.h"
#include "command/stream_read_args.h"
#include "types/stream.h"

namespace cairn {
namespace {

constexpr std::string_view kGreater =
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
    "option.";

// The id right before the stream's last entry, or 0-0 if there is no entry. For a client that was blocked (`again`), a
// key of another type has none.
Result<StreamId> BeforeLastEntry(Keyspace& keys, const Key& key, bool again) {
  KeyEntry entry = TRY(keys.Find(key));
  if (entry.exists() && entry.type() != Type::kStream) {
    return again ? Result<StreamId>(StreamId{}) : Status::Reply(errors::kWrongType);
  }
  Stream stream(keys, key);
  TRY(stream.Open(std::move(entry)));
  if (stream.size() == 0) return StreamId{};
  return PreviousStreamId(TRY(stream.LastEntryId())).value_or(StreamId{});
}

// The ids after which to read, one for each stream; none for a missing stream with `$`. A client that is blocked with
// `+` gets the entry that is the last one when it wakes.
Result<std::vector<StreamId>> ReadIds(CommandContext& ctx, const Args& args, const ReadRequest& request, bool again) {
  Keyspace keys = ctx.keys();
  std::vector<StreamId> ids;
  for (size_t i = 0; i < request.streams; ++i) {
    const std::string_view text = request.IdText(args, i);
    const Key key = keys.Name(request.KeyName(args, i));
    if (text == "+") {
      ids.push_back(TRY(BeforeLastEntry(keys, key, again)));
      continue;
    }
    if (again) {
      ids.push_back(TRY(ReadStreamIdArgument(text)));
      continue;
    }
    Stream stream(keys, key);
    TRY(stream.Open());
    if (text == ">") return Status::Reply(kGreater);
    ids.push_back(text == "$" ? stream.state().last_id : TRY(ReadStreamIdArgument(text)));
    if (text == "$") {
      ctx.ReplaceWhenParked(request.first_key + request.streams + i, ids.back().ToString());
    }
  }
  return ids;
}

Status LockKeys(CommandContext& ctx, const Args& args, const ReadRequest& request) {
  std::vector<uint32_t> stripes;
  for (size_t i = 0; i < request.streams; ++i) {
    stripes.push_back(StripeOf(request.KeyName(args, i)));
  }
  return ctx.txn().Lock(stripes);
}

// XREAD [COUNT count] [MAXCOUNT maxcount] [MAXSIZE maxsize] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]
Status XRead(CommandContext& ctx, Args& args, Reply& reply) {
  const bool again = ctx.session().blocking.command != nullptr;
  ReadRequest request = TRY(ReadStreamOptions(ctx, args, /*as_group=*/false));
  const std::vector<StreamId> ids = TRY(ReadIds(ctx, args, request, again));
  Keyspace keys = ctx.keys();
  StreamsReply streams(reply, request);
  bool has_other_type = false;
  for (size_t i = 0; i < request.streams && streams.HasRoomInAll(); ++i) {
    const Key key = keys.Name(request.KeyName(args, i));
    KeyEntry entry = TRY(keys.Find(key));
    if (again && entry.exists() && entry.type() != Type::kStream) {
      has_other_type = true;
      continue;
    }
    Stream stream(keys, key);
    TRY(stream.Open(std::move(entry)));
    const auto from = NextStreamId(ids[i]);
    if (!from || stream.size() == 0 || stream.state().last_id <= ids[i]) continue;
    if (TRY(stream.LastEntryId()) <= ids[i]) continue;
    streams.Begin(request.KeyName(args, i));
    TRY(stream.ForEach(*from, kLastStreamId, /*reverse=*/false, [&](const StreamEntry& item) -> Result<bool> {
      ReplyStreamEntry(reply, item);
      streams.Added();
      return streams.HasRoom();
    }));
    streams.End();
  }
  // A blocked client gets WRONGTYPE only when another of its keys has entries.
  if (streams.Finish()) return has_other_type ? Status::Reply(errors::kWrongType) : Ok();
  if (!request.blocks) {
    reply.NullArray();
    return Ok();
  }
  TRY(LockKeys(ctx, args, request));
  return Status::MustBlock();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "xread", .arity = -4, .flags = kReadonly | kBlocking, .keys = {KeysAfterStreams(1)}, .run = XRead,
     .group = Group::kStream, .since = "5.0.0",
     .summary = "Returns the entries of streams after given ids; optionally blocks until there are some.",
     .complexity = "O(N) with N the number of entries returned",
     .syntax = "[COUNT count] [MAXCOUNT maxcount:integer] [MAXSIZE maxsize:integer] [BLOCK milliseconds] STREAMS key "
               "[key ...] id [id ...]", .find_keys = FindStreamKeys},
};
// clang-format on

}  // namespace

std::span<const CommandRow> StreamReadCommands() { return kRows; }

}  // namespace cairn
