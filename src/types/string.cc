// SPDX-License-Identifier: BSD-3-Clause
#include "types/string.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "base/number.h"
#include "encoding/varint.h"
#include "types/fragments.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
constexpr size_t kEmbeddedBytes = 44;  // the maximum of Redis's embstr
constexpr size_t kIntegerDigits = 20;  // of int64, with the sign

// Encodes a varint without an allocation.
class VarintBytes {
 public:
  explicit VarintBytes(uint64_t value) { AppendVarint(*this, value); }
  void append(const char* bytes, size_t size) {
    std::memcpy(bytes_, bytes, size);
    size_ = size;
  }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  char bytes_[10];
  size_t size_ = 0;
};

Result<int64_t> DecodeInteger(std::string_view payload) {
  uint64_t zigzag;
  if (!ReadVarint(payload, zigzag) || !payload.empty()) {
    return Status::Corruption("string: the integer is not a single varint");
  }
  return UnZigZag(zigzag);
}

bool MayBeInteger(std::string_view text) { return !text.empty() && text.size() <= kIntegerDigits && text[0] <= '9'; }

}  // namespace

StringText::StringText(int64_t integer) {
  const auto result = std::to_chars(buffer_, buffer_ + sizeof buffer_, integer);
  digits_ = static_cast<uint8_t>(result.ptr - buffer_);
}

void StringText::Cut(uint64_t offset, uint64_t size) {
  const std::string_view left = view().substr(std::min<uint64_t>(offset, view().size()), size);
  if (digits_ == 0) {
    bytes_ = left;
    return;
  }
  std::memmove(buffer_, left.data(), left.size());
  digits_ = static_cast<uint8_t>(left.size());
}

Result<StringText> ReadText(Keyspace& keys, const Key& key, const KeyEntry& entry) {
  return ReadPart(keys, key, entry, 0, UINT64_MAX);
}

Result<StringText> ReadPart(Keyspace& keys, const Key& key, const KeyEntry& entry, uint64_t offset, uint64_t size) {
  if (!entry.exists()) return StringText();
  ASSERT(entry.type() == Type::kString, "only a string has a text");
  if (entry.encoding() == Encoding::kSpread) {
    const auto fragments = TRY(Fragments::Open(keys.txn(), key.stripe(), entry.payload()));
    offset = std::min(offset, fragments.length());
    std::string bytes;
    TRY(fragments.Read(offset, std::min(size, fragments.length() - offset), bytes));
    return StringText(std::move(bytes));
  }
  if (entry.encoding() != Encoding::kInteger) {
    const std::string_view bytes = entry.payload();
    return StringText(bytes.substr(std::min<uint64_t>(offset, bytes.size()), size));
  }
  StringText digits(TRY(DecodeInteger(entry.payload())));
  digits.Cut(offset, size);
  return digits;
}

Result<StringText> ReadNumberText(Keyspace& keys, const Key& key, const KeyEntry& entry) {
  return ReadPart(keys, key, entry, 0, kMaxNumberText);
}

Status SpendOnText(Keyspace& keys, const KeyEntry& entry, uint64_t size) {
  const bool charges_itself = entry.exists() && entry.encoding() == Encoding::kSpread;
  return charges_itself ? Ok() : keys.txn().command().Spend(size / kTextBytesPerStep);
}

Result<uint64_t> TextSize(const KeyEntry& entry) {
  if (!entry.exists()) return uint64_t{0};
  ASSERT(entry.type() == Type::kString, "only a string has a text");
  if (entry.encoding() == Encoding::kSpread) return Fragments::LengthIn(entry.payload());
  if (entry.encoding() == Encoding::kInteger) {
    return StringText(TRY(DecodeInteger(entry.payload()))).view().size();
  }
  return entry.payload().size();
}

Result<int64_t> ReadInteger(const KeyEntry& entry) {
  if (!entry.exists()) return int64_t{0};
  if (entry.encoding() == Encoding::kInteger) return DecodeInteger(entry.payload());
  if (entry.encoding() == Encoding::kSpread) return Status::Reply(kNotAnInteger);  // it is too long for one
  const auto value = ParseInt64(entry.payload());
  if (!value) return Status::Reply(kNotAnInteger);
  return *value;
}

Status WriteText(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view text, int64_t expire_ms) {
  if (MayBeInteger(text)) {
    if (const auto value = ParseInt64(text)) return WriteInteger(keys, key, entry, *value, expire_ms);
  }
  return WriteBytes(keys, key, entry, text, expire_ms, Origin::kWhole);
}

Status WriteInteger(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t value, int64_t expire_ms) {
  const RecordHeader header = {.type = Type::kString, .encoding = Encoding::kInteger, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, VarintBytes(ZigZag(value)).view());
}

Status WriteBytes(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view bytes, int64_t expire_ms,
                  Origin origin) {
  const RecordHeader header = {
      .type = Type::kString, .encoding = Encoding::kRaw, .grown = origin == Origin::kEdited, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, bytes);
}

std::string_view StringEncodingName(const KeyEntry& entry) {
  if (entry.encoding() == Encoding::kInteger) return "int";
  if (entry.encoding() == Encoding::kSpread) return "raw";
  return entry.grown() || entry.payload().size() > kEmbeddedBytes ? "raw" : "embstr";
}

}  // namespace cairn
