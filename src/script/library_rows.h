// SPDX-License-Identifier: BSD-3-Clause
//
// The rows of libraries of functions in the meta space (docs/format.md, section 6, since format 1):
//
//   function/ name    the library's code, as FUNCTION LOAD was given it
//
// Thread: that of the transaction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/row_key.h"
#include "storage/transaction.h"

namespace cairn {

inline constexpr std::string_view kLibraryRowPrefix = "function/";

RowKey MakeLibraryRow(std::string_view name);

// The codes of all libraries. Waits; the transaction must be between two commands.
Result<std::vector<std::string>> ReadLibraryRows(Transaction& txn);

}  // namespace cairn
