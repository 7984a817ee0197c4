// SPDX-License-Identifier: BSD-3-Clause
#include "types/cuckoo_shape.h"

#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/murmur.h"
#include "encoding/varint.h"
#include "types/filter_bytes.h"

namespace cairn {
namespace {

constexpr uint64_t kMostFilters = 65535;
constexpr uint64_t kFilterMemory = 40;
constexpr uint64_t kSubFilterMemory = 16;

template <typename Number>
void AppendLittle(std::string& out, uint64_t value) {
  const auto number = static_cast<Number>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
uint64_t TakeLittle(std::string_view& in) {
  Number value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

}  // namespace

CuckooHash HashCuckooItem(std::string_view item) {
  CuckooHash hash{.first = Murmur64(item, 0)};
  hash.fingerprint = static_cast<uint8_t>(hash.first % 255 + 1);
  hash.second = OtherCuckooHash(hash.fingerprint, hash.first);
  return hash;
}

CuckooShape CuckooShape::Make(uint64_t capacity, uint64_t bucket_size, uint64_t max_iterations, uint64_t expansion) {
  return {.buckets = std::bit_ceil(capacity / bucket_size),
          .bucket_size = bucket_size,
          .max_iterations = max_iterations,
          .expansion = expansion == 0 ? 0 : std::bit_ceil(expansion)};
}

uint64_t CuckooShape::BucketsOf(uint64_t filter) const {
  uint64_t of = buckets;
  if (expansion > 1) {
    for (; filter > 0; --filter) of *= expansion;
  }
  return of;
}

uint64_t CuckooShape::bytes() const {
  uint64_t bytes = 0;
  for (uint64_t filter = 0; filter < filters; ++filter) bytes += BytesOf(filter);
  return bytes;
}

uint64_t CuckooShape::memory_bytes() const { return kFilterMemory + kSubFilterMemory * filters + bytes(); }

bool CuckooShape::IsSound() const {
  if (bucket_size == 0 || bucket_size > kMostCuckooBucketSize || max_iterations == 0 ||
      max_iterations > kMostCuckooIterations || expansion > kMostCuckooExpansion || filters == 0 ||
      filters > kMostFilters || (expansion == 0 && filters > 1) || !std::has_single_bit(buckets)) {
    return false;
  }
  uint64_t total = 0;
  uint64_t of = buckets;
  for (uint64_t filter = 0; filter < filters; ++filter) {
    if (of > FilterBytes::kMostBytes / bucket_size) return false;
    total += of * bucket_size;
    if (total > FilterBytes::kMostBytes) return false;
    of *= expansion;  // at most 2^40 times 2^15
  }
  return true;
}

std::string CuckooShape::Encode() const {
  std::string out;
  for (const uint64_t number : {items, deletes, buckets, filters, bucket_size, max_iterations, expansion}) {
    AppendVarint(out, number);
  }
  return out;
}

Result<CuckooShape> CuckooShape::Decode(std::string_view& in) {
  CuckooShape shape;
  for (uint64_t* const number : {&shape.items, &shape.deletes, &shape.buckets, &shape.filters, &shape.bucket_size,
                                 &shape.max_iterations, &shape.expansion}) {
    if (!ReadVarint(in, *number)) return Status::Corruption("cuckoo filter: the header is cut short");
  }
  if (!shape.IsSound()) return Status::Corruption("cuckoo filter: the header is damaged");
  return shape;
}

std::string CuckooShape::EncodeDump() const {
  std::string out;
  for (const uint64_t number : {items, buckets, deletes, filters}) AppendLittle<uint64_t>(out, number);
  for (const uint64_t number : {bucket_size, max_iterations, expansion}) AppendLittle<uint16_t>(out, number);
  return out;
}

std::optional<CuckooShape> CuckooShape::DecodeDump(std::string_view bytes) {
  ASSERT(bytes.size() == kDumpBytes, "a header of another size");
  CuckooShape shape;
  for (uint64_t* const number : {&shape.items, &shape.buckets, &shape.deletes, &shape.filters}) {
    *number = TakeLittle<uint64_t>(bytes);
  }
  for (uint64_t* const number : {&shape.bucket_size, &shape.max_iterations, &shape.expansion}) {
    *number = TakeLittle<uint16_t>(bytes);
  }
  return shape.IsSound() && shape.filters <= kMostGrownFilters ? std::optional(shape) : std::nullopt;
}

}  // namespace cairn
