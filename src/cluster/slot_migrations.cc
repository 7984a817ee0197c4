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
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    if (running_ != nullptr) running_->Stop();
  }
  thread_.Stop();
}

void SlotMigrations::RunExports() {
  while (SlotExport* const next = StartNext()) next->Run();
}

SlotExport* SlotMigrations::StartNext() {
  const MutexLock lock(mutex_);
  running_.reset();
  if (stopping_ || waiting_.empty()) return nullptr;
  running_ = std::make_unique<SlotExport>(export_parts_, std::move(waiting_.front()));
  waiting_.pop_front();
  return running_.get();
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
  for (SlotMigration& each : exports) {
    list_.Add(each);
    waiting_.push_back(std::move(each));
  }
  thread_.Wake();
  return Ok();
}

bool SlotMigrations::CancelAll() {
  const MutexLock lock(mutex_);
  const bool any = !ExportedSlots().empty();
  for (const SlotMigration& each : waiting_) list_.SetState(each.name, migration_state::kCancelled);
  waiting_.clear();
  if (running_ != nullptr) running_->Cancel();
  return any;
}

}  // namespace cairn
