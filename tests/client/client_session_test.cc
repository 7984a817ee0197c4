// SPDX-License-Identifier: BSD-3-Clause
//
// Messages that other threads push to a client: invalidations of CLIENT TRACKING, and the memory that they count.
#include "client/client_session.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "client/client_memory.h"
#include "client/monitors.h"
#include "client/pubsub.h"
#include "client/tracking.h"
#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

class Waker : public ConnectionWaker {
 public:
  void Wake() override {}
};

class ClientSessions : public DispatcherFixture {
 protected:
  void SetUp() override {
    DispatcherFixture::SetUp();
    tracking_.set_store(store());
  }

  std::shared_ptr<ClientSession> Connect() {
    auto client = std::make_shared<ClientSession>(clients_.NextId(), parts_, ConnectionOrigin(), waker_);
    EXPECT_TRUE(clients_.Add(client, 100));
    return client;
  }
  static std::string TakePushed(ClientSession& client) {
    std::string pushed;
    client.TakePushed(pushed);
    return pushed;
  }
  static Notification Of(NotificationKind kind, std::string key, const ClientSession& source) {
    return {kind, std::move(key), {}, source.id()};
  }

  Settings settings_{};
  std::atomic<int64_t> pubsub_default_{1};
  Users users_{Catalogue({}, {}), pubsub_default_};
  ClientRegistry clients_;
  ClientMemory memory_{clients_, settings_};
  PubSub pubsub_;
  Tracking tracking_{clients_};
  Monitors monitors_;
  ClientSession::Parts parts_{settings_,   limits_, users_,    clients_,  memory_,
                              dispatcher_, pubsub_, tracking_, monitors_, [](ClientSession&) {}};
  std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
};

// Another thread may have found the target of a redirection just before it closed.
TEST_F(ClientSessions, AMessageToAClosedClientCountsNoMemory) {
  const std::shared_ptr<ClientSession> client = Connect();
  client->Push("message");
  EXPECT_GT(memory_.counted(), 0u);
  client->OnClosed();
  EXPECT_EQ(0u, memory_.counted());
  client->Push("late message");
  EXPECT_EQ(0u, memory_.counted());
}

TEST_F(ClientSessions, AReadAfterTheLastChangeOfATickKeepsTheKeyRemembered) {
  const std::shared_ptr<ClientSession> reader = Connect(), writer = Connect();
  reader->shown.protocol = 3;
  tracking_.TurnOn(*reader, {});
  const std::vector<std::string_view> keys = {"k", "j"};
  tracking_.Remember(*reader, keys);
  const auto changed = NotificationKind::kKeyChanged, read = NotificationKind::kKeyRead;
  const Notification tick[] = {Of(read, "j", *reader), Of(changed, "k", *writer), Of(changed, "j", *writer),
                               Of(read, "k", *writer), Of(changed, "k", *writer), Of(read, "k", *reader)};
  tracking_.Deliver(tick);
  EXPECT_EQ(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nj\r\n", TakePushed(*reader));
  EXPECT_EQ(1u, tracking_.totals().keys);
  tracking_.Deliver({tick, 2});
  EXPECT_EQ(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n", TakePushed(*reader));
  EXPECT_EQ(0u, tracking_.totals().items);
  reader->OnClosed();
}

// The client of a new pair has no older copy, and needs no message about changes before its read.
TEST_F(ClientSessions, RememberReturnsTheKeysThatWereNotRemembered) {
  const std::shared_ptr<ClientSession> reader = Connect(), other = Connect();
  tracking_.TurnOn(*reader, {});
  using Keys = std::vector<std::string_view>;
  EXPECT_EQ(Keys({"k", "j"}), tracking_.Remember(*reader, Keys({"k", "j", "k"})));
  EXPECT_EQ(Keys({"i"}), tracking_.Remember(*reader, Keys({"j", "i"})));
  EXPECT_EQ(Keys({"k"}), tracking_.Remember(*other, Keys({"k"})));
  reader->OnClosed();
}

// Each change compared with all later notifications of its tick would take half a minute. With NOLOOP the client gets
// no messages about its own changes, and stays remembered.
TEST_F(ClientSessions, ATickMayReadAndChangeManyKeysOfTrackingClients) {
  const std::shared_ptr<ClientSession> client = Connect();
  tracking_.TurnOn(*client, {.no_loop = true});
  std::vector<std::string> names;
  std::vector<Notification> tick;
  for (int i = 0; i < 150'000; ++i) names.push_back("k" + std::to_string(i));
  for (const std::string& name : names) tick.push_back(Of(NotificationKind::kKeyRead, name, *client));
  for (const std::string& name : names) tick.push_back(Of(NotificationKind::kKeyChanged, name, *client));
  tracking_.Remember(*client, std::vector<std::string_view>(names.begin(), names.end()));
  EXPECT_EQ(names.size(), tracking_.totals().items);
  const int64_t start_us = MonotonicUs();
  tracking_.Deliver(tick);
  EXPECT_LT(MonotonicUs() - start_us, 5'000'000);
  EXPECT_EQ(names.size(), tracking_.totals().items);
  client->OnClosed();
}

}  // namespace
}  // namespace cairn
