// SPDX-License-Identifier: BSD-3-Clause
//
// Two iterators over rows as one, where every key of the second sorts behind every key of the first: the column
// families of a space (storage/engine.h).
//
// Thread: that of its user.
#pragma once

#include <rocksdb/iterator.h>

#include <memory>

namespace cairn {

std::unique_ptr<rocksdb::Iterator> Concatenate(std::unique_ptr<rocksdb::Iterator> first,
                                               std::unique_ptr<rocksdb::Iterator> second);

}  // namespace cairn
