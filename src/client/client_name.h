// SPDX-License-Identifier: BSD-3-Clause
//
// Rules for a client's name: printable ASCII without spaces, so that CLIENT LIST stays a table. Thread: any.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "command/session.h"

namespace cairn {

inline bool IsCleanName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Returns the client's error if the name is not clean.
inline Status CheckClientName(std::string_view name) {
  if (IsCleanName(name)) return Ok();
  return Status::Reply("ERR Client names cannot contain spaces, newlines or special characters.");
}

// CLIENT SETNAME; an empty name removes the name.
inline Status SetClientName(Session& session, std::string_view name) {
  TRY(CheckClientName(name));
  const MutexLock lock(session.mutex());
  session.memory.listed_bytes += name.size() - session.names.name.size();
  session.names.name = name;
  return Ok();
}

}  // namespace cairn
