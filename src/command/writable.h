// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a client may change data at all, whatever it may do by its user's rules. Thread: the session's worker.
#pragma once

#include "base/result.h"
#include "command/conditions.h"
#include "command/session.h"
#include "storage/store.h"

namespace cairn {

// The error is the client's reply.
inline Status CheckWritable(const Session& session, const Store& store, const Conditions& conditions) {
  if (conditions.Has(kTooFewReplicas)) return Status::Reply("NOREPLICAS Not enough good replicas to write.");
  if (session.read_only_port || conditions.Has(kReadOnlyReplica)) {
    return Status::Reply("READONLY You can't write against a read only replica.");
  }
  if (!store.writable()) return Status::Reply("MISCONF Errors writing to the AOF file: " + store.write_error());
  return Ok();
}

}  // namespace cairn
