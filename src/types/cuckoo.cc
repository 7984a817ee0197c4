// SPDX-License-Identifier: BSD-3-Clause
#include "types/cuckoo.h"

#include <unordered_map>
#include <utility>

#include "base/assert.h"

namespace cairn {
namespace {

// Deletions in relation to the items that are left, after which the filter is compacted.
constexpr double kCompactedFrom = 0.10;

// Of the command's work budget.
constexpr uint64_t kFiltersPerStep = 16;
constexpr uint64_t kIterationsPerStep = 64;

}  // namespace

Status Cuckoo::Open() { return Open(TRY(keys_.Find(key_))); }

Status Cuckoo::Open(KeyEntry entry) {
  if (entry.exists() && entry.type() != Type::kCuckoo) return Status::Reply(kWrongType);
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  std::string_view rest = TRY(bytes_.Open(entry_));
  shape_ = TRY(CuckooShape::Decode(rest));
  return bytes_.SetBody(rest, shape_.bytes());
}

Status Cuckoo::Create(const CuckooShape& shape) {
  ASSERT(!exists() && shape.IsSound(), "a filter is created once, within the limits");
  shape_ = shape;
  return bytes_.Create(shape_.bytes());
}

Cuckoo::SubFilter Cuckoo::Last() const {
  const uint64_t buckets = shape_.BucketsOf(shape_.filters - 1);
  return {bytes_.length() - buckets * shape_.bucket_size, buckets};
}

Cuckoo::SubFilter Cuckoo::Newer(const SubFilter& of) const {
  return {of.start + of.buckets * shape_.bucket_size, of.buckets * shape_.expansion};
}

Cuckoo::SubFilter Cuckoo::Older(const SubFilter& of) const {
  const uint64_t buckets = of.buckets / shape_.expansion;
  return {of.start - buckets * shape_.bucket_size, buckets};
}

template <typename Visit>
Status Cuckoo::ForEachSlot(const SubFilter& in, const CuckooHash& hash, Visit visit) const {
  for (const uint64_t of : {hash.first, hash.second}) {
    // RedisBloom keeps 32 bits of the position. So does this, or dumps of large filters would not fit.
    const uint64_t at = in.start + static_cast<uint32_t>(of % in.buckets * shape_.bucket_size);
    std::string bucket;
    TRY(bytes_.Read(at, shape_.bucket_size, bucket));
    for (size_t slot = 0; slot < bucket.size(); ++slot) {
      if (!visit(at + slot, static_cast<uint8_t>(bucket[slot]))) return Ok();
    }
  }
  return Ok();
}

Result<std::optional<uint64_t>> Cuckoo::Find(const SubFilter& in, const CuckooHash& hash, uint8_t fingerprint) const {
  std::optional<uint64_t> found;
  TRY(ForEachSlot(in, hash, [&](uint64_t position, uint8_t there) {
    if (there == fingerprint) found = position;
    return !found;
  }));
  return found;
}

Status Cuckoo::SetSlot(uint64_t position, uint8_t fingerprint) {
  *TRY(bytes_.Edit(position)) = static_cast<char>(fingerprint);
  return Ok();
}

// Puts the item into a slot of its first bucket, what was there into its other bucket, and so on, until a bucket has a
// free slot. The buckets are changed in memory first, because the attempt may fail.
Result<bool> Cuckoo::Evict(const SubFilter& in, const CuckooHash& hash) {
  std::unordered_map<uint64_t, std::string> changed;
  const auto bucket_at = [&](uint64_t index) -> Result<std::string*> {
    std::string& bucket = changed[index];
    if (bucket.empty()) TRY(bytes_.Read(in.start + index * shape_.bucket_size, shape_.bucket_size, bucket));
    return &bucket;
  };
  char homeless = static_cast<char>(hash.fingerprint);
  uint64_t index = hash.first % in.buckets;
  for (uint64_t i = 0; i < shape_.max_iterations; ++i) {
    std::string& full = *TRY(bucket_at(index));
    std::swap(full[i % shape_.bucket_size], homeless);
    index = OtherCuckooHash(static_cast<uint8_t>(homeless), index) % in.buckets;
    std::string& next = *TRY(bucket_at(index));
    const size_t free = next.find('\0');
    if (free == std::string::npos) continue;
    next[free] = homeless;
    for (const auto& [of, bucket] : changed) {
      for (size_t slot = 0; slot < bucket.size(); ++slot) {
        TRY(SetSlot(in.start + of * shape_.bucket_size + slot, static_cast<uint8_t>(bucket[slot])));
      }
    }
    return true;
  }
  return false;
}

Result<CuckooInserted> Cuckoo::Insert(std::string_view item) {
  TRY(SpendOnItem());
  const CuckooHash hash = HashCuckooItem(item);
  for (;;) {
    SubFilter filter = Last();
    for (uint64_t left = shape_.filters; left > 0; --left) {
      if (const auto slot = TRY(Find(filter, hash, 0))) {
        TRY(SetSlot(*slot, hash.fingerprint));
        ++shape_.items;
        return CuckooInserted::kNew;
      }
      if (left > 1) filter = Older(filter);
    }
    TRY(keys_.txn().command().Spend(shape_.max_iterations / kIterationsPerStep));
    if (TRY(Evict(Last(), hash))) {
      ++shape_.items;
      return CuckooInserted::kNew;
    }
    if (shape_.expansion == 0) return CuckooInserted::kFull;
    CuckooShape grown = shape_;
    ++grown.filters;
    if (grown.filters > kMostGrownFilters || !grown.IsSound()) return CuckooInserted::kTooLarge;
    shape_ = grown;
    TRY(bytes_.Grow(shape_.bytes()));
  }
}

Status Cuckoo::SpendOnItem() const { return keys_.txn().command().Spend(1 + shape_.filters / kFiltersPerStep); }

Result<bool> Cuckoo::Contains(std::string_view item) const {
  TRY(SpendOnItem());
  const CuckooHash hash = HashCuckooItem(item);
  SubFilter filter = First();
  for (uint64_t i = 0; i < shape_.filters; ++i, filter = Newer(filter)) {
    if (TRY(Find(filter, hash, hash.fingerprint))) return true;
  }
  return false;
}

Result<uint64_t> Cuckoo::Count(std::string_view item) const {
  TRY(SpendOnItem());
  const CuckooHash hash = HashCuckooItem(item);
  uint64_t count = 0;
  SubFilter filter = First();
  for (uint64_t i = 0; i < shape_.filters; ++i, filter = Newer(filter)) {
    TRY(ForEachSlot(filter, hash, [&](uint64_t, uint8_t there) {
      if (there == hash.fingerprint) ++count;
      return true;
    }));
  }
  return count;
}

Result<bool> Cuckoo::Delete(std::string_view item) {
  TRY(SpendOnItem());
  const CuckooHash hash = HashCuckooItem(item);
  SubFilter filter = Last();
  for (uint64_t left = shape_.filters; left > 0; --left) {
    if (const auto slot = TRY(Find(filter, hash, hash.fingerprint))) {
      TRY(SetSlot(*slot, 0));
      if (shape_.items > 0) --shape_.items;
      ++shape_.deletes;
      const bool is_sparse = static_cast<double>(shape_.deletes) > static_cast<double>(shape_.items) * kCompactedFrom;
      if (shape_.filters > 1 && is_sparse) TRY(CompactFrom(/*stops=*/true));
      return true;
    }
    if (left > 1) filter = Older(filter);
  }
  return false;
}

Result<bool> Cuckoo::Relocate(uint64_t filter, const SubFilter& from, bool& changed) {
  bool all = true;
  const auto move = [&](uint64_t position, uint8_t fingerprint) -> Status {
    TRY(SpendOnItem());
    CuckooHash hash{.first = (position - from.start) / shape_.bucket_size, .fingerprint = fingerprint};
    hash.second = OtherCuckooHash(fingerprint, hash.first);
    SubFilter older = First();
    for (uint64_t i = 0; i < filter; ++i, older = Newer(older)) {
      const auto slot = TRY(Find(older, hash, 0));
      if (!slot) continue;
      TRY(SetSlot(*slot, fingerprint));
      changed = true;
      return SetSlot(position, 0);
    }
    all = false;
    return Ok();
  };
  const auto move_all = [&](uint64_t offset, std::string_view bytes) -> Status {
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != '\0') TRY(move(offset + i, static_cast<uint8_t>(bytes[i])));
    }
    return Ok();
  };
  TRY(bytes_.ForEach(from.start, from.buckets * shape_.bucket_size, move_all));
  return all;
}

Result<bool> Cuckoo::CompactFrom(bool stops) {
  bool changed = shape_.deletes > 0;
  SubFilter filter = Last();
  for (uint64_t number = shape_.filters - 1; number > 0; --number) {
    const bool is_empty = TRY(Relocate(number, filter, changed));
    if (!is_empty && stops) break;
    if (is_empty && number == shape_.filters - 1) {
      TRY(bytes_.DropZeros(filter.start));
      --shape_.filters;
      changed = true;
    }
    filter = Older(filter);
  }
  shape_.deletes = 0;
  return changed;
}

Result<bool> Cuckoo::Compact() { return CompactFrom(/*stops=*/false); }

Status Cuckoo::Save() { return bytes_.Save(entry_, Type::kCuckoo, shape_.Encode()); }

}  // namespace cairn
