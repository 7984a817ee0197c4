// SPDX-License-Identifier: BSD-3-Clause
//
// Strings: values that are plain bytes.
//
// A text that is the canonical form of an int64 is stored as that integer (Encoding::kInteger, a zigzag varint), any
// other text as its bytes (Encoding::kRaw). Only OBJECT ENCODING shows the difference, with Redis's three names:
//
//   int     stored as an integer
//   embstr  bytes, 44 at most, written whole (SET and variants, INCRBYFLOAT)
//   raw     longer bytes, and any that were edited in place (APPEND, SETRANGE); header flag `grown`
//
// Commands that edit a string keep the result as bytes even if it looks like an integer, as Redis does. WriteBytes is
// for commands that have the whole result, EditedString (types/edited_string.h) for commands that change a part,
// WriteText for all others.
//
// A large string that was edited in place is stored in fragments (Encoding::kSpread, types/fragments.h). Only this file
// and EditedString know them: other code reads a string's bytes with ReadText or ReadPart, and its length with
// TextSize.
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// A string's bytes as a client sees them: a view into the row, the digits of an integer, or a copy put together from
// fragments. Valid as long as the entry it was read from.
class StringText {
 public:
  StringText() = default;  // the empty text, the value of a missing key
  explicit StringText(std::string_view bytes) : bytes_(bytes) {}
  explicit StringText(int64_t integer);
  explicit StringText(std::string&& copy) : copy_(std::make_unique<std::string>(std::move(copy))), bytes_(*copy_) {}

  std::string_view view() const { return digits_ == 0 ? bytes_ : std::string_view(buffer_, digits_); }
  // Keeps only up to `size` bytes from `offset` on.
  void Cut(uint64_t offset, uint64_t size);

 private:
  std::unique_ptr<std::string> copy_;  // of a text that is in no single row
  std::string_view bytes_;
  uint8_t digits_ = 0;  // used in buffer_; 0: the text is bytes_
  char buffer_[20] = {};
};

// Returns the text of an entry; empty for a missing key. REQUIRES: `entry` is `key`'s last Find, a string or missing.
Result<StringText> ReadText(Keyspace& keys, const Key& key, const KeyEntry& entry);

// Returns up to `size` bytes of the text from `offset` on. The cost depends only on the size of the result.
Result<StringText> ReadPart(Keyspace& keys, const Key& key, const KeyEntry& entry, uint64_t offset, uint64_t size);

// Returns the text for a parser of numbers. Of a text that is too long for a number it returns only the first bytes,
// which no parser accepts.
Result<StringText> ReadNumberText(Keyspace& keys, const Key& key, const KeyEntry& entry);

// The bytes of a text that a pass reads in one step of the work budget.
inline constexpr uint64_t kTextBytesPerStep = 512;

// Charges the work budget for a pass over `size` bytes of the text, before they are read. Reads of fragments charge it
// themselves. REQUIRES: the entry is a string or missing.
Status SpendOnText(Keyspace& keys, const KeyEntry& entry, uint64_t size);

// Returns the length of the text in bytes. REQUIRES: the entry is a string or missing.
Result<uint64_t> TextSize(const KeyEntry& entry);

// Returns the integer that a string holds, 0 for a missing key; kNotAnInteger if the text is not an integer.
Result<int64_t> ReadInteger(const KeyEntry& entry);

// Stores a complete value, as an integer if it is one.
Status WriteText(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view text, int64_t expire_ms);
Status WriteInteger(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t value, int64_t expire_ms);

// Whether a value's bytes were written whole, or by an edit of the previous value.
enum class Origin : unsigned char { kWhole, kEdited };
// Stores bytes as bytes, even if they look like an integer.
Status WriteBytes(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view bytes, int64_t expire_ms,
                  Origin origin);

// The name that OBJECT ENCODING returns. REQUIRES: the entry is a string.
std::string_view StringEncodingName(const KeyEntry& entry);

}  // namespace cairn
