// SPDX-License-Identifier: BSD-3-Clause
//
// EditedString: a string of which a part is changed, as by APPEND, SETRANGE, SETBIT and BITFIELD.
//
// A short string is one row and is rewritten as a whole. A long one consists of fragments (types/fragments.h), and only
// the changed fragments are rewritten. A string is cut into fragments by the first edit that leaves it with
// kFragmentedFrom bytes or more. A command that writes the whole value (SET, BITOP) makes it one row again.
//
//   EditedString text = TRY(EditedString::Open(keys, key, entry));
//   TRY(text.Write(text.size(), "tail"));
//   TRY(text.Save());
//
// Thread: that of the transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "types/fragments.h"
#include "types/keyspace.h"
#include "types/string.h"

namespace cairn {

class EditedString {
 public:
  // An edited string of this size or more is stored in fragments (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentedFrom = 8 * 1024;

  // A missing key opens as the empty string. The object refers to `keys`, `key` and `entry`, the result of the key's
  // last Find. REQUIRES: the entry is a string or missing.
  static Result<EditedString> Open(Keyspace& keys, const Key& key, const KeyEntry& entry);

  uint64_t size() const;
  // Reads up to `size` bytes from `offset` on.
  Result<std::string> Read(uint64_t offset, uint64_t size) const;
  // Overwrites the bytes at `offset`; a shorter string is first extended with zeros.
  Status Write(uint64_t offset, std::string_view bytes);
  // Extends the string with zeros to `size` bytes; a longer one is not changed.
  Status Grow(uint64_t size);
  // Stores the edited string and keeps the expiry.
  Status Save();

 private:
  EditedString(Keyspace& keys, const Key& key, const KeyEntry& entry) : keys_(&keys), key_(&key), entry_(&entry) {}
  std::string_view whole() const;
  Status PrepareFor(uint64_t size);

  Keyspace* keys_;
  const Key* key_;
  const KeyEntry* entry_;
  // The string is in one of these: as stored, as edited, or as fragments.
  StringText stored_;
  std::optional<std::string> edited_;
  std::optional<Fragments> fragments_;
};

}  // namespace cairn
