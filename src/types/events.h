// SPDX-License-Identifier: BSD-3-Clause
//
// Keyspace events: changes of keys, published to the channels __keyspace@<db>__:<key> and __keyevent@<db>__:<event>.
// The classes are the letters of `notify-keyspace-events`. The store's interest (storage/interest.h) holds the enabled
// classes, so disabled events cost nothing.
//
// An event is added to the transaction and published after its commit, in the order of the changes.
//
// Thread: that of the transaction.
#pragma once

#include <string_view>

#include "storage/transaction.h"

namespace cairn {

enum EventClass : InterestMask {
  kNoEvent = 0,             // of a change without an event; clients that cache the key still hear of it
  kToKeyspace = 1u << 0,    // K: not a class but a kind of channel
  kToKeyevent = 1u << 1,    // E
  kGenericEvent = 1u << 2,  // g
  kStringEvent = 1u << 3,   // $
  kListEvent = 1u << 4,     // l
  kSetEvent = 1u << 5,      // s
  kHashEvent = 1u << 6,     // h
  kZsetEvent = 1u << 7,     // z
  kExpiredEvent = 1u << 8,  // x
  kEvictedEvent = 1u << 9,  // e
  kStreamEvent = 1u << 10,  // t
  kMissEvent = 1u << 11,    // m: a read did not find the key
  kModuleEvent = 1u << 12,  // d
  kNewEvent = 1u << 13,     // n: a new key was created
};

// The classes that `A` enables.
inline constexpr InterestMask kMostEvents = kGenericEvent | kStringEvent | kListEvent | kSetEvent | kHashEvent |
                                            kZsetEvent | kExpiredEvent | kEvictedEvent | kStreamEvent | kModuleEvent;

inline bool WantsEvent(Transaction& txn, EventClass of) { return txn.replicated_commands().interest() & of; }

// REQUIRES: WantsEvent.
void EmitEvent(Transaction& txn, int db, std::string_view event, std::string_view key);

}  // namespace cairn
