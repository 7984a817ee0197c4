// SPDX-License-Identifier: BSD-3-Clause
//
// Sketches with cells (types/sketch_cells.h) in RDB files, DUMP payloads and digests:
//
//   fields:text n:length, n times: page:length text
//
// The fields are those of the record. The texts are the pages with a byte other than zero, without their zeros at the
// end (docs/format.md, section 5.7). So a large sketch that is nearly empty is small, and is read in pieces.
//
// Thread: that of the transaction.
#pragma once

#include <string_view>

#include "base/result.h"
#include "types/digest.h"
#include "types/rdb_value.h"
#include "types/sketch_cells.h"
#include "types/value_memory.h"

namespace cairn {

inline constexpr uint64_t kLeastSketchPageBytes = 2;  // in a payload

// Writes the type and the value.
Status SaveSketch(RdbType type, std::string_view fields, const SketchCells& cells, RdbWriter& writer);
// Reads a page, once the start of the value has set RdbValue::cells_bytes.
Status ReadSketchPage(RdbReader& reader, RdbValue& value);
// Writes the pages that begin at an item of a value that was read.
Status LoadSketchPages(const RdbValue& value, size_t from, SketchCells& cells);

// Adds the fields and the pages to a digest.
Status MixSketch(std::string_view fields, const SketchCells& cells, Digest& digest);

// ValueType::row_bytes: the rows of a sketch in fragments if it had no zeros. Only a walk could tell how many it has.
Result<uint64_t> SketchRowBytes(Transaction& txn, const Key& key, const KeyEntry& entry, uint64_t samples);

}  // namespace cairn
