// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of count-min sketches (types/count_min.h). In RDB a sketch has a type number of Cairn's own
// (types/sketch_rdb.h).
#include "types/count_min.h"
#include "types/sketch_row.h"

namespace cairn {

const ValueType kCountMinType =
    SketchRow<CountMin, CountMin::TakeShape, RdbType::kCairnCountMin>::Row(Type::kCountMin, "CMSk-TYPE");

}  // namespace cairn
