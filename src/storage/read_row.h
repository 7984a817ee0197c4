// SPDX-License-Identifier: BSD-3-Clause
//
// A row as RocksDB returned it: a copy of its own, or a pinned block. Thread: any.
#pragma once

#include <rocksdb/slice.h>

#include <memory>
#include <string_view>
#include <utility>

#include "cache/row_ref.h"

namespace cairn {

// Keeps the value for as long as the RowRef exists.
inline RowRef KeepRow(rocksdb::PinnableSlice&& value) {
  struct Holder : RowRef::Holder {
    explicit Holder(rocksdb::PinnableSlice&& value) : slice(std::move(value)) {}
    rocksdb::PinnableSlice slice;
  };
  auto holder = std::make_unique<Holder>(std::move(value));
  const std::string_view bytes(holder->slice.data(), holder->slice.size());
  return RowRef(std::move(holder), bytes);
}

}  // namespace cairn
