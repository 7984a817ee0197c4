// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/slot_migrations.h"

#include <fmt/format.h>

#include <utility>

namespace cairn {

Status CheckNotExported(const SlotSet& exported, const std::vector<SlotRange>& ranges) {
  for (const SlotRange& range : ranges) {
    for (int slot = range.first; slot <= range.last; ++slot) {
      if (exported.Has(slot)) return Status::Reply(fmt::format("ERR I am already migrating slot {}.", slot));
    }
  }
  return Ok();
}

void SlotMigrations::Stop() {
  std::vector<std::unique_ptr<SlotExport>> ending;
  const MutexLock lock(mutex_);
  ending.swap(exports_);
}

SlotSet SlotMigrations::ExportedSlots() const {
  SlotSet slots;
  for (const SlotMigration& each : list_.All()) {
    if (each.is_import || each.has_ended()) continue;
    for (const SlotRange& range : each.ranges) {
      for (int slot = range.first; slot <= range.last; ++slot) slots.Add(slot);
    }
  }
  return slots;
}

Status SlotMigrations::CheckNotMoving(const SlotSet& slots) const {
  TRY(CheckNotExported(ExportedSlots(), slots.Ranges()));
  return imports_.CheckNotImported(slots);
}

Status SlotMigrations::Begin(std::vector<SlotMigration> exports) {
  const MutexLock lock(mutex_);
  for (const SlotMigration& each : exports) TRY(CheckNotMoving(each.slots()));
  std::erase_if(exports_, [](const auto& each) { return each->has_ended(); });
  for (SlotMigration& each : exports) {
    list_.Add(each);
    exports_.push_back(std::make_unique<SlotExport>(export_parts_, std::move(each)));
  }
  return Ok();
}

bool SlotMigrations::CancelAll() {
  const MutexLock lock(mutex_);
  bool any = false;
  for (const auto& each : exports_) {
    if (each->has_ended()) continue;
    each->Cancel();
    any = true;
  }
  return any;
}

}  // namespace cairn
