// SPDX-License-Identifier: BSD-3-Clause
//
// Asks a running server for the facts of cairn-doctor: INFO, CONFIG, LATENCY, SLOWLOG and HOTKEYS, and the machine if
// the server runs on this one. Nothing is changed.
//
// Thread: main; waits.
#pragma once

#include <string>

#include "base/result.h"
#include "doctor/facts.h"

namespace cairn {

struct Login {
  std::string user;
  std::string password;  // empty: no AUTH
};

// Replies to commands other than INFO may be errors, of a user without their permission; their facts are missing then.
Result<Facts> ReadFacts(const std::string& host, int port, const Login& login);

}  // namespace cairn
