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
// WriteBytes is for them, WriteText for all others.
//
// Thread: the transaction's.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "types/keyspace.h"

namespace cairn {

// A string's bytes as a client sees them: where the row holds them, or written out here for an
// integer. Valid as long as the entry it was read from.
class StringText {
 public:
  StringText() = default;  // the empty text, which is what a missing key reads as
  explicit StringText(std::string_view bytes) : bytes_(bytes) {}
  explicit StringText(int64_t integer);

  std::string_view view() const {
    return digits_ == 0 ? bytes_ : std::string_view(buffer_, digits_);
  }

 private:
  std::string_view bytes_;
  uint8_t digits_ = 0;  // in buffer_; 0: the text is bytes_
  char buffer_[20];
};

// The text of an entry; empty for a missing key. REQUIRES: it is a string or missing.
Result<StringText> ReadText(const KeyEntry& entry);

// The integer a string holds, 0 for a missing key; kNotAnInteger when the text is none.
Result<int64_t> ReadInteger(const KeyEntry& entry);

// Stores a value written whole, as an integer when it is one.
Status WriteText(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view text,
                 int64_t expire_ms);
Status WriteInteger(Keyspace& keys, const Key& key, const KeyEntry& entry, int64_t value,
                    int64_t expire_ms);

// How a value came to be bytes: written whole, or by editing what was there.
enum class Origin : unsigned char { kWhole, kEdited };
// Stores bytes as bytes, whatever they look like.
Status WriteBytes(Keyspace& keys, const Key& key, const KeyEntry& entry, std::string_view bytes,
                  int64_t expire_ms, Origin origin);

// OBJECT ENCODING's name. REQUIRES: the entry is a string.
std::string_view StringEncodingName(const KeyEntry& entry);

}  // namespace cairn
