// SPDX-License-Identifier: BSD-3-Clause
//
// EditedString: a string that is changed in part, as APPEND, SETRANGE, SETBIT and BITFIELD do.
//
// A short string is one row and is written anew. A long one is fragments (types/fragments.h), of which those are
// written that change: it becomes so with the first edit that leaves it at kFragmentedFrom bytes or more. What is
// written whole (SET, BITOP) is one row again, whatever its size.
//
//   EditedString text = TRY(EditedString::Open(keys, key, entry));
//   TRY(text.Write(text.size(), "tail"));
//   TRY(text.Save());
//
// Thread: the transaction's.
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
  // Where a string that is edited becomes fragments (docs/decisions/fragments.md).
  static constexpr uint64_t kFragmentedFrom = 8 * 1024;

  // A missing key is the empty string. Keeps `keys`, `key` and `entry`, the key's last Find.
  // REQUIRES: the entry is a string or missing.
  static Result<EditedString> Open(Keyspace& keys, const Key& key, const KeyEntry& entry);

  uint64_t size() const;
  // `size` bytes from `offset` on, as many as there are.
  Result<std::string> Read(uint64_t offset, uint64_t size) const;
  // Overwrites what is at `offset`; a string that ends before grows, with zeros in between.
  Status Write(uint64_t offset, std::string_view bytes);
  // Lengthens with zeros up to `size`; a longer one stays.
  Status Grow(uint64_t size);
  // Stores what was edited and keeps the expiry.
  Status Save();

 private:
  EditedString(Keyspace& keys, const Key& key, const KeyEntry& entry) : keys_(&keys), key_(&key), entry_(&entry) {}
  std::string_view whole() const;
  Status PrepareFor(uint64_t size);

  Keyspace* keys_;
  const Key* key_;
  const KeyEntry* entry_;
  // One of the three: the text as it is stored, as it was edited, or its fragments.
  StringText stored_;
  std::optional<std::string> edited_;
  std::optional<Fragments> fragments_;
};

}  // namespace cairn
