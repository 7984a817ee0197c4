// SPDX-License-Identifier: BSD-3-Clause
#include "types/string.h"

#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "base/number.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
constexpr size_t kEmbeddedBytes = 44;  // Redis's embstr ends here
constexpr size_t kIntegerDigits = 20;  // of int64, with the sign

// A varint's bytes without an allocation.
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
    return Status::Corruption("string: the integer is no single varint");
  }
  return UnZigZag(zigzag);
}

bool MayBeInteger(std::string_view text) {
  return !text.empty() && text.size() <= kIntegerDigits && text[0] <= '9';
}

}  // namespace

StringText::StringText(int64_t integer) {
  const auto result = std::to_chars(buffer_, buffer_ + sizeof buffer_, integer);
  digits_ = static_cast<uint8_t>(result.ptr - buffer_);
}

Result<StringText> ReadText(const KeyEntry& entry) {
  if (!entry.exists()) return StringText();
  ASSERT(entry.type() == Type::kString, "only a string has a text");
  if (entry.encoding() == Encoding::kInteger)
    return StringText(TRY(DecodeInteger(entry.payload())));
  return StringText(entry.payload());
}

Result<int64_t> ReadInteger(const KeyEntry& entry) {
  if (!entry.exists()) return int64_t{0};
  if (entry.encoding() == Encoding::kInteger) return DecodeInteger(entry.payload());
  const auto value = ParseInt64(entry.payload());
  if (!value) return Status::Reply(kNotAnInteger);
  return *value;
}

Status WriteText(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view text,
                 int64_t expire_ms) {
  if (MayBeInteger(text)) {
    if (const auto value = ParseInt64(text))
      return WriteInteger(keys, key, entry, *value, expire_ms);
  }
  return WriteBytes(keys, key, entry, text, expire_ms, Origin::kWhole);
}

Status WriteInteger(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t value,
                    int64_t expire_ms) {
  const RecordHeader header = {
      .type = Type::kString, .encoding = Encoding::kInteger, .expire_ms = expire_ms};
  return keys.Write(key, entry, header, VarintBytes(ZigZag(value)).view());
}

Status WriteBytes(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view bytes,
                  int64_t expire_ms, Origin origin) {
  const RecordHeader header = {.type = Type::kString,
                               .encoding = Encoding::kRaw,
                               .grown = origin == Origin::kEdited,
                               .expire_ms = expire_ms};
  return keys.Write(key, entry, header, bytes);
}

std::string_view StringEncodingName(const KeyEntry& entry) {
  if (entry.encoding() == Encoding::kInteger) return "int";
  return entry.grown() || entry.payload().size() > kEmbeddedBytes ? "raw" : "embstr";
}

}  // namespace cairn
