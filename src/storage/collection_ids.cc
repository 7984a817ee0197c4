// SPDX-License-Identifier: BSD-3-Clause
#include "storage/collection_ids.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <string>

#include "encoding/varint.h"
#include "storage/batch.h"
#include "storage/format.h"
#include "storage/slice.h"

namespace cairn {
namespace {

constexpr CollectionId kReservation = 1 << 20;

}  // namespace

Status CollectionIds::Load() {
  std::string reserved;
  const RowKey ids = MakeMetaRow(kCollectionsRow);
  const rocksdb::Status read =
      engine_.db().Get(rocksdb::ReadOptions(), engine_.family(Space::kMeta), ToSlice(ids.row()), &reserved);
  if (!read.ok() && !read.IsNotFound()) return FromRocksDb(read);
  CollectionId next = 1;
  std::string_view bytes(reserved);
  if (read.ok() && !ReadVarint(bytes, next)) return Status::Corruption("meta row collections: cut short");
  if (next > kCollectionsEnd) return Status::Corruption("meta row collections: the number is too large");
  next_ = next;
  reserved_ = next;
  return Ok();
}

// Ids below the reservation are not used again after a restart, used or not. The next reservation is written when half
// of the current one is used, so that a disk which refuses that write causes no other error.
Status CollectionIds::Reserve(CollectionId end, bool may_wait) {
  const CollectionId reserved = reserved_.load(std::memory_order_acquire);
  const bool is_reserved = end <= reserved;
  if (is_reserved && (reserved - end >= kReservation / 2 || !recovery_.writable())) return Ok();
  if (is_reserved || !may_wait) {
    if (!mutex_.TryLock()) return is_reserved ? Ok() : Status::WouldWait();
  } else {
    mutex_.Lock();
  }
  const bool is_done = reserved_ >= end && reserved_ > reserved;  // by another thread
  Status status = is_done ? Ok() : WriteReservation(end + kReservation, may_wait && !is_reserved);
  mutex_.Unlock();
  return is_reserved ? Ok() : std::move(status);
}

Status CollectionIds::WriteReservation(CollectionId end, bool may_wait) {
  std::string value;
  AppendVarint(value, end);
  rocksdb::WriteBatch batch;
  TRY(PutRow(batch, engine_.family(Space::kMeta), MakeMetaRow(kCollectionsRow).row(), value));
  rocksdb::WriteOptions options;
  options.no_slowdown = !may_wait;
  Status status = FromRocksDb(log_.Write(options, batch));
  if (status.ok()) log_.NoteReadable(batch, {});
  if (status.ok()) reserved_.store(end, std::memory_order_release);
  return status;
}

}  // namespace cairn
