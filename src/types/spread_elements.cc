// SPDX-License-Identifier: BSD-3-Clause
#include "types/spread_elements.h"

#include <functional>

#include "base/assert.h"
#include "encoding/varint.h"
#include "storage/ranks.h"

namespace cairn {
namespace {

constexpr size_t kIdBytes = 8;

// Finding a rank costs about as much as stepping over this many rows.
constexpr uint64_t kRowsPerRankLookup = 32;

uint32_t HashOf(std::string_view row) {
  row.remove_prefix(kIdBytes);
  uint32_t hash = 0;
  ReadU32(row, hash);
  return hash;
}

// Splits an element row into its hash and member.
Status ParseRow(std::string_view row, uint32_t& hash, std::string_view& member) {
  CollectionId id;
  if (!ParseElementRow(row, id, hash, member)) {
    return Status::Corruption("element row: shorter than its id and hash");
  }
  return Ok();
}

}  // namespace

Result<RowRef> SpreadElements::Get(std::string_view member, Access access) const {
  TRY(txn_->command().Spend(1));
  return txn_->Get(MakeElementRow(id_, member, stripe_), access);
}

Result<bool> SpreadElements::IsThere(const RowKey& row) {
  TRY(txn_->command().Spend(1));
  if (is_new_ && new_hashes_.insert(HashOf(row.row())).second) return false;
  const RowRef old = TRY(txn_->Get(row, Access::kPeek));
  return static_cast<bool>(old);
}

Result<bool> SpreadElements::Add(std::string_view member) {
  const RowKey row = MakeElementRow(id_, member, stripe_);
  if (TRY(IsThere(row))) return false;
  txn_->Put(row, {});
  txn_->ranks().RowAdded(row);
  ++count_;
  return true;
}

Result<bool> SpreadElements::Put(std::string_view member, std::string_view value) {
  const RowKey row = MakeElementRow(id_, member, stripe_);
  const bool was_there = TRY(IsThere(row));
  txn_->Put(row, value);
  if (was_there) return false;
  txn_->ranks().RowAdded(row);
  ++count_;
  return true;
}

void SpreadElements::PutNew(std::string_view member, std::string_view value) {
  ASSERT(is_new_, "PutNew into a collection that may hold the member");
  const RowKey row = MakeElementRow(id_, member, stripe_);
  new_hashes_.insert(HashOf(row.row()));
  txn_->Put(row, value);  // no rank was asked for yet, so no rank index exists
  ++count_;
}

Result<bool> SpreadElements::Remove(std::string_view member) {
  const RowKey row = MakeElementRow(id_, member, stripe_);
  if (!TRY(IsThere(row))) return false;
  Drop(row);
  return true;
}

RowKey SpreadElements::SuffixRow(std::string_view suffix) const {
  RowKey row = MakeCollectionStart(Space::kElements, id_, stripe_);
  row.append(suffix);
  return row;
}

Result<std::string> SpreadElements::SuffixAt(uint64_t rank) const {
  TRY(txn_->command().Spend(1));
  std::string suffix = TRY(Ranks(*txn_, Space::kElements, id_, count_, stripe_).At(rank));
  if (suffix.size() < kHashBytes) return Status::Corruption("element row: shorter than its hash");
  return suffix;
}

Result<RowRef> SpreadElements::GetBySuffix(std::string_view suffix) const {
  RowRef value = TRY(txn_->Get(SuffixRow(suffix)));
  if (!value) return Status::Corruption("element row: missing although the rank index has it");
  return value;
}

void SpreadElements::Drop(const RowKey& row) {
  txn_->Delete(row);
  txn_->ranks().RowRemoved(row);
  --count_;
}

Cursor SpreadElements::All() const {
  return txn_->Scan(MakeCollectionStart(Space::kElements, id_, stripe_),
                    MakeCollectionEnd(Space::kElements, id_, stripe_));
}

Status SpreadElements::ForEach(ElementVisitor visit) const {
  uint64_t seen = 0;
  uint32_t hash;
  std::string_view member;
  Cursor cursor = All();
  for (; cursor.Valid(); cursor.Next()) {
    TRY(ParseRow(cursor.row(), hash, member));
    ++seen;
    if (!TRY(visit(member, cursor.value()))) return Ok();
  }
  TRY(cursor.TakeStatus());
  if (seen != count_) return Status::Corruption("spread record: the count does not match the rows");
  return Ok();
}

Status SpreadElements::ForEachRank(std::span<const uint64_t> ranks, bool with_values, ElementVisitor visit) const {
  if (ranks.size() * kRowsPerRankLookup >= count_) {
    RankPicker picker(ranks, visit);
    return ForEach(std::ref(picker));
  }
  for (const uint64_t rank : ranks) {
    const std::string suffix = TRY(SuffixAt(rank));
    const RowRef value = with_values ? TRY(GetBySuffix(suffix)) : RowRef();
    if (!TRY(visit(MemberOf(suffix), value.bytes()))) break;
  }
  return Ok();
}

Result<uint64_t> SpreadElements::Scan(uint64_t position, uint64_t count, ElementVisitor visit) const {
  uint64_t seen = 0;
  uint32_t last_hash = 0;
  uint32_t hash;
  std::string_view member;
  if (position >> 32) return uint64_t{0};  // not one of our cursors
  Cursor cursor =
      txn_->Scan(MakeElementBound(id_, position, stripe_), MakeCollectionEnd(Space::kElements, id_, stripe_));
  for (; cursor.Valid(); cursor.Next()) {
    TRY(ParseRow(cursor.row(), hash, member));
    if (seen >= count && hash != last_hash) return uint64_t{last_hash} + 1;
    TRY(visit(member, cursor.value()));
    last_hash = hash;
    ++seen;
  }
  TRY(cursor.TakeStatus());
  return uint64_t{0};
}

}  // namespace cairn
