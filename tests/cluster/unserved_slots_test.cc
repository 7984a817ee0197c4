// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/unserved_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "base/hash.h"
#include "client/client_registry.h"
#include "client/notifier.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

class UnservedSlotsTest : public StoreFixture {
 protected:
  void PutKey(const std::string& name) {
    txn().BeginCommand(Lane::kSlow, 0, false);
    Keyspace keyspace(txn(), 0, limits_);
    const Key key = keyspace.Name(name);
    Lock(key);
    const auto entry = keyspace.Find(key);
    ASSERT_TRUE(entry.ok());
    ASSERT_TRUE(keyspace.Write(key, *entry, {.type = Type::kString}, "v").ok());
    Finish();
    Commit();
  }
  int64_t Count() {
    Begin();
    return Keyspace(txn(), 0, limits_).Count();
  }

  const Limits limits_;
  ClientRegistry clients_;
  PubSub pubsub_;
  Tracking tracking_{clients_};
  WritableReplicaExpires expires_;
  const Notifier notifier_{pubsub_, tracking_, expires_};
};

// A move that was cancelled may begin again before the keys of the first attempt are deleted.
TEST_F(UnservedSlotsTest, ADeletionThatIsLateLeavesTheNextImportAlone) {
  std::promise<void> imported;
  std::atomic<bool> is_late = true;
  UnservedSlots unserved(store(), notifier_,
                         {.is_served = [](int) { return false; },
                          .is_master = [] { return true; },
                          .settle = [&]() -> Status {
                            if (is_late.exchange(false)) imported.get_future().wait();
                            return Ok();
                          }});
  unserved.Start();
  SlotSet slots;
  slots.Add(KeySlot("key"));
  PutKey("key");
  ASSERT_TRUE(unserved.Hide("first", slots, false).ok());
  std::promise<void> first_ended;
  unserved.Drop("first", [&] { first_ended.set_value(); });
  while (is_late) std::this_thread::yield();  // until the deletion has begun

  ASSERT_TRUE(unserved.Hide("second", slots, false).ok());
  ASSERT_TRUE(*unserved.DropNow(slots));
  EXPECT_EQ(Count(), 0);
  PutKey("key");
  imported.set_value();
  first_ended.get_future().wait();
  EXPECT_EQ(Count(), 1);

  // The second name hides the slot still, and its own deletion leaves nothing.
  std::promise<void> second_ended;
  unserved.Drop("second", [&] { second_ended.set_value(); });
  second_ended.get_future().wait();
  EXPECT_EQ(Count(), 0);
}

// After a restart the slots of all attempts are deleted, whichever of them names a slot.
TEST_F(UnservedSlotsTest, OneOfSeveralNamesDeletesTheKeys) {
  UnservedSlots unserved(
      store(), notifier_,
      {.is_served = [](int) { return false; }, .is_master = [] { return true; }, .settle = [] { return Ok(); }});
  SlotSet slots;
  slots.Add(KeySlot("key"));
  PutKey("key");
  ASSERT_TRUE(unserved.Hide("first", slots, false).ok());
  ASSERT_TRUE(unserved.Hide("second", slots, false).ok());
  unserved.DropAll();
  std::promise<void> ended;
  unserved.Drop("second", [&] { ended.set_value(); });
  unserved.Start();
  ended.get_future().wait();
  EXPECT_EQ(Count(), 0);
  EXPECT_FALSE(store().staging().hidden_slots().any());
}

}  // namespace
}  // namespace cairn
