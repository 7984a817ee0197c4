// SPDX-License-Identifier: BSD-3-Clause
//
// Bitmaps: strings as arrays of bits, the most significant bit of a byte first.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "base/number.h"
#include "command/args.h"
#include "command/context.h"
#include "command/families.h"
#include "types/edited_string.h"
#include "types/string.h"

namespace cairn {
namespace {

constexpr std::string_view kBadOffset = "ERR bit offset is not an integer or out of range";
constexpr std::string_view kBadBit = "ERR bit is not an integer or out of range";

// A bit offset within the largest string that proto-max-bulk-len allows.
uint64_t BitOffset(CommandContext& ctx, Args& args) {
  const int64_t limit = ctx.limits().proto_max_bulk_len.load(std::memory_order_relaxed);
  const auto offset = ParseInt64(args.Bytes());
  if (!offset || *offset < 0 || *offset >> 3 >= limit) {
    args.Fail(kBadOffset);
    return 0;
  }
  return static_cast<uint64_t>(*offset);
}

bool BitAt(std::string_view bytes, uint64_t offset) {
  const uint64_t byte = offset >> 3;
  return byte < bytes.size() && (static_cast<uint8_t>(bytes[byte]) >> (7 - (offset & 7)) & 1);
}

// SETBIT key offset value
Status SetBit(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const uint64_t offset = BitOffset(ctx, args);
  const int64_t bit = args.IntegerIn(0, 1, kBadBit);
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  EditedString text = TRY(EditedString::Open(keys, key, entry));
  std::string byte = TRY(text.Read(offset >> 3, 1));
  const bool grows = byte.empty();
  const bool was = BitAt(byte, offset & 7);
  reply.Integer(was);
  if (!grows && was == (bit != 0)) return Ok();  // unchanged for WATCH and the count of changes
  if (grows) byte.assign(1, '\0');
  const auto mask = static_cast<char>(0x80 >> (offset & 7));
  byte[0] = static_cast<char>(bit ? byte[0] | mask : byte[0] & ~mask);
  TRY(text.Write(offset >> 3, byte));
  TRY(text.Save());
  ctx.Changed(kStringEvent, "setbit", key.bytes());
  return Ok();
}

// GETBIT key offset
Status GetBit(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const uint64_t offset = BitOffset(ctx, args);
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  reply.Integer(BitAt(TRY(ReadPart(keys, key, entry, offset >> 3, 1)).view(), offset & 7));
  return Ok();
}

// [start end [BYTE | BIT]] of BITCOUNT and BITPOS, as bits of a string of `size` bytes.
struct BitRange {
  int64_t start = 0;
  int64_t end = -1;
  bool in_bits = false;
  bool has_end = false;

  // Counts negative positions from the end and clips the range to the string. Returns false if it is empty.
  bool Settle(uint64_t size_bytes) {
    const int64_t size = static_cast<int64_t>(size_bytes) * (in_bits ? 8 : 1);
    if (start < 0) start = std::max<int64_t>(start + size, 0);
    if (end < 0) end = std::max<int64_t>(end + size, 0);
    end = std::min(end, size - 1);
    if (start > end) return false;
    if (!in_bits) {
      start *= 8;
      end = end * 8 + 7;
    }
    return true;
  }
};

bool IsUnit(std::string_view word) { return EqualsIgnoreCase(word, "BIT") || EqualsIgnoreCase(word, "BYTE"); }

void ReadUnit(Args& args, BitRange& range) {
  if (!args.More()) return;
  if (args.Keyword("BIT")) {
    range.in_bits = true;
  } else if (!args.Keyword("BYTE")) {
    args.Fail(errors::kSyntax);
  }
}

// Reads a string from its start in pieces. So an early match costs little, and a string of hundreds of megabytes need
// not be in memory to count its bits.
class BitPieces {
 public:
  BitPieces(Keyspace& keys, const Key& key, const KeyEntry& entry, const BitRange& range)
      : keys_(keys), key_(key), entry_(entry), next_(range.start), last_(range.end) {}

  bool Any() const { return next_ <= last_; }
  // Reads the next piece. REQUIRES: Any()
  Status Read();
  // The piece's bytes, and which of their bits are in the range.
  std::string_view bytes() const { return text_.view(); }
  int64_t start() const { return start_; }
  int64_t end() const { return end_; }
  // The position in the string of the first bit of bytes().
  int64_t base() const { return base_; }

 private:
  static constexpr int64_t kFirstPieceBits = 8 * (8 << 10);
  static constexpr int64_t kMostPieceBits = 8 * (1 << 20);

  Keyspace& keys_;
  const Key& key_;
  const KeyEntry& entry_;
  int64_t next_;
  int64_t last_;
  int64_t piece_bits_ = kFirstPieceBits;
  StringText text_;
  int64_t base_ = 0;
  int64_t start_ = 0;
  int64_t end_ = -1;
};

Status BitPieces::Read() {
  base_ = next_ & ~int64_t{7};
  start_ = next_ - base_;
  end_ = std::min(last_ - base_, piece_bits_ - 1);
  next_ = base_ + end_ + 1;
  piece_bits_ = std::min(2 * piece_bits_, kMostPieceBits);
  const auto size = static_cast<uint64_t>((end_ >> 3) + 1);
  TRY(SpendOnText(keys_, entry_, size));
  text_ = TRY(ReadPart(keys_, key_, entry_, static_cast<uint64_t>(base_ >> 3), size));
  return Ok();
}

uint64_t CountBits(std::string_view bytes, int64_t start, int64_t end) {
  uint64_t count = 0;
  int64_t at = start;
  for (; at <= end && (at & 7); ++at) count += BitAt(bytes, static_cast<uint64_t>(at));
  for (; at + 63 <= end; at += 64) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + (at >> 3), sizeof word);
    count += static_cast<uint64_t>(std::popcount(word));
  }
  for (; at <= end; ++at) count += BitAt(bytes, static_cast<uint64_t>(at));
  return count;
}

// BITCOUNT key [start end [BYTE | BIT]]
Status BitCount(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  BitRange range;
  if (args.More()) {
    range.start = args.Integer();
    range.end = args.Integer();
    ReadUnit(args, range);
  }
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  // If both ends are negative and reversed, the count is 0, before either is clipped to the string. BITPOS does not
  // check this.
  const bool turned = range.start < 0 && range.end < 0 && range.start > range.end;
  uint64_t count = 0;
  if (!turned && range.Settle(TRY(TextSize(entry)))) {
    for (BitPieces pieces(keys, key, entry, range); pieces.Any();) {
      TRY(pieces.Read());
      count += CountBits(pieces.bytes(), pieces.start(), pieces.end());
    }
  }
  reply.Integer(static_cast<int64_t>(count));
  return Ok();
}

// The first bit with this value in [start, end], or -1.
int64_t FindBit(std::string_view bytes, bool bit, int64_t start, int64_t end) {
  const uint8_t skip = bit ? 0x00 : 0xff;
  for (int64_t at = start; at <= end;) {
    if ((at & 7) == 0 && at + 7 <= end && static_cast<uint8_t>(bytes[static_cast<size_t>(at >> 3)]) == skip) {
      at += 8;
      continue;
    }
    if (BitAt(bytes, static_cast<uint64_t>(at)) == bit) return at;
    ++at;
  }
  return -1;
}

// BITPOS key bit [start [end [BYTE | BIT]]]
Status BitPos(CommandContext& ctx, Args& args, Reply& reply) {
  Keyspace keys = ctx.keys();
  const Key key = keys.Name(args.Bytes());
  const int64_t bit = args.Integer();
  TRY(args.Check());
  if (bit != 0 && bit != 1) return Status::Reply("ERR The bit argument must be 1 or 0.");
  BitRange range;
  if (args.left() > 3) return Status::Reply(errors::kSyntax);
  if (args.More()) range.start = args.Integer();
  // Redis rejects an unknown unit before an end that is not a number.
  if (args.left() == 2 && !IsUnit(args[args.position() + 1])) args.Fail(errors::kSyntax);
  if (args.More()) {
    range.end = args.Integer();
    range.has_end = true;
    ReadUnit(args, range);
  }
  TRY(args.Done());
  const KeyEntry entry = TRY(keys.FindTyped(key, Type::kString));
  if (!entry.exists()) {
    reply.Integer(bit ? -1 : 0);
    return Ok();
  }
  const uint64_t size = TRY(TextSize(entry));
  if (!range.Settle(size)) {
    reply.Integer(-1);
    return Ok();
  }
  int64_t found = -1;
  for (BitPieces pieces(keys, key, entry, range); found < 0 && pieces.Any();) {
    TRY(pieces.Read());
    found = FindBit(pieces.bytes(), bit == 1, pieces.start(), pieces.end());
    if (found >= 0) found += pieces.base();
  }
  // Without an end, the string is taken as followed by zeros.
  if (found < 0 && bit == 0 && !range.has_end) found = static_cast<int64_t>(size) * 8;
  reply.Integer(found);
  return Ok();
}

enum class BitOperation : unsigned char { kAnd, kOr, kXor, kNot };

std::optional<BitOperation> ParseOperation(std::string_view word) {
  if (EqualsIgnoreCase(word, "AND")) return BitOperation::kAnd;
  if (EqualsIgnoreCase(word, "OR")) return BitOperation::kOr;
  if (EqualsIgnoreCase(word, "XOR")) return BitOperation::kXor;
  if (EqualsIgnoreCase(word, "NOT")) return BitOperation::kNot;
  return std::nullopt;
}

// Combines `next` into `into`; the shorter string is padded with zeros.
void Combine(BitOperation operation, std::string& into, std::string_view next) {
  if (into.size() < next.size()) into.resize(next.size());
  for (size_t i = 0; i < into.size(); ++i) {
    const char other = i < next.size() ? next[i] : '\0';
    switch (operation) {
      case BitOperation::kAnd: into[i] = static_cast<char>(into[i] & other); break;
      case BitOperation::kOr: into[i] = static_cast<char>(into[i] | other); break;
      default: into[i] = static_cast<char>(into[i] ^ other); break;
    }
  }
}

// BITOP AND | OR | XOR | NOT destkey key [key ...]
Status BitOp(CommandContext& ctx, Args& args, Reply& reply) {
  const auto operation = ParseOperation(args.Bytes());
  if (!operation) return Status::Reply(errors::kSyntax);
  Keyspace keys = ctx.keys();
  const Key target = keys.Name(args.Bytes());
  if (*operation == BitOperation::kNot && args.left() != 1) {
    return Status::Reply("ERR BITOP NOT must be called with a single source key.");
  }
  std::string result;
  keys.EmitMisses(true);
  for (bool first = true; args.More(); first = false) {
    const Key source = keys.Name(args.Bytes());
    const KeyEntry entry = TRY(keys.FindTyped(source, Type::kString));
    const uint64_t most = std::max<uint64_t>(result.size(), TRY(TextSize(entry)));
    CommandMemory& memory = ctx.txn().command().memory();
    if (most > memory.left()) memory.Use(most);  // the write of the result would be refused
    TRY(ctx.txn().command().Spend(most / kTextBytesPerStep));
    const StringText text = TRY(ReadText(keys, source, entry));
    if (first) {
      result = text.view();
    } else {
      Combine(*operation, result, text.view());
    }
  }
  if (*operation == BitOperation::kNot) {
    for (char& byte : result) byte = static_cast<char>(~byte);
  }
  keys.EmitMisses(false);
  const KeyEntry old = TRY(keys.Find(target, Access::kPeek));
  if (!result.empty()) {
    TRY(WriteBytes(keys, target, old, result, kNoExpiry, Origin::kEdited));
    ctx.Changed(kStringEvent, "set", target.bytes());
  } else if (old.exists()) {
    TRY(keys.Remove(target, old));
    ctx.Changed(kGenericEvent, "del", target.bytes());
  }
  reply.Integer(static_cast<int64_t>(result.size()));
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "setbit", .arity = 4, .flags = kWrite | kDenyOom, .keys = {OneKey(kRW | kAccess | kUpdate)}, .run = SetBit,
     .group = Group::kBitmap, .since = "2.2.0", .summary = "Sets or clears a bit and returns its old value.",
     .complexity = "O(1)", .syntax = "key offset value"},
    {.name = "getbit", .arity = 3, .flags = kReadonly | kFast, .keys = {OneKey(kRO | kAccess)}, .run = GetBit,
     .group = Group::kBitmap, .since = "2.2.0", .summary = "Returns the value of a bit.", .complexity = "O(1)",
     .syntax = "key offset"},
    {.name = "bitcount", .arity = -2, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = BitCount,
     .group = Group::kBitmap, .since = "2.6.0", .summary = "Counts the bits that are set.", .complexity = "O(n)",
     .syntax = "key [start end [BYTE | BIT]]"},
    {.name = "bitpos", .arity = -3, .flags = kReadonly, .keys = {OneKey(kRO | kAccess)}, .run = BitPos,
     .group = Group::kBitmap, .since = "2.8.7",
     .summary = "Returns the position of the first bit that is set or clear.", .complexity = "O(n)",
     .syntax = "key bit [start [end [BYTE | BIT]]]"},
    {.name = "bitop", .arity = -4, .flags = kWrite | kDenyOom,
     .keys = {OneKey(kOW | kUpdate, 2), KeysToEnd(kRO | kAccess, 3)}, .run = BitOp, .group = Group::kBitmap,
     .since = "2.6.0", .summary = "Combines strings bit by bit and stores the result.", .complexity = "O(n)",
     .syntax = "<AND | OR | XOR | NOT> destkey key [key ...]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> BitmapCommands() { return kRows; }

}  // namespace cairn
