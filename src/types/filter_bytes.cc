// SPDX-License-Identifier: BSD-3-Clause
#include "types/filter_bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/assert.h"
#include "encoding/varint.h"
#include "types/value_memory.h"

namespace cairn {
namespace {

constexpr uint64_t kMostPageBytes = uint64_t{1} << 20;

// More changed pages are written at once.
constexpr size_t kMostHeldPages = 4096;

// Collects ranges of bytes, in order, into parts.
class PartBuilder {
 public:
  explicit PartBuilder(const Fragments::Visitor& visit) : visit_(visit) {}

  Status Add(uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t begin = offset / FilterBytes::kPartBytes * FilterBytes::kPartBytes;
      if (begin != begin_) TRY(Finish());
      begin_ = begin;
      const std::string_view in_part = bytes.substr(0, FilterBytes::kPartBytes - (offset - begin));
      part_.resize(offset - begin);
      part_.append(in_part);
      offset += in_part.size();
      bytes.remove_prefix(in_part.size());
    }
    return Ok();
  }
  Status Finish() {
    const std::string_view part = WithoutZerosAtEnd(part_);
    if (!part.empty()) TRY(visit_(begin_, part));
    part_.clear();
    return Ok();
  }

 private:
  const Fragments::Visitor& visit_;
  uint64_t begin_ = 0;
  std::string part_;
};

}  // namespace

Result<StoredFilter> DecodeStoredFilter(Encoding encoding, std::string_view payload) {
  if (encoding == Encoding::kRaw) return StoredFilter{.rest = payload};
  if (encoding != Encoding::kSpread) return Status::Corruption("filter: unknown encoding");
  const SpreadPayload spread = TRY(DecodeSpreadPayload(payload));
  StoredFilter stored{.id = spread.id, .length = spread.count, .rest = spread.rest};
  if (!ReadVarint(stored.rest, stored.page_bytes)) return Status::Corruption("filter: page_bytes is cut short");
  if (stored.page_bytes == 0 || stored.page_bytes > kMostPageBytes) {
    return Status::Corruption("filter: page_bytes is out of range");
  }
  return stored;
}

Result<std::string_view> FilterBytes::Open(const KeyEntry& entry) {
  const StoredFilter stored = TRY(DecodeStoredFilter(entry.encoding(), entry.payload()));
  if (stored.page_bytes > 0) {
    fragments_ = Fragments::With(keys_->txn(), key_->stripe(), stored.id, stored.length, stored.page_bytes);
  }
  return stored.rest;
}

Status FilterBytes::SetBody(std::string_view left, uint64_t length) {
  if (length > kMostBytes) return Status::Corruption("filter: its length is out of range");
  if (fragments_) {
    if (!left.empty()) return Status::Corruption("filter: bytes behind the header");
  } else {
    packed_ = left;
  }
  if (this->length() != length) return Status::Corruption("filter: its length is not that of the header");
  return Ok();
}

Status FilterBytes::Create(uint64_t length) {
  edited_.emplace();
  return Grow(length);
}

std::string& FilterBytes::Edited() {
  if (!edited_) edited_.emplace(packed_);
  return *edited_;
}

Result<uint8_t> FilterBytes::ByteAt(uint64_t offset) const {
  ASSERT(offset < length(), "a read beyond the filter's end");
  if (!fragments_) return static_cast<uint8_t>(packed()[offset]);
  if (!changed_.empty()) {
    const auto page = changed_.find(offset / fragments_->fragment_bytes());
    if (page != changed_.end()) return static_cast<uint8_t>(page->second[offset % fragments_->fragment_bytes()]);
  }
  return fragments_->ByteAt(offset);
}

Result<char*> FilterBytes::Edit(uint64_t offset) {
  ASSERT(offset < length(), "a write beyond the filter's end");
  if (!fragments_) return &Edited()[offset];
  const uint64_t page_bytes = fragments_->fragment_bytes();
  const uint64_t index = offset / page_bytes;
  auto page = changed_.find(index);
  if (page == changed_.end()) {
    if (changed_.size() >= kMostHeldPages) TRY(Flush());
    std::string bytes;
    TRY(fragments_->Read(index * page_bytes, std::min(page_bytes, length() - index * page_bytes), bytes));
    page = changed_.emplace(index, std::move(bytes)).first;
  }
  return &page->second[offset % page_bytes];
}

Status FilterBytes::Flush() {
  for (const auto& [index, bytes] : changed_) TRY(fragments_->Write(index * fragments_->fragment_bytes(), bytes));
  changed_.clear();
  return Ok();
}

Status FilterBytes::Read(uint64_t offset, uint64_t size, std::string& out) const {
  ASSERT(offset <= length() && size <= length() - offset, "a read beyond the filter's end");
  if (!fragments_) {
    out.append(packed().substr(offset, size));
    return Ok();
  }
  const size_t before = out.size();
  TRY(fragments_->Read(offset, size, out));
  if (changed_.empty() || size == 0) return Ok();
  const uint64_t page_bytes = fragments_->fragment_bytes();
  for (uint64_t index = offset / page_bytes; index <= (offset + size - 1) / page_bytes; ++index) {
    const auto page = changed_.find(index);
    if (page == changed_.end()) continue;
    const uint64_t start = index * page_bytes;
    const uint64_t from = std::max(start, offset);
    const uint64_t end = std::min(start + page->second.size(), offset + size);
    out.replace(before + (from - offset), end - from, page->second, from - start, end - from);
  }
  return Ok();
}

Status FilterBytes::Write(uint64_t offset, std::string_view bytes) {
  ASSERT(offset <= length() && bytes.size() <= length() - offset, "a write beyond the filter's end");
  if (!fragments_) {
    Edited().replace(offset, bytes.size(), bytes);
    return Ok();
  }
  TRY(Flush());
  return fragments_->Write(offset, bytes);
}

Status FilterBytes::ForEach(uint64_t offset, uint64_t size, const Fragments::Visitor& visit) {
  if (fragments_) {
    TRY(Flush());
    return fragments_->ForEach(offset, size, visit);
  }
  const std::string copy(packed().substr(offset, size));
  return copy.empty() ? Ok() : visit(offset, copy);
}

Status FilterBytes::ForEachPart(const Fragments::Visitor& visit) {
  PartBuilder parts(visit);
  TRY(ForEach(0, length(), [&parts](uint64_t offset, std::string_view bytes) { return parts.Add(offset, bytes); }));
  return parts.Finish();
}

Status FilterBytes::Grow(uint64_t length) {
  ASSERT(length <= kMostBytes, "a filter beyond the limit");
  if (!fragments_ && length > kPackedBytes) {
    const Fragments created = Fragments::Create(keys_->txn(), keys_->id(), key_->stripe());
    fragments_ = Fragments::With(keys_->txn(), key_->stripe(), created.id(), 0, kPageBytes);
    TRY(fragments_->Write(0, packed()));
    edited_.reset();
  }
  if (!fragments_) {
    Edited().resize(length);
    return Ok();
  }
  TRY(Flush());
  fragments_->Grow(length);
  return Ok();
}

Status FilterBytes::DropZeros(uint64_t length) {
  if (!fragments_) {
    Edited().resize(length);
    return Ok();
  }
  TRY(Flush());
  fragments_->DropZeros(length);
  return Ok();
}

Status FilterBytes::Save(const KeyEntry& entry, Type type, std::string_view header) {
  RecordHeader record{.type = type, .encoding = Encoding::kRaw, .expire_ms = entry.expire_ms()};
  std::string payload;
  if (fragments_) {
    TRY(Flush());
    record.encoding = Encoding::kSpread;
    AppendSpreadPayload(payload, fragments_->id(), fragments_->length());
    AppendVarint(payload, fragments_->fragment_bytes());
  }
  payload.append(header);
  if (!fragments_) payload.append(packed());
  return keys_->Write(*key_, entry, record, payload);
}

uint64_t ExpectedPageBytes(uint64_t length, uint64_t changed) {
  const double pages = std::ceil(static_cast<double>(length) / FilterBytes::kPageBytes);
  if (pages == 0) return 0;
  const double used = pages * -std::expm1(-static_cast<double>(changed) / pages);
  return static_cast<uint64_t>(std::lround(used)) * (FilterBytes::kPageBytes + kRowOverheadBytes);
}

}  // namespace cairn
