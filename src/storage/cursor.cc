// SPDX-License-Identifier: BSD-3-Clause
#include "storage/cursor.h"

#include <rocksdb/db.h>

#include <algorithm>

#include "storage/ready_reads.h"
#include "storage/store.h"
#include "storage/store_snapshot.h"
#include "storage/transaction.h"

namespace cairn {
namespace {

constexpr size_t kHddReadaheadBytes = 1 << 20;

// Expiry rows of both engines are between the same times.
bool IsInMemory(Space space, std::string_view row) { return ModeOfRow(space, row) == StorageMode::kMemory; }

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

struct Cursor::Bounds {
  std::string lower;
  std::string upper;
  rocksdb::Slice lower_slice;
  rocksdb::Slice upper_slice;
};

Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

Cursor::Cursor(Transaction& txn, const RowKey& lower, const RowKey& upper, Direction direction)
    : txn_(&txn), direction_(direction), bounds_(std::make_unique<Bounds>()) {
  bounds_->lower = lower.row();
  bounds_->upper = upper.row();
  bounds_->lower_slice = bounds_->lower;
  bounds_->upper_slice = bounds_->upper;
  CollectOwnRows(lower, upper);

  rocksdb::ReadOptions options;
  options.iterate_lower_bound = &bounds_->lower_slice;
  options.iterate_upper_bound = &bounds_->upper_slice;
  // A pass over the whole keyspace must not evict the blocks that others use.
  options.fill_cache = lower.space() != Space::kKeys && txn.snapshot_ == nullptr;
  const StorageMode mode = ModeOfRow(lower.space(), lower.row());
  if (txn.snapshot_ != nullptr) options.snapshot = txn.snapshot_->rocksdb(mode);
  if (mode == StorageMode::kHdd && txn.command().lane() == Lane::kSlow) options.readahead_size = kHddReadaheadBytes;
  const RowPlace place = txn.store().engines().PlaceOf(lower.space(), mode);
  Read([&] {
    committed_.reset(place.db.NewIterator(options, place.family));
    if (direction == Direction::kForward) {
      committed_->SeekToFirst();
    } else {
      committed_->SeekToLast();
    }
  });
  if (lower.space() == Space::kKeys) AwaitDurable();
  Settle();
}

// A walk over keys checks no stripe, so it could see rows appended to the log but not synced. Waits for the sync.
void Cursor::AwaitDurable() {
  Store& store = txn_->store();
  if (txn_->snapshot_ != nullptr || !store.log().syncs_commits()) return;
  const uint64_t latest = store.log().LatestSequence();
  if (store.log().ReadableSequence() >= latest) return;
  if (txn_->command().lane() == Lane::kFast) {
    refused_ = true;
  } else {
    store.log().MakeDurable(latest);
  }
}

template <typename Step>
void Cursor::Read(Step step) {
  const ReadyOnly ready(txn_->command().lane() == Lane::kFast);
  step();
  refused_ |= ready.refused();
  txn_->command().SpendReads(ready.served());
}

void Cursor::CollectOwnRows(const RowKey& lower, const RowKey& upper) {
  const auto collect = [&](const Overlay& overlay, bool hidden_by_own) {
    overlay.VisitRange(lower.tagged(), upper.tagged(), [&](const Overlay::Entry& entry) {
      if (entry.state == Overlay::State::kNothing) return;
      if (IsInMemory(lower.space(), entry.row()) != IsInMemory(lower.space(), lower.row())) return;
      if (hidden_by_own) {
        const Overlay::Entry* own = txn_->overlay_.Find(entry.tagged, entry.hash);
        if (own != nullptr && own->state != Overlay::State::kNothing) return;
      }
      own_.push_back({entry.row(), entry.value, entry.state == Overlay::State::kDeleted});
    });
  };
  collect(txn_->overlay_, false);
  if (txn_->SharesWithPredecessor(lower.stripe())) collect(txn_->predecessor_->overlay_, true);
  if (!own_.empty()) txn_->command().NoteUncommitted();
  std::sort(own_.begin(), own_.end(), [this](const OwnRow& a, const OwnRow& b) { return Before(a.row, b.row); });
}

bool Cursor::Before(std::string_view a, std::string_view b) const {
  return direction_ == Direction::kForward ? a < b : b < a;
}

void Cursor::StepCommitted() {
  Read([this] {
    if (direction_ == Direction::kForward) {
      committed_->Next();
    } else {
      committed_->Prev();
    }
  });
}

// Finds the next row to show: the smaller of both sides. An own row hides the committed row of the same key.
void Cursor::Settle() {
  for (;;) {
    const bool has_committed = committed_->Valid();
    if (refused_ || (!has_committed && !committed_->status().ok())) {
      status_ = refused_ ? Status::WouldWait() : FromRocksDb(committed_->status());
      valid_ = false;
      return;
    }
    const bool has_own = next_own_ < own_.size();
    if (!has_own && !has_committed) {
      valid_ = false;
      return;
    }
    if (has_own && (!has_committed || !Before(View(committed_->key()), own_[next_own_].row))) {
      const OwnRow& own = own_[next_own_];
      if (has_committed && View(committed_->key()) == own.row) StepCommitted();
      if (own.deleted) {
        ++next_own_;
        continue;
      }
      on_own_ = true;
      row_ = own.row;
      value_ = own.value;
    } else {
      on_own_ = false;
      row_ = View(committed_->key());
      value_ = View(committed_->value());
    }
    valid_ = true;
    return;
  }
}

void Cursor::Next() {
  Status spent = txn_->command().Spend(1);
  if (!spent.ok()) {
    status_ = std::move(spent);
    valid_ = false;
    return;
  }
  if (on_own_) {
    ++next_own_;
  } else {
    StepCommitted();
  }
  Settle();
}

Status Cursor::TakeStatus() { return std::move(status_); }

}  // namespace cairn
