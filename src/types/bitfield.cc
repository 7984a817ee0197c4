// SPDX-License-Identifier: BSD-3-Clause
#include "types/bitfield.h"

#include "base/number.h"

namespace cairn {
namespace {

__extension__ using Wide = __int128;
__extension__ using WideBits = unsigned __int128;

constexpr uint64_t kWideBytes = 9;  // 64 bits that are not byte-aligned touch nine bytes

uint64_t LowBits(unsigned bits) { return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1; }

// The lower bits of `raw` as a number of this type.
int64_t Interpret(FieldType type, uint64_t raw) {
  raw &= LowBits(type.bits);
  const bool negative = type.is_signed && (raw >> (type.bits - 1) & 1);
  return static_cast<int64_t>(negative ? raw | ~LowBits(type.bits) : raw);
}

// The bits of the nine bytes that start at `first`; bytes beyond the end are zeros.
WideBits Window(std::string_view bytes, uint64_t first) {
  WideBits window = 0;
  for (uint64_t i = 0; i < kWideBytes; ++i) {
    const bool there = first + i < bytes.size();
    window = window << 8 | (there ? static_cast<uint8_t>(bytes[first + i]) : 0);
  }
  return window;
}

// The distance of a field's last bit from the end of the window.
unsigned ShiftOf(uint64_t offset, FieldType type) {
  return static_cast<unsigned>(kWideBytes * 8 - (offset & 7) - type.bits);
}

}  // namespace

std::optional<FieldType> ParseFieldType(std::string_view text) {
  if (text.empty() || (text[0] != 'i' && text[0] != 'u')) return std::nullopt;
  const bool is_signed = text[0] == 'i';
  const auto bits = ParseInt64(text.substr(1));
  if (!bits || *bits < 1 || *bits > (is_signed ? 64 : 63)) return std::nullopt;
  return FieldType{is_signed, static_cast<unsigned>(*bits)};
}

std::optional<int64_t> FitField(FieldType type, int64_t value, int64_t increment, Overflow overflow) {
  const Wide from = type.is_signed ? Wide{value} : Wide{static_cast<uint64_t>(value)};
  const Wide highest = LowBits(type.is_signed ? type.bits - 1 : type.bits);
  const Wide lowest = type.is_signed ? -highest - 1 : Wide{0};
  const Wide sum = from + increment;
  const bool above = from > highest || sum > highest;
  const bool below = !above && sum < lowest;
  if (!above && !below) return static_cast<int64_t>(sum);
  switch (overflow) {
    case Overflow::kWrap: return Interpret(type, static_cast<uint64_t>(sum));
    case Overflow::kSaturate: return static_cast<int64_t>(above ? highest : lowest);
    case Overflow::kFail: break;
  }
  return std::nullopt;
}

int64_t ReadField(std::string_view bytes, uint64_t offset, FieldType type) {
  const WideBits window = Window(bytes, offset >> 3);
  return Interpret(type, static_cast<uint64_t>(window >> ShiftOf(offset, type)));
}

void WriteField(std::string& bytes, uint64_t offset, FieldType type, int64_t value) {
  const uint64_t first = offset >> 3;
  const unsigned shift = ShiftOf(offset, type);
  const WideBits mask = static_cast<WideBits>(LowBits(type.bits)) << shift;
  const WideBits wanted = static_cast<WideBits>(static_cast<uint64_t>(value)) << shift;
  const WideBits window = (Window(bytes, first) & ~mask) | (wanted & mask);
  const uint64_t past = (offset + type.bits + 7) >> 3;
  for (uint64_t at = first; at < past; ++at) {
    const auto right = static_cast<unsigned>((kWideBytes - 1 - (at - first)) * 8);
    bytes[at] = static_cast<char>(window >> right);
  }
}

}  // namespace cairn
