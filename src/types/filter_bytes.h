// SPDX-License-Identifier: BSD-3-Clause
//
// FilterBytes: the bits or buckets of a filter (types/bloom.h, types/cuckoo.h): one sequence of bytes, zeros at first.
//
// The bytes of a small filter are in the key's record, behind the filter's header. Those of a larger one are in pages,
// rows that are written one by one; a page of zeros has no row (types/fragments.h). So a change of a large filter
// writes the record and the pages it touches, and a new filter of any size is one row. docs/format.md, section 5.6, has
// the bytes, docs/decisions/filter-pages.md the reasons for the two sizes below.
//
// Changed pages are held until Save, so a command that changes a page many times writes it once.
//
//   FilterBytes bytes(keys, key);
//   std::string_view rest = TRY(bytes.Open(entry));   // the header first; its owner decodes it
//   TRY(bytes.SetBody(rest, length));
//   *TRY(bytes.Edit(7)) |= 1;
//   TRY(bytes.Save(entry, Type::kBloom, header));
//
// Thread: that of the transaction. The keyspace and the key must outlive this object, the entry what it opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/result.h"
#include "types/fragments.h"
#include "types/keyspace.h"

namespace cairn {

// The parts of a record's payload.
struct StoredFilter {
  CollectionId id = 0;
  uint64_t length = 0;      // of its bytes
  uint64_t page_bytes = 0;  // 0: the filter is one row, and has no id and no length
  std::string_view rest;    // the header; then, of a filter in one row, its bytes
};
Result<StoredFilter> DecodeStoredFilter(Encoding encoding, std::string_view payload);

class FilterBytes {
 public:
  // A filter of up to this size is one row.
  static constexpr uint64_t kPackedBytes = 1024;
  // The size of pages of new filters; each record stores its own.
  static constexpr uint64_t kPageBytes = 256;
  // No filter is larger.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 40;
  // ForEachPart cuts the bytes at the multiples of this.
  static constexpr uint64_t kPartBytes = 16 * 1024;

  FilterBytes(Keyspace& keys, const Key& key) : keys_(&keys), key_(&key) {}

  // Begins to read a record; returns the part of its payload that starts with the header.
  Result<std::string_view> Open(const KeyEntry& entry);
  // Ends it: `left` is what is behind the header, `length` the number of bytes that the header states.
  Status SetBody(std::string_view left, uint64_t length);
  // Starts a new filter. REQUIRES: length <= kMostBytes
  Status Create(uint64_t length);

  uint64_t length() const { return fragments_ ? fragments_->length() : packed().size(); }

  // REQUIRES for all of these: within length().
  Result<uint8_t> ByteAt(uint64_t offset) const;
  // The byte, to be changed before the next call.
  Result<char*> Edit(uint64_t offset);
  Status Read(uint64_t offset, uint64_t size, std::string& out) const;
  Status Write(uint64_t offset, std::string_view bytes);
  // Calls visit(offset, bytes) in order for ranges that hold all bytes but zeros. `visit` may change bytes; it sees
  // those from before its first call.
  Status ForEach(uint64_t offset, uint64_t size, const Fragments::Visitor& visit);
  // Calls visit(offset, bytes) for each part that is not zeros, without the zeros at its end: the same calls for the
  // same bytes, however they are stored.
  Status ForEachPart(const Fragments::Visitor& visit);

  // Adds zeros at the end. REQUIRES: length() <= length <= kMostBytes
  Status Grow(uint64_t length);
  // Removes zeros at the end. REQUIRES: the bytes from `length` on are zeros.
  Status DropZeros(uint64_t length);

  // Stores the record; keeps the expiry of `entry`, the key's last Find.
  Status Save(const KeyEntry& entry, Type type, std::string_view header);

 private:
  std::string_view packed() const { return edited_ ? *edited_ : packed_; }
  std::string& Edited();
  // Writes the changed pages.
  Status Flush();

  Keyspace* keys_;
  const Key* key_;
  // The bytes are in one of these: as stored, as edited, or in pages.
  std::string_view packed_;
  std::optional<std::string> edited_;
  std::optional<Fragments> fragments_;
  absl::flat_hash_map<uint64_t, std::string> changed_;  // pages by their index, whole
};

// The bytes of a filter's rows for MEMORY USAGE, if each of `changed` bytes was chosen by chance.
uint64_t ExpectedPageBytes(uint64_t length, uint64_t changed);

}  // namespace cairn
