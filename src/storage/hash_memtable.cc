// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hash_memtable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hash.h"
#include "base/mutex.h"

namespace cairn {
namespace {

using rocksdb::KeyHandle;
using rocksdb::MemTableRep;
using rocksdb::Slice;

constexpr size_t kTagBytes = 8;  // sequence number and type, after the user key

// One version of a row. The entry's bytes follow it, in RocksDB's layout (varint length, key, tag, value).
struct Node {
  std::atomic<Node*> next{nullptr};   // the next key of the bucket
  std::atomic<Node*> older{nullptr};  // the next older version of the same key
  Node* before = nullptr;             // inserted just before this one, of any key

  const char* entry() const { return reinterpret_cast<const char*>(this + 1); }
};

// The user key with its tag.
std::string_view InternalKey(const char* entry) {
  uint32_t size = 0;
  const auto* at = reinterpret_cast<const unsigned char*>(entry);
  for (uint32_t shift = 0;; shift += 7) {
    const unsigned char byte = *at++;
    size |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return {reinterpret_cast<const char*>(at), size};
}

std::string_view UserPart(std::string_view internal) { return internal.substr(0, internal.size() - kTagBytes); }

uint64_t TagOf(std::string_view internal) {
  uint64_t tag = 0;
  std::memcpy(&tag, internal.data() + internal.size() - kTagBytes, kTagBytes);
  return std::endian::native == std::endian::little ? tag : __builtin_bswap64(tag);
}

// The first sixteen bytes of the user key as numbers that sort alike: an element's collection and hash.
struct Prefix {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Prefix&) const = default;
};

Prefix PrefixOf(std::string_view internal) {
  const std::string_view user = UserPart(internal);
  char bytes[sizeof(Prefix)] = {};
  std::memcpy(bytes, user.data(), std::min(user.size(), sizeof(bytes)));
  Prefix prefix;
  std::memcpy(&prefix, bytes, sizeof(prefix));
  if (std::endian::native == std::endian::big) return prefix;
  return {__builtin_bswap64(prefix.high), __builtin_bswap64(prefix.low)};
}

// A row in a run; the prefix decides most comparisons without reading the row.
struct Place {
  Prefix prefix;
  const char* entry;
};
using Run = std::vector<Place>;

// The rows present when a walk began, as sorted runs, the longest first.
struct Runs {
  static constexpr size_t kMost = 8;
  std::array<std::shared_ptr<const Run>, kMost> run;
  size_t count = 0;
};

class Order {
 public:
  explicit Order(const MemTableRep::KeyComparator& compare) : compare_(compare) {}
  bool operator()(const Place& a, const Place& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return compare_(a.entry, b.entry) < 0;
  }
  bool IsBefore(const Place& place, const Prefix& prefix, const Slice& internal) const {
    if (place.prefix != prefix) return place.prefix < prefix;
    return compare_(place.entry, internal) < 0;
  }

 private:
  const MemTableRep::KeyComparator& compare_;
};

// Storage for iterators that RocksDB wants in its own arena, from which only RocksDB can allocate. It ends such an
// iterator by a call of its destructor and never frees the memory. Thread: any.
class IteratorPool {
 public:
  static constexpr size_t kSlotBytes = 320;

  void* Take() {
    const MutexLock lock(mutex_);
    if (free_.empty()) return slots_.emplace_back().bytes;
    void* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void TakeBack(void* slot) {
    const MutexLock lock(mutex_);
    free_.push_back(slot);
  }

 private:
  struct Slot {
    alignas(std::max_align_t) char bytes[kSlotBytes];
  };
  Mutex mutex_;
  std::deque<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<void*> free_ ABSL_GUARDED_BY(mutex_);
};

// Frees an iterator's slot after the rest of it is destroyed: the first base is destroyed last.
class SlotHolder {
 protected:
  SlotHolder(IteratorPool* pool, void* slot) : pool_(pool), slot_(slot) {}
  ~SlotHolder() {
    if (pool_ != nullptr) pool_->TakeBack(slot_);
  }

 private:
  IteratorPool* pool_;  // null: allocated by new
  void* slot_;
};

// Walks over all runs in order. position_ counts, per run, the rows before the current one.
class SortedIterator final : private SlotHolder, public MemTableRep::Iterator {
 public:
  SortedIterator(Runs runs, Order order, IteratorPool* pool, void* slot)
      : SlotHolder(pool, slot), runs_(std::move(runs)), order_(order) {}

  bool Valid() const override { return current_ != kNone; }
  const char* key() const override { return At(current_).entry; }
  void Next() override {
    ++position_[current_];
    FetchAhead();
    FindCurrent();
  }
  void Prev() override {
    size_t last = kNone;
    for (size_t i = 0; i < runs_.count; ++i) {
      if (position_[i] == 0) continue;
      if (last == kNone || order_((*runs_.run[last])[position_[last] - 1], (*runs_.run[i])[position_[i] - 1])) last = i;
    }
    if (last != kNone) --position_[last];
    current_ = last;
  }
  void Seek(const Slice& internal, const char*) override {
    const Prefix prefix = PrefixOf({internal.data(), internal.size()});
    for (size_t i = 0; i < runs_.count; ++i) {
      const Run& run = *runs_.run[i];
      const auto is_before = [&](const Place& place, const Slice& key) { return order_.IsBefore(place, prefix, key); };
      position_[i] = static_cast<size_t>(std::lower_bound(run.begin(), run.end(), internal, is_before) - run.begin());
    }
    FindCurrent();
  }
  // No two entries are equal: if the entry found is not the key, the one before it is smaller.
  void SeekForPrev(const Slice& internal, const char* memtable_key) override {
    Seek(internal, memtable_key);
    if (Valid() && InternalKey(key()) == std::string_view(internal.data(), internal.size())) return;
    Prev();
  }
  void SeekToFirst() override {
    position_.fill(0);
    FindCurrent();
  }
  void SeekToLast() override {
    for (size_t i = 0; i < runs_.count; ++i) position_[i] = runs_.run[i]->size();
    Prev();
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kAhead = 8;

  const Place& At(size_t run) const { return (*runs_.run[run])[position_[run]]; }
  // Rows are in memory in insertion order, so each would be a cache miss. Prefetches a later one.
  void FetchAhead() const {
    const Run& run = *runs_.run[current_];
    const size_t ahead = position_[current_] + kAhead;
    if (ahead >= run.size()) return;
    __builtin_prefetch(run[ahead].entry);
    __builtin_prefetch(run[ahead].entry + 64);
  }
  void FindCurrent() {
    current_ = kNone;
    for (size_t i = 0; i < runs_.count; ++i) {
      if (position_[i] == runs_.run[i]->size()) continue;
      if (current_ == kNone || order_(At(i), At(current_))) current_ = i;
    }
  }

  const Runs runs_;
  const Order order_;
  std::array<size_t, Runs::kMost> position_ = {};
  size_t current_ = kNone;  // the run of the current row
};
static_assert(sizeof(SortedIterator) <= IteratorPool::kSlotBytes);

class HashMemtable;

// The versions of one key, the newest first: MemTableRep::Get walks over them. Get takes its iterator from
// GetDynamicPrefixIterator and never deletes it, so each thread has one, in storage that nobody needs to free.
class VersionIterator final : public MemTableRep::Iterator {
 public:
  explicit VersionIterator(const HashMemtable& table) : table_(table) {}
  static void operator delete(void*) {}

  bool Valid() const override { return node_ != nullptr; }
  const char* key() const override { return node_->entry(); }
  void Next() override { node_ = node_->older.load(std::memory_order_acquire); }
  void Seek(const Slice& internal, const char*) override;
  void Prev() override { ASSERT(false, "versions are walked forward"); }
  void SeekForPrev(const Slice&, const char*) override { ASSERT(false, "versions are walked forward"); }
  void SeekToFirst() override { ASSERT(false, "versions are those of one key"); }
  void SeekToLast() override { ASSERT(false, "versions are those of one key"); }

 private:
  const HashMemtable& table_;
  const Node* node_ = nullptr;
};

class HashMemtable final : public MemTableRep {
 public:
  HashMemtable(const KeyComparator& compare, rocksdb::Allocator* allocator, size_t buckets)
      : MemTableRep(allocator), order_(compare), mask_(buckets - 1) {
    buckets_ = static_cast<std::atomic<Node*>*>(AllocateAligned(buckets * sizeof(std::atomic<Node*>)));
    for (size_t i = 0; i < buckets; ++i) new (&buckets_[i]) std::atomic<Node*>(nullptr);
  }

  KeyHandle Allocate(const size_t size, char** entry) override {
    Node* node = new (AllocateAligned(sizeof(Node) + size)) Node;
    *entry = reinterpret_cast<char*>(node + 1);
    return node;
  }

  // Loads are acquires because a reader may go from this node to nodes of other writers. So the nodes that this writer
  // has seen are ordered before its own release, however writers are ordered among themselves.
  void Insert(KeyHandle handle) override {
    Node* node = static_cast<Node*>(handle);
    const std::string_view internal = InternalKey(node->entry());
    node->before = newest_.load(std::memory_order_acquire);
    newest_.store(node, std::memory_order_release);
    rows_.store(rows_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);

    std::atomic<Node*>& bucket = BucketOf(UserPart(internal));
    std::atomic<Node*>* link = &bucket;
    Node* same = link->load(std::memory_order_acquire);
    while (same != nullptr && UserPart(InternalKey(same->entry())) != UserPart(internal)) {
      link = &same->next;
      same = link->load(std::memory_order_acquire);
    }
    if (same == nullptr) {
      node->next.store(bucket.load(std::memory_order_acquire), std::memory_order_relaxed);
      bucket.store(node, std::memory_order_release);
      return;
    }
    node->next.store(same->next.load(std::memory_order_acquire), std::memory_order_relaxed);
    // The order can differ only between concurrent writers.
    while (same != nullptr && TagOf(InternalKey(same->entry())) > TagOf(internal)) {
      link = &same->older;
      same = link->load(std::memory_order_acquire);
    }
    node->older.store(same, std::memory_order_relaxed);
    link->store(node, std::memory_order_release);
  }

  void InsertConcurrently(KeyHandle handle) override {
    const MutexLock lock(writers_);
    Insert(handle);
  }

  bool Contains(const char* entry) const override {
    const std::string_view internal = InternalKey(entry);
    const Node* node = FindVersion(internal);
    return node != nullptr && InternalKey(node->entry()) == internal;
  }

  // Memory outside the arena: one Place per row in a run. It is counted from the start, because RocksDB requires that
  // a memtable does not grow after its last write.
  size_t ApproximateMemoryUsage() override { return rows_.load(std::memory_order_relaxed) * sizeof(Place); }

  MemTableRep::Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new SortedIterator(View(), order_, nullptr, nullptr);
    void* slot = iterators_.Take();
    return new (slot) SortedIterator(View(), order_, &iterators_, slot);
  }

  MemTableRep::Iterator* GetDynamicPrefixIterator(rocksdb::Arena*) override {
    alignas(VersionIterator) thread_local char storage[sizeof(VersionIterator)];
    return new (storage) VersionIterator(*this);
  }

  // The newest version of the key that is not newer than the tag; null if none. Thread: any.
  const Node* FindVersion(std::string_view internal) const {
    const std::string_view user = UserPart(internal);
    const Node* node = BucketOf(user).load(std::memory_order_acquire);
    while (node != nullptr && UserPart(InternalKey(node->entry())) != user) {
      node = node->next.load(std::memory_order_acquire);
    }
    const uint64_t tag = TagOf(internal);
    while (node != nullptr && TagOf(InternalKey(node->entry())) > tag) {
      node = node->older.load(std::memory_order_acquire);
    }
    return node;
  }

 private:
  // A run is merged into the one before it unless it is shorter than this fraction of it.
  static constexpr size_t kRunGrowth = 8;

  // MemTableRep::Allocate, the only access to the arena here, gives unaligned memory.
  void* AllocateAligned(size_t size) {
    char* memory = nullptr;
    (void)MemTableRep::Allocate(size + alignof(Node) - 1, &memory);
    const auto address = reinterpret_cast<uintptr_t>(memory);
    return memory + (-address & (alignof(Node) - 1));
  }

  std::atomic<Node*>& BucketOf(std::string_view user) const { return buckets_[Hash64(user) & mask_]; }

  // All rows inserted so far, in order. Only rows newer than the last walk must be sorted.
  Runs View() {
    const MutexLock lock(view_mutex_);
    const Node* const newest = newest_.load(std::memory_order_acquire);
    if (newest == viewed_) return view_;
    Run fresh;
    fresh.reserve(rows_.load(std::memory_order_relaxed) - viewed_rows_);
    for (const Node* node = newest; node != viewed_; node = node->before) {
      fresh.push_back({PrefixOf(InternalKey(node->entry())), node->entry()});
    }
    viewed_ = newest;
    viewed_rows_ += fresh.size();
    std::sort(fresh.begin(), fresh.end(), order_);
    while (view_.count > 0) {
      const Run& last = *view_.run[view_.count - 1];
      if (view_.count < Runs::kMost && fresh.size() * kRunGrowth < last.size()) break;
      Run merged(last.size() + fresh.size());
      std::merge(last.begin(), last.end(), fresh.begin(), fresh.end(), merged.begin(), order_);
      fresh = std::move(merged);
      view_.run[--view_.count].reset();
    }
    view_.run[view_.count++] = std::make_shared<const Run>(std::move(fresh));
    return view_;
  }

  const Order order_;
  const size_t mask_;
  std::atomic<Node*>* buckets_;
  std::atomic<Node*> newest_{nullptr};
  std::atomic<size_t> rows_{0};
  Mutex writers_;  // held by an insert when there are several writers
  IteratorPool iterators_;
  Mutex view_mutex_;
  Runs view_ ABSL_GUARDED_BY(view_mutex_);
  const Node* viewed_ ABSL_GUARDED_BY(view_mutex_) = nullptr;  // the newest node in view_
  size_t viewed_rows_ ABSL_GUARDED_BY(view_mutex_) = 0;        // number of rows in view_
};

void VersionIterator::Seek(const Slice& internal, const char*) {
  node_ = table_.FindVersion({internal.data(), internal.size()});
}

class HashMemtableFactory final : public rocksdb::MemTableRepFactory {
 public:
  explicit HashMemtableFactory(size_t buckets) : buckets_(std::bit_ceil(buckets)) {}
  using rocksdb::MemTableRepFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& compare, rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform*, rocksdb::Logger*) override {
    return new HashMemtable(compare, allocator, buckets_);
  }
  const char* Name() const override { return "CairnHashMemtableFactory"; }
  bool IsInsertConcurrentlySupported() const override { return true; }

 private:
  const size_t buckets_;
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> NewHashMemtableFactory(size_t buckets) {
  return std::make_shared<HashMemtableFactory>(buckets);
}

}  // namespace cairn
