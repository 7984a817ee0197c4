// SPDX-License-Identifier: BSD-3-Clause
#include "server/saving.h"

#include "base/clock.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {

Status SaveEverything(Server& server) {
  SaveState& saves = server.saves();
  const uint64_t changes_before = server.store().counters().changes.load();
  ++saves.running;
  Status status = server.store().SyncLog();
  if (status.ok()) status = server.store().Flush();
  --saves.running;
  saves.last_ok = status.ok();
  if (status.ok()) {
    saves.last_unix_s = WallMs() / 1000;
    saves.changes_before = changes_before;
    ++saves.count;
  }
  return status;
}

}  // namespace cairn
