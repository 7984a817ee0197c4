// SPDX-License-Identifier: BSD-3-Clause
//
// Asks a running server for the facts of cairn-doctor: INFO, CONFIG, LATENCY, SLOWLOG and HOTKEYS, and the machine if
// the server runs on this one. Nothing is changed.
//
// Thread: main; waits.
#pragma once

#include "base/result.h"
#include "doctor/facts.h"
#include "replication/redis_client.h"

namespace cairn {

// The user of the address logs in, if it has a password, after a look at what a client without one may do. Replies to
// commands other than INFO may be errors, of a user without their permission; their facts are missing then.
Result<Facts> ReadFacts(const RedisClient::Address& address);

}  // namespace cairn
