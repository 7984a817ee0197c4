// SPDX-License-Identifier: BSD-3-Clause
//
// Announcer: passes on what a transaction has announced, once it is committed: messages to subscribers, changed keys to
// clients that keep copies, times to live to a writable replica's own expiries.
//
// Thread: any; it has no state of its own.
#pragma once

#include "client/own_expiries.h"
#include "client/pubsub.h"
#include "client/tracking.h"
#include "storage/store.h"
#include "storage/transaction.h"

namespace cairn {

class Announcer {
 public:
  Announcer(PubSub& pubsub, Tracking& tracking, OwnExpiries& own_expiries)
      : pubsub_(pubsub), tracking_(tracking), own_expiries_(own_expiries) {}

  // REQUIRES: what the transaction has announced is committed.
  void Deliver(Transaction& txn) const {
    if (txn.announcements().empty()) return;
    const auto announcements = txn.announcements().Take();
    pubsub_.Deliver(announcements);
    const InterestMask interest = txn.store().interests().wanted();
    if (interest & kInterestInKeys) tracking_.Deliver(announcements);
    if (interest & kInterestInExpiries) own_expiries_.Note(announcements);
  }

 private:
  PubSub& pubsub_;
  Tracking& tracking_;
  OwnExpiries& own_expiries_;
};

}  // namespace cairn
