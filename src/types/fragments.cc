// SPDX-License-Identifier: BSD-3-Clause
#include "types/fragments.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "encoding/record.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint64_t kMostFragmentBytes = uint64_t{1} << 20;
// No value is longer: proto-max-bulk-len is at most 2 GB.
constexpr uint64_t kMostLength = uint64_t{1} << 32;

// Up to this many fragments are looked up one by one, from the key cache; more are read with a cursor.
constexpr uint64_t kFewFragments = 128;

Status TooLong() { return Status::Corruption("fragment row: longer than the string allows"); }

}  // namespace

Result<Fragments::Layout> Fragments::TakeLayout(std::string_view& payload) {
  SpreadPayload spread = TRY(DecodeSpreadPayload(payload));
  Layout layout{.id = spread.id, .length = spread.count};
  if (layout.length < kLeastLength || layout.length > kMostLength) {
    return Status::Corruption("fragments: length is out of range");
  }
  if (!ReadVarint(spread.rest, layout.fragment_bytes)) {
    return Status::Corruption("fragments: fragment_bytes is cut short");
  }
  if (layout.fragment_bytes == 0 || layout.fragment_bytes > kMostFragmentBytes) {
    return Status::Corruption("fragments: fragment_bytes is out of range");
  }
  payload = spread.rest;
  return layout;
}

Result<Fragments::Layout> Fragments::Decode(std::string_view payload) {
  const Layout layout = TRY(TakeLayout(payload));
  if (!payload.empty()) return Status::Corruption("spread string: bytes after fragment_bytes");
  return layout;
}

Result<Fragments> Fragments::Open(Transaction& txn, uint32_t stripe, std::string_view payload) {
  return Fragments(txn, stripe, TRY(Decode(payload)));
}

Result<Fragments> Fragments::OpenFront(Transaction& txn, uint32_t stripe, std::string_view& payload) {
  return Fragments(txn, stripe, TRY(TakeLayout(payload)));
}

Fragments Fragments::Create(Transaction& txn, KeyspaceId keyspace, uint32_t stripe) {
  return Fragments(txn, stripe, {.id = txn.NewCollectionId(keyspace)});
}

Result<uint64_t> Fragments::LengthIn(std::string_view payload) { return TRY(Decode(payload)).length; }

Result<uint64_t> Fragments::TakeLength(std::string_view& payload) { return TRY(TakeLayout(payload)).length; }

std::string Fragments::Payload() const {
  std::string payload;
  AppendSpreadPayload(payload, layout_.id, layout_.length);
  AppendVarint(payload, layout_.fragment_bytes);
  return payload;
}

RowKey Fragments::Row(uint64_t index) const { return MakeChunkRow(layout_.id, static_cast<int64_t>(index), stripe_); }

// Copies the part of one fragment that the span covers.
Status Fragments::Place(uint64_t index, std::string_view fragment, const Span& span) const {
  if (fragment.size() > layout_.fragment_bytes) return TooLong();
  const uint64_t begin = index * layout_.fragment_bytes;
  const uint64_t from = std::max(begin, span.offset);
  const uint64_t end = std::min(begin + fragment.size(), span.offset + span.size);
  if (from >= end) return Ok();
  std::memcpy(span.into + (from - span.offset), fragment.data() + (from - begin), end - from);
  return Ok();
}

Status Fragments::ReadEach(uint64_t first, uint64_t last, const Span& span) const {
  for (uint64_t index = first; index <= last; ++index) {
    const RowRef fragment = TRY(txn_->Get(Row(index)));
    if (fragment) TRY(Place(index, fragment.bytes(), span));
  }
  return Ok();
}

Status Fragments::ReadThrough(uint64_t first, uint64_t last, const Span& span) const {
  Cursor cursor = txn_->Scan(Row(first), Row(last + 1));
  for (; cursor.Valid(); cursor.Next()) {
    CollectionId id;
    int64_t index;
    if (!ParseChunkRow(cursor.row(), id, index)) return Status::Corruption("fragment row: malformed");
    TRY(Place(static_cast<uint64_t>(index), cursor.value(), span));
  }
  return cursor.TakeStatus();
}

Status Fragments::Read(uint64_t offset, uint64_t size, std::string& out) const {
  ASSERT(offset <= layout_.length && size <= layout_.length - offset, "a read beyond the string's end");
  if (size == 0) return Ok();
  const uint64_t first = offset / layout_.fragment_bytes;
  const uint64_t last = (offset + size - 1) / layout_.fragment_bytes;
  const bool few = last - first < kFewFragments;
  // Missing fragments count too: filling in their zeros takes time.
  if (!few) TRY(txn_->command().Spend(last - first));
  const size_t before = out.size();
  out.resize(before + size);
  const Span span{.offset = offset, .size = size, .into = out.data() + before};
  return few ? ReadEach(first, last, span) : ReadThrough(first, last, span);
}

Result<uint8_t> Fragments::ByteAt(uint64_t offset) const {
  ASSERT(offset < layout_.length, "a read beyond the string's end");
  const RowRef fragment = TRY(txn_->Get(Row(offset / layout_.fragment_bytes)));
  const uint64_t at = offset % layout_.fragment_bytes;
  return at < fragment.bytes().size() ? static_cast<uint8_t>(fragment.bytes()[at]) : uint8_t{0};
}

Status Fragments::ForEach(uint64_t offset, uint64_t size, const Visitor& visit) const {
  if (size == 0) return Ok();
  const uint64_t end = offset + size;
  Cursor cursor = txn_->Scan(Row(offset / layout_.fragment_bytes), Row((end - 1) / layout_.fragment_bytes + 1));
  for (; cursor.Valid(); cursor.Next()) {
    CollectionId id;
    int64_t index;
    if (!ParseChunkRow(cursor.row(), id, index)) return Status::Corruption("fragment row: malformed");
    if (cursor.value().size() > layout_.fragment_bytes) return TooLong();
    const uint64_t begin = static_cast<uint64_t>(index) * layout_.fragment_bytes;
    std::string_view bytes = cursor.value();
    if (begin + bytes.size() > end) bytes = bytes.substr(0, end - begin);
    const uint64_t skipped = std::min<uint64_t>(offset > begin ? offset - begin : 0, bytes.size());
    bytes.remove_prefix(skipped);
    if (!bytes.empty()) TRY(visit(begin + skipped, bytes));
  }
  return cursor.TakeStatus();
}

// Overwrites a part of one fragment, from its byte `begin` on.
Status Fragments::WriteOne(uint64_t index, uint64_t begin, std::string_view part) {
  const uint64_t start = index * layout_.fragment_bytes;
  const bool may_be_there = start < layout_.length;
  const uint64_t old_size = may_be_there ? std::min(layout_.length - start, layout_.fragment_bytes) : 0;
  const RowKey row = Row(index);
  std::string edited;
  if (begin == 0 && part.size() >= old_size) {
    TRY(txn_->command().Spend(1));
  } else {
    const RowRef old = may_be_there ? TRY(txn_->Get(row)) : RowRef();
    if (old.bytes().size() > layout_.fragment_bytes) return TooLong();
    edited.reserve(std::max<size_t>(old.bytes().size(), begin + part.size()));
    edited = old.bytes();
    if (edited.size() < begin + part.size()) edited.resize(begin + part.size());
    std::memcpy(edited.data() + begin, part.data(), part.size());
    part = edited;
  }
  part = WithoutZerosAtEnd(part);
  if (!part.empty()) {
    txn_->Put(row, part);
  } else if (may_be_there) {
    txn_->Delete(row);
  }
  return Ok();
}

Status Fragments::Write(uint64_t offset, std::string_view bytes) {
  const uint64_t end = offset + bytes.size();
  while (!bytes.empty()) {
    const uint64_t begin = offset % layout_.fragment_bytes;
    const std::string_view part = bytes.substr(0, layout_.fragment_bytes - begin);
    TRY(WriteOne(offset / layout_.fragment_bytes, begin, part));
    offset += part.size();
    bytes.remove_prefix(part.size());
  }
  Grow(end);
  return Ok();
}

void Fragments::Grow(uint64_t length) { layout_.length = std::max(layout_.length, length); }

}  // namespace cairn
