// SPDX-License-Identifier: BSD-3-Clause
#include "script/library_store.h"

#include "base/clock.h"
#include "encoding/row_key.h"
#include "script/flags.h"

namespace cairn {
namespace {

constexpr std::string_view kRowPrefix = "function/";

RowKey MakeLibraryRow(std::string_view name) {
  RowKey row = MakeMetaRow(kRowPrefix);
  row.append(name);
  return row;
}

}  // namespace

Result<std::vector<std::string>> ReadLibraryRows(Transaction& txn) {
  std::string end(kRowPrefix);
  ++end.back();
  txn.BeginCommand(Lane::kSlow, WallMs(), false);
  std::vector<std::string> codes;
  Cursor cursor = txn.Scan(MakeLibraryRow({}), MakeMetaRow(end));
  for (; cursor.Valid(); cursor.Next()) codes.emplace_back(cursor.value());
  Status status = cursor.TakeStatus();
  txn.AbandonCommand();  // the cursor reads a snapshot, so later changes do not matter
  TRY(std::move(status));
  return codes;
}

Status LockLibraries(Transaction& txn) {
  const uint32_t stripe = MakeLibraryRow({}).stripe();
  return txn.Lock({&stripe, 1});
}

std::shared_ptr<const Libraries> LibrariesOf(Scripting& scripting, Transaction& txn) {
  if (const auto& pending = txn.on_commit().pending()) return std::static_pointer_cast<const Libraries>(pending);
  return scripting.libraries();
}

void ChangeLibraries(Scripting& scripting, Transaction& txn, const Libraries& before,
                     std::shared_ptr<const Libraries> next) {
  for (const auto& [name, library] : before.all()) {
    if (next->Find(name) == nullptr) txn.Delete(MakeLibraryRow(name));
  }
  for (const auto& [name, library] : next->all()) {
    const auto* old = before.Find(name);
    if (old == nullptr || *old != library) txn.Put(MakeLibraryRow(name), library->code);
  }
  txn.on_commit().SetPending(next, [&scripting, next] { scripting.Adopt(next); });
}

Result<std::shared_ptr<const Library>> CompileLibrary(Scripting& scripting, std::string_view code, bool is_bounded) {
  LibraryHead head = TRY(ReadLibraryHead(code));
  auto library = std::make_shared<Library>();
  library->id = scripting.NewLibraryId();
  library->name = std::move(head.name);
  library->code = code;
  library->head_size = head.size;
  Scripting::Lease vm = scripting.Borrow();
  TRY(vm->LoadLibrary(*library, *scripting.libraries(), is_bounded));
  if (library->functions.empty()) return Status::Reply("ERR No functions registered");
  return std::shared_ptr<const Library>(std::move(library));
}

Status RestoreLibraries(Scripting& scripting, Transaction& txn, const std::vector<std::string>& codes,
                        RestorePolicy policy, bool is_bounded) {
  Libraries restored;  // the new libraries must not conflict with each other
  size_t bytes = 0;
  for (const std::string& code : codes) {
    const LibraryHead head = TRY(ReadLibraryHead(code));
    if (restored.Find(head.name) != nullptr) {
      return Status::Reply("ERR Library '" + head.name + "' already exists");
    }
    std::shared_ptr<const Library> library = TRY(CompileLibrary(scripting, code, is_bounded));
    bytes += library->bytes();
    if (is_bounded && bytes > scripting.most_library_bytes()) return Status::Reply(kLibrariesTooLarge);
    TRY(restored.Add(std::move(library)));
  }
  const auto before = LibrariesOf(scripting, txn);
  auto next = policy == RestorePolicy::kFlush ? std::make_shared<Libraries>() : std::make_shared<Libraries>(*before);
  for (const auto& [name, library] : restored.all()) {
    if (policy == RestorePolicy::kAppend && before->Find(name) != nullptr) {
      return Status::Reply("ERR Library " + name + " already exists");
    }
    next->Remove(name);
  }
  for (const auto& [name, library] : restored.all()) TRY(next->Add(library));
  if (is_bounded) TRY(scripting.CheckRoom(*next));
  ChangeLibraries(scripting, txn, *before, std::move(next));
  return Ok();
}

}  // namespace cairn
