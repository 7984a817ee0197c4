// SPDX-License-Identifier: BSD-3-Clause
#include "script/library_rows.h"

#include "base/clock.h"

namespace cairn {

RowKey MakeLibraryRow(std::string_view name) {
  RowKey row = MakeMetaRow(kLibraryRowPrefix);
  row.append(name);
  return row;
}

Result<std::vector<std::string>> ReadLibraryRows(Transaction& txn) {
  std::string end(kLibraryRowPrefix);
  ++end.back();
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  std::vector<std::string> codes;
  Cursor cursor = txn.Scan(MakeLibraryRow({}), MakeMetaRow(end));
  for (; cursor.Valid(); cursor.Next()) codes.emplace_back(cursor.value());
  TRY(cursor.TakeStatus());
  TRY(txn.FinishCommand());
  return codes;
}

}  // namespace cairn
