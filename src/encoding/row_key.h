// SPDX-License-Identifier: BSD-3-Clause
//
// Row keys: the keys of all rows in the store (docs/format.md, section 2, since format 1).
//
//   space      row key                                                value
//   keys       keyspace:u32 slot:u16 hash:u32 key                     a record (encoding/record.h)
//   elements   id:u64 hash:u32 member                                 field value, score, or nothing
//              id:u64 seq:u64 (ordered i64)                           list chunk
//   scores     id:u64 score:u64 (ordered double) member               nothing
//   owners     id:u64                                                 the key row that owns collection id
//   expiries   when_ms:u64, then the whole key row                    nothing, or 01 (kExpiresOneRow)
//   meta       a name                                                 depends on the name
//
// All integers big-endian. slot is KeySlot(key) and hash RowHash(key or member) (base/hash.h). A keyspace is the number
// of a database on disk; FLUSHDB gives the database a new one and SWAPDB exchanges two, so neither touches a row.
// Example: key row of "foo" (slot 12182) in keyspace 1 = 00000001 2f96 ab6e5f64 666f6f
//
// In memory a row key starts with one more byte for the space, so that it is unique in a cache with rows of all spaces.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "encoding/ordered.h"

namespace cairn {

enum class Space : uint8_t { kMeta = 0, kKeys = 1, kElements = 2, kScores = 3, kOwners = 4, kExpiries = 5 };
inline constexpr int kSpaceCount = 6;

using KeyspaceId = uint32_t;
using CollectionId = uint64_t;

// A row key with its space and the lock stripe of its key. Short keys need no allocation.
class RowKey {
 public:
  RowKey() = default;
  RowKey(Space space, uint32_t stripe) : stripe_(stripe) { push_back(static_cast<char>(space)); }
  RowKey(const RowKey& other) : stripe_(other.stripe_) { append(other.data_, other.size_); }
  RowKey(RowKey&& other) noexcept : stripe_(other.stripe_) { TakeFrom(other); }
  RowKey& operator=(RowKey other) noexcept {
    stripe_ = other.stripe_;
    size_ = 0;
    TakeFrom(other);
    return *this;
  }

  Space space() const { return static_cast<Space>(data_[0]); }
  uint32_t stripe() const { return stripe_; }
  std::string_view row() const { return {data_ + 1, size_ - 1}; }
  std::string_view tagged() const { return {data_, size_}; }  // the space byte, then row()

  void append(const char* bytes, size_t size) {
    if (size == 0) return;  // `bytes` may be null
    if (size_ + size > capacity_) Grow(size_ + size);
    std::memcpy(data_ + size_, bytes, size);
    size_ += size;
  }
  void append(std::string_view bytes) { append(bytes.data(), bytes.size()); }
  void push_back(char c) { append(&c, 1); }

 private:
  void Grow(size_t need) {
    capacity_ = need + need / 2;
    auto bigger = std::make_unique<char[]>(capacity_);
    std::memcpy(bigger.get(), data_, size_);
    heap_ = std::move(bigger);
    data_ = heap_.get();
  }
  void TakeFrom(RowKey& other) {
    if (other.heap_ == nullptr) {
      append(other.data_, other.size_);
      return;
    }
    heap_ = std::move(other.heap_);
    data_ = heap_.get();
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = other.inline_;
    other.size_ = 0;
    other.capacity_ = sizeof other.inline_;
  }

  static constexpr size_t kInlineBytes = 88;
  uint32_t stripe_ = 0;
  size_t size_ = 0;
  size_t capacity_ = kInlineBytes;
  char* data_ = inline_;
  std::unique_ptr<char[]> heap_;
  char inline_[kInlineBytes];
};

// The number of lock stripes for keys; a power of two, in memory only. Small enough for a core's cache, and large
// enough that a thousand keys being changed by one thread seldom block another thread.
inline constexpr uint32_t kStripeCount = 16384;

// The position at which a key row sorts within its keyspace: slot in the upper, hash in the lower bits of 46. It is
// SCAN's cursor.
inline constexpr int kPositionBits = 46;
uint64_t KeyPosition(std::string_view key);

// The lock stripe of a key; the same in every database.
uint32_t StripeOf(std::string_view key);

RowKey MakeKeyRow(KeyspaceId keyspace, std::string_view key);

// A bound before every key row of `keyspace` at `position` or later. Position 2^46 is the end of the keyspace.
RowKey MakeKeyBound(KeyspaceId keyspace, uint64_t position);

// The parts of a key row; false if it is too short to be one.
struct KeyRowParts {
  KeyspaceId keyspace;
  uint64_t position;
  std::string_view key;
};
bool ParseKeyRow(std::string_view row, KeyRowParts& parts);

// `stripe` is that of the collection's key in all functions below.
RowKey MakeElementRow(CollectionId id, std::string_view member, uint32_t stripe);

// A bound before every element of `id` with a member hash of `hash` or more; 2^32 is the collection's end.
RowKey MakeElementBound(CollectionId id, uint64_t hash, uint32_t stripe);
bool ParseElementRow(std::string_view row, CollectionId& id, uint32_t& hash, std::string_view& member);

RowKey MakeChunkRow(CollectionId id, int64_t seq, uint32_t stripe);
bool ParseChunkRow(std::string_view row, CollectionId& id, int64_t& seq);

// With an empty member: a bound before all rows of that score.
RowKey MakeScoreRow(CollectionId id, double score, std::string_view member, uint32_t stripe);
bool ParseScoreRow(std::string_view row, CollectionId& id, double& score, std::string_view& member);

// A bound after all rows of collection `id` in `space` (elements or scores).
RowKey MakeCollectionEnd(Space space, CollectionId id, uint32_t stripe);
// The bound before them.
RowKey MakeCollectionStart(Space space, CollectionId id, uint32_t stripe);

RowKey MakeOwnerRow(CollectionId id, uint32_t stripe);

// The value of an expiry row of a key that expires as a whole and whose value is one row, the key row: both can be
// deleted without a look at the value. All other expiry rows are empty.
inline constexpr std::string_view kExpiresOneRow = "\x01";

RowKey MakeExpiryRow(int64_t when_ms, std::string_view key_row, uint32_t stripe);
bool ParseExpiryRow(std::string_view row, int64_t& when_ms, std::string_view& key_row);

RowKey MakeMetaRow(std::string_view name);

}  // namespace cairn
