// SPDX-License-Identifier: BSD-3-Clause
//
// The type row of Top-K sketches (types/topk.h). In RDB a sketch has a type number of Cairn's own (types/sketch_rdb.h).
#include "types/sketch_row.h"
#include "types/topk.h"

namespace cairn {

const ValueType kTopKType = SketchRow<TopK, TopK::TakeState, RdbType::kCairnTopK>::Row(Type::kTopK, "TopK-TYPE");

}  // namespace cairn
