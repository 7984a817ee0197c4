// SPDX-License-Identifier: BSD-3-Clause
//
// MoveMany walks the moved items in the order in which they are pushed and pushes them in batches, so it needs no
// memory for them beyond the reply and the transaction's own writes. Only a part of one list that is reversed in place
// is collected first.
//
// Replicas of Redis 7.0 have no LMOVEM, so a move is replicated as pushes and one pop.
#include "command/list_move_many.h"

#include <algorithm>
#include <string>
#include <vector>

#include "command/list_move.h"
#include "types/list.h"

namespace cairn {
namespace {

constexpr size_t kBatchItems = 1024;
constexpr size_t kBatchBytes = size_t{64} * 1024;

std::string_view Side(ListEnd end) { return end == ListEnd::kHead ? "LEFT" : "RIGHT"; }

// Collects items in the order in which they are pushed, and pushes and replicates them in batches.
class BatchedPush {
 public:
  BatchedPush(CommandContext& ctx, List& list, const MoveManyArgs& move, bool replicates)
      : ctx_(ctx), list_(list), move_(move), replicates_(replicates) {}

  void Add(const Item& item) {
    batch_.Add(item);
    if (replicates_) texts_.push_back(item.ToString());
  }
  bool is_full() const { return batch_.count() >= kBatchItems || batch_.size_bytes() >= kBatchBytes; }

  Status Flush() {
    if (batch_.count() == 0) return Ok();
    TRY(list_.Push(move_.to, batch_));
    batch_ = EncodedItems();
    if (!replicates_) return Ok();
    std::vector<std::string_view> words{move_.to == ListEnd::kHead ? "LPUSH" : "RPUSH", move_.destination};
    words.insert(words.end(), texts_.begin(), texts_.end());
    ctx_.Replicate(words);
    texts_.clear();
    return Ok();
  }

 private:
  CommandContext& ctx_;
  List& list_;
  const MoveManyArgs& move_;
  const bool replicates_;
  EncodedItems batch_;
  std::vector<std::string> texts_;
};

// One run of MoveMany: `n` items, all at the end `from` of the source.
struct Move {
  CommandContext& ctx;
  const MoveManyArgs& args;
  List& source;
  const uint64_t n;
  // Items are replicated one by one with LMOVE if there is one only.
  const bool replicates = ctx.is_replicated() && n > 1;

  bool has_same_end() const { return args.from == args.to; }
  uint64_t start() const { return args.from == ListEnd::kHead ? 0 : source.size() - n; }
  // Whether the source's last item is pushed first.
  bool pushes_in_reverse() const { return (args.from == ListEnd::kTail) != (args.is_bulk && has_same_end()); }
  // Whether the moved items end up in the reverse order.
  bool reverses() const { return pushes_in_reverse() != (args.to == ListEnd::kHead); }

  void ReplicatePop() const {
    if (replicates) ctx.Replicate({args.from == ListEnd::kHead ? "LPOP" : "RPOP", args.source, std::to_string(n)});
  }
};

// Moves the items to another list.
Status MoveAcross(const Move& move, List& destination) {
  BatchedPush push(move.ctx, destination, move.args, move.replicates);
  Status failed;
  const auto visit = [&push, &failed](const Item& item) {
    if (!failed.ok()) return;
    push.Add(item);
    if (push.is_full()) failed = push.Flush();
  };
  TRY(move.source.ForEach(move.start(), move.n, visit, move.pushes_in_reverse()));
  TRY(std::move(failed));
  TRY(push.Flush());
  TRY(move.source.Pop(move.args.from, move.n, [](const Item&) {}));
  move.ReplicatePop();
  return Ok();
}

// Moves the items to the other end of their list. REQUIRES: these are not all items.
Status Rotate(const Move& move) {
  BatchedPush push(move.ctx, move.source, move.args, move.replicates);
  for (uint64_t left = move.n; left > 0;) {
    const uint64_t popped = std::min<uint64_t>(left, kBatchItems);
    TRY(move.source.Pop(move.args.from, popped, [&push](const Item& item) { push.Add(item); }));
    TRY(push.Flush());
    left -= popped;
  }
  move.ReplicatePop();
  return Ok();
}

// Reverses the items at their end of the list. If these are all items, replicas push them before they remove the old
// ones, because an empty list would lose its expiry.
Status ReverseInPlace(const Move& move) {
  const bool is_all = move.n == move.source.size();
  BatchedPush push(move.ctx, move.source, move.args, move.replicates);
  TRY(move.source.Pop(move.args.from, move.n, [&push](const Item& item) { push.Add(item); }));
  if (!is_all) move.ReplicatePop();
  TRY(push.Flush());
  if (!is_all || !move.replicates) return Ok();
  const std::string last = std::to_string(move.n - 1);
  const std::string from_tail = "-" + std::to_string(move.n);
  const bool at_head = move.args.to == ListEnd::kHead;
  move.ctx.Replicate({"LTRIM", move.args.source, at_head ? "0" : from_tail, at_head ? last : "-1"});
  return Ok();
}

Status MoveWithin(const Move& move) {
  if (move.reverses()) return ReverseInPlace(move);
  if (!move.has_same_end() && move.n < move.source.size()) return Rotate(move);
  if (move.replicates) move.ctx.ReplicateNothing();  // every item is back in its place
  return Ok();
}

}  // namespace

MoveManyArgs ReadMoveManyKeys(Args& args) {
  MoveManyArgs move;
  move.source = args.Bytes();
  move.destination = args.Bytes();
  move.from = ReadListEnd(args);
  move.to = ReadListEnd(args);
  return move;
}

Status ReadMoveManyCount(Args& args, MoveManyArgs& move) {
  if (!args.More()) return args.Done();
  if (args.left() != 3) args.Fail(errors::kSyntax);
  move.is_exact = args.Keyword("EXACTLY");
  if (!move.is_exact && !args.Keyword("COUNT")) args.Fail(errors::kSyntax);
  move.count = static_cast<uint64_t>(args.IntegerIn(1, INT64_MAX, "ERR count should be greater than 0"));
  move.is_bulk = args.Keyword("BULK");
  if (!move.is_bulk && !args.Keyword("OBO")) args.Fail(errors::kSyntax);
  return args.Done();
}

Result<bool> MoveMany(CommandContext& ctx, const MoveManyArgs& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key source_key = keys.Name(args.source);
  List source(keys, source_key);
  TRY(source.Open());
  if (source.size() < (args.is_exact ? args.count : 1)) return false;
  const Key destination_key = keys.Name(args.destination);
  List destination(keys, destination_key);
  TRY(destination.Open());

  const Move move{ctx, args, source, std::min(args.count, source.size())};
  reply.Array(move.n);
  TRY(source.ForEach(
      move.start(), move.n, [&reply](const Item& item) { ReplyItem(reply, item); }, move.reverses()));
  const bool is_within = args.source == args.destination;
  TRY(is_within ? MoveWithin(move) : MoveAcross(move, destination));
  if (!move.replicates) ctx.Replicate({"LMOVE", args.source, args.destination, Side(args.from), Side(args.to)});
  const bool is_empty = source.size() == 0;
  TRY(source.Save());
  if (!is_within) TRY(destination.Save());
  ctx.Emit(kListEvent, PushEvent(args.to), args.destination);
  ctx.Shrunk(kListEvent, PopEvent(args.from), args.source, move.n, is_empty);
  return true;
}

}  // namespace cairn
