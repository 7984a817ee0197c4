// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/unserved_slots.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "client/client_registry.h"
#include "client/notifier.h"
#include "storage/refused_writes.h"
#include "storage/store_fixture.h"
#include "storage/stripes.h"

namespace cairn {
namespace {

const UnservedSlots::Host kMasterWithoutSlots = {
    .is_served = [](int) { return false; }, .is_master = [] { return true; }, .settle = [] { return Ok(); }};

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
  UnservedSlots unserved(store(), notifier_, kMasterWithoutSlots);
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

// A promotion deletes what the former master had not deleted. The keys of an import that begins at that moment stay.
TEST_F(UnservedSlotsTest, AnImportThatBeginsDuringAPromotionIsNotDeleted) {
  UnservedSlots unserved(store(), notifier_, kMasterWithoutSlots);
  SlotSet left;
  left.Add(KeySlot("left"));
  SlotSet imported;
  imported.Add(KeySlot("imported"));
  PutKey("left");
  PutKey("imported");
  ASSERT_TRUE(unserved.Hide("left", left, false).ok());
  const std::vector<std::string> names = unserved.Names();
  ASSERT_TRUE(unserved.Hide("import", imported, false).ok());
  unserved.DropEach(names);
  std::promise<void> ended;
  unserved.Drop("left", [&] { ended.set_value(); });
  unserved.Start();
  ended.get_future().wait();
  EXPECT_FALSE(unserved.Hides(KeySlot("left")));
  EXPECT_TRUE(unserved.Hides(KeySlot("imported")));
  EXPECT_EQ(Count(), 1);
}

// A move that fails because its note cannot be written may begin again. Its first name must not keep the keys.
TEST_F(UnservedSlotsTest, ANameThatCannotBeNotedHidesNothing) {
  UnservedSlots unserved(store(), notifier_, kMasterWithoutSlots);
  SlotSet slots;
  slots.Add(KeySlot("key"));
  PutKey("key");
  RefuseWrites(store());
  EXPECT_FALSE(unserved.Hide("first", slots, false).ok());
  AcceptWrites(store());
  EXPECT_FALSE(unserved.Hides(KeySlot("key")));
  EXPECT_FALSE(store().staging().hidden_slots().any());

  ASSERT_TRUE(unserved.Hide("second", slots, false).ok());
  std::promise<void> ended;
  unserved.Drop("second", [&] { ended.set_value(); });
  unserved.Start();
  ended.get_future().wait();
  EXPECT_EQ(Count(), 0);
}

// As at a start, nodes.conf decides which of them the node serves.
TEST_F(UnservedSlotsTest, AProgramWithoutAServerReadsThem) {
  UnservedSlots unserved(store(), notifier_, kMasterWithoutSlots);
  const std::string path = dir() + "/nodes.conf";
  std::ofstream(path) << std::string(40, '1') << " 127.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-99\n"
                      << "vars currentEpoch 1 lastVoteEpoch 0\n";
  EXPECT_TRUE(ReadUnservedSlots(store(), path)->empty());
  SlotSet slots;
  for (const int slot : {50, 99, 100, 200}) slots.Add(slot);
  ASSERT_TRUE(unserved.Hide(std::string(40, 'a'), slots, false).ok());
  const auto found = ReadUnservedSlots(store(), path);
  ASSERT_TRUE(found.ok()) << found.status().text();
  EXPECT_EQ(found->Ranges(), (std::vector<SlotRange>{{100, 100}, {200, 200}}));
  EXPECT_TRUE(ReadUnservedSlots(store(), dir() + "/missing.conf")->empty());
}

// The warm-up of the key cache may have read a row before its deletion. It must not insert the row afterwards, so the
// stripe's version changes as in a commit.
TEST_F(UnservedSlotsTest, ADeletionChangesTheVersionsOfTheStripes) {
  UnservedSlots unserved(store(), notifier_, kMasterWithoutSlots);
  SlotSet slots;
  slots.Add(KeySlot("key"));
  PutKey("key");
  ASSERT_TRUE(unserved.Hide("move", slots, false).ok());
  const uint64_t before = store().stripes().Version(StripeOf("key"));
  ASSERT_TRUE(*unserved.DropNow(slots));
  const uint64_t after = store().stripes().Version(StripeOf("key"));
  EXPECT_GT(after, before);
  EXPECT_FALSE(Stripes::IsCommitting(after));
  PutKey("key");  // the stripe is not locked any more
  EXPECT_EQ(Count(), 1);
}

// A change of the routes locks drop_mutex on the thread of the bus. If that waited for a slow command, the bus would
// not answer PINGs, and other nodes would mark this one as failed.
TEST_F(UnservedSlotsTest, ADeletionThatWaitsForAKeyLetsTheRoutesChange) {
  SlotSet slots;
  slots.Add(KeySlot("key"));
  for (const uint32_t stripe : {uint32_t{0}, StripeOf("key")}) {
    std::atomic<bool> has_begun = false;
    UnservedSlots unserved(store(), notifier_,
                           {.is_served = [](int) { return false; },
                            .is_master = [&] { return has_begun = true; },
                            .settle = [] { return Ok(); }});
    PutKey("key");
    ASSERT_TRUE(unserved.Hide("move", slots, false).ok());
    Begin();
    ASSERT_TRUE(txn().Lock({&stripe, 1}).ok());  // as a slow command does
    auto deletion = std::async(std::launch::async, [&] { return *unserved.DropNow(slots); });
    while (!has_begun) std::this_thread::yield();
    while (stripe != 0 && Count() > 0) std::this_thread::yield();  // then it waits to erase the cached row
    auto change = std::async(std::launch::async, [&] { const MutexLock lock(unserved.drop_mutex()); });
    EXPECT_EQ(change.wait_for(std::chrono::seconds(5)), std::future_status::ready) << "stripe " << stripe;
    txn().AbandonCommand();
    txn().Discard();
    EXPECT_TRUE(deletion.get());
    EXPECT_EQ(Count(), 0);
  }
}

}  // namespace
}  // namespace cairn
