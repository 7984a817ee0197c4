// SPDX-License-Identifier: BSD-3-Clause
#include "server/saving.h"

#include "base/clock.h"
#include "server/server.h"
#include "storage/store.h"

namespace cairn {

Status SaveEverything(Server& server) {
  SaveState& saves = server.saves();
  const uint64_t writes_before = CountWritingCommands(server);
  ++saves.running;
  Status status = server.store().SyncLog();
  if (status.ok()) status = server.store().Flush();
  --saves.running;
  saves.last_ok = status.ok();
  if (status.ok()) {
    saves.last_unix_s = WallMs() / 1000;
    saves.writes_before = writes_before;
    ++saves.count;
  }
  return status;
}

uint64_t CountWritingCommands(Server& server) {
  return server.stats().CallsWith(server.table(), kWrite);
}

}  // namespace cairn
