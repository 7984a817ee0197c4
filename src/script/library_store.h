// SPDX-License-Identifier: BSD-3-Clause
//
// The libraries of functions as data: rows of the meta space (docs/format.md, section 6, since format 1),
//
//   function/ name    the library's code, as FUNCTION LOAD was given it
//
// and their changes. A change holds the stripe of these rows, so changes are serialized.
//
// Thread: that of the transaction.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "script/libraries.h"
#include "script/scripting.h"
#include "storage/transaction.h"

namespace cairn {

// ---- rows
// Returns the code of every library as the transaction sees it (Transaction::ReadFrom). Blocks; the transaction must be
// between two commands.
Result<std::vector<std::string>> ReadLibraryRows(Transaction& txn);

// ---- of a running server
Status LockLibraries(Transaction& txn);
// The libraries as this transaction sees them.
std::shared_ptr<const Libraries> LibrariesOf(Scripting& scripting, Transaction& txn);
// Makes `next` the set of libraries: for this transaction at once, for others with its commit. REQUIRES: LockLibraries,
// and the slow lane.
void ChangeLibraries(Scripting& scripting, Transaction& txn, const Libraries& before,
                     std::shared_ptr<const Libraries> next);
// Runs a library's code, which registers its functions. The error is the client's reply. `is_bounded`: it has a time
// limit and a memory limit.
Result<std::shared_ptr<const Library>> CompileLibrary(Scripting& scripting, std::string_view code, bool is_bounded);

enum class RestorePolicy : unsigned char { kAppend, kReplace, kFlush };
// Adds libraries to the existing ones: all or none. `is_bounded`: each has the limits of CompileLibrary, and the memory
// limit of libraries applies; false for a data set that was saved or replicated, which must load as it is. The error is
// the client's reply. REQUIRES: as ChangeLibraries.
Status RestoreLibraries(Scripting& scripting, Transaction& txn, const std::vector<std::string>& codes,
                        RestorePolicy policy, bool is_bounded = false);

}  // namespace cairn
