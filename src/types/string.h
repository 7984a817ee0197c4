// SPDX-License-Identifier: BSD-3-Clause
//
// Strings: the value of a key that is just bytes.
//
// A text that is the canonical form of an int64 is stored as that integer (Encoding::kInteger, a
// zigzag varint); every other one as its bytes (Encoding::kRaw). Which of the two it is shows in
// OBJECT ENCODING only, where clients expect Redis's three names:
//
//   int     stored as an integer
//   embstr  bytes, 44 at most, written whole (SET and its kin, INCRBYFLOAT)
//   raw     longer bytes, and any that were edited in place (APPEND, SETRANGE): the header's
//   `grown` flag
//
// Commands that edit keep their result as bytes even when it looks like an integer, as Redis does;
// WriteBytes is for those that have all of it at hand, EditedString (types/edited_string.h) for
// those that touch a part, WriteText for all others.
//
// A large string that was edited in place lies in fragments (Encoding::kSpread, types/fragments.h).
// That is known here and in EditedString and nowhere else: whoever wants a string's bytes asks
// ReadText or ReadPart, and for nothing but their number TextSize.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// A string's bytes as a client sees them: where the row holds them, written out here for an
// integer, or put together from fragments. Valid as long as the entry it was read from.
class StringText {
 public:
  StringText() = default;  // the empty text, which is what a missing key reads as
  explicit StringText(std::string_view bytes) : bytes_(bytes) {}
  explicit StringText(int64_t integer);
  explicit StringText(std::string&& copy) : copy_(std::make_unique<std::string>(std::move(copy))), bytes_(*copy_) {}

  std::string_view view() const { return digits_ == 0 ? bytes_ : std::string_view(buffer_, digits_); }
  // Leaves `size` bytes from `offset` on, as many as there are.
  void Cut(uint64_t offset, uint64_t size);

 private:
  std::unique_ptr<std::string> copy_;  // of what has no row of its own
  std::string_view bytes_;
  uint8_t digits_ = 0;  // in buffer_; 0: the text is bytes_
  char buffer_[20] = {};
};

// The text of an entry; empty for a missing key. REQUIRES: `entry` is `key`'s last Find, a string or missing.
Result<StringText> ReadText(Keyspace& keys, const Key& key, const KeyEntry& entry);

// `size` bytes of it from `offset` on, as many as there are. Costs what it returns.
Result<StringText> ReadPart(Keyspace& keys, const Key& key, const KeyEntry& entry, uint64_t offset, uint64_t size);

// How many bytes the text has. REQUIRES: the entry is a string or missing.
Result<uint64_t> TextSize(const KeyEntry& entry);

// The integer a string holds, 0 for a missing key; kNotAnInteger when the text is none.
Result<int64_t> ReadInteger(const KeyEntry& entry);

// Stores a value written whole, as an integer when it is one.
Status WriteText(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view text, int64_t expire_ms);
Status WriteInteger(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t value, int64_t expire_ms);

// How a value came to be bytes: written whole, or by editing what was there.
enum class Origin : unsigned char { kWhole, kEdited };
// Stores bytes as bytes, whatever they look like.
Status WriteBytes(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view bytes, int64_t expire_ms,
                  Origin origin);

// OBJECT ENCODING's name. REQUIRES: the entry is a string.
std::string_view StringEncodingName(const KeyEntry& entry);

}  // namespace cairn
