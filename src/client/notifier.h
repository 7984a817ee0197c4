// SPDX-License-Identifier: BSD-3-Clause
//
// Notifier: delivers the notifications of a transaction after its commit: messages to subscribers, changed keys to
// tracking clients, expire times to WritableReplicaExpires.
//
// Thread: any; it has no state.
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

  // REQUIRES: the transaction is committed.
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
