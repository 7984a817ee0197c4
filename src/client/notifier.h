// SPDX-License-Identifier: BSD-3-Clause
//
// Notifier: passes on what a transaction has announced, once it is committed: messages to subscribers, changed keys to
// clients that keep copies, times to live to a writable replica's own expiries.
//
// Thread: any; it has no state of its own.
#pragma once

#include "client/pubsub.h"
#include "client/tracking.h"
#include "client/writable_replica_expires.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {

class Notifier {
 public:
  Notifier(PubSub& pubsub, Tracking& tracking, WritableReplicaExpires& writable_replica_expires)
      : pubsub_(pubsub), tracking_(tracking), writable_replica_expires_(writable_replica_expires) {}

  // REQUIRES: what the transaction has announced is committed.
  void Deliver(Transaction& txn) const {
    if (txn.notifications().empty()) return;
    const auto notifications = txn.notifications().Take();
    pubsub_.Deliver(notifications);
    const InterestMask interest = txn.store().interests().wanted();
    if (interest & kInterestInKeys) tracking_.Deliver(notifications);
    if (interest & kInterestInExpiries) writable_replica_expires_.Note(notifications);
  }

 private:
  PubSub& pubsub_;
  Tracking& tracking_;
  WritableReplicaExpires& writable_replica_expires_;
};

}  // namespace cairn
