// SPDX-License-Identifier: BSD-3-Clause
//
// ClientSession: the session (command/) of a connected client (net/).
//
// Thread: the connection's current lane; Wake and the atomics of Session may be used by any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.h"
#include "base/mutex.h"
#include "command/session.h"
#include "config/settings.h"
#include "net/service.h"

namespace cairn {

class ClientMemory;
class ClientRegistry;
class Dispatcher;
class Monitors;
class PubSub;
class Tracking;
class Users;
struct Limits;

// The part of a replica's state that its connection changes; replication/replicas.h adds the rest.
struct ReplicaClient {
  Event changed;  // bytes were sent, or another part of the state changed; wakes the thread that sends to it
};

class ClientSession : public Session, public Client {
 public:
  struct Parts {
    const Settings& settings;
    const Limits& limits;
    Users& users;
    ClientRegistry& clients;
    ClientMemory& memory;
    Dispatcher& dispatcher;
    PubSub& pubsub;
    Tracking& tracking;
    Monitors& monitors;
    std::function<void(ClientSession&)> on_closed;  // drops its replica and its WAIT
  };

  // `parts` outlives the session.
  ClientSession(uint64_t id, const Parts& parts, const ConnectionOrigin& origin,
                std::shared_ptr<ConnectionWaker> waker);

  void Wake() override;
  std::vector<std::string_view> RememberReads(std::span<const std::string_view> keys) override;
  // Queues whole messages that are sent to the client between its replies. A client that exceeds its output limit is
  // closed. Any thread; must not wait.
  void Push(std::string_view messages);

  RequestLimits request_limits() const override;
  int64_t deadline_us() const override;
  Wish TakeWish() override;
  void TakePushed(std::string& out) override;
  bool ExceedsOutputLimit(uint64_t unsent_bytes, int64_t now_us) override;
  uint64_t most_unsent_bytes() const override;
  // Counts a reply while it grows, so the client may be evicted because of it.
  bool MayHold(uint64_t bytes) override;
  bool ExceedsQueryLimit(uint64_t pending_bytes) override;
  bool IsIdleTooLong(int64_t now_us) const override;
  Pushed pushed() const override {
    if (!is_replica.load(std::memory_order_relaxed)) return Pushed::kMessages;
    return takes_stream.load(std::memory_order_relaxed) ? Pushed::kStream : Pushed::kDataset;
  }
  bool IsLoginOverdue(int64_t now_us, bool in_handshake) const override;
  void NoteBuffers(const BufferUse& use) override;
  void OnClosed() override;

  // Counts that the client is disconnected for client-output-buffer-limit. Any thread.
  void CountOverOutputLimit();
  // The number of bytes that wait to be sent. Any thread.
  uint64_t unsent_bytes();

  // Whether a replica has received its first transfer, or needed none. Written by its thread "replica-<id>".
  std::atomic<bool> takes_stream{false};
  // The client's Replica (replication/replicas.h); null: it has sent no command of a replica. Other threads than
  // the connection's read it under mutex().
  std::shared_ptr<ReplicaClient> replica;

  // Subscriptions that CancelLostShardChannels of PubSub has cancelled. PubSub guards the names; the worker drops them
  // before the next request.
  std::vector<std::string> cancelled_channels;
  std::atomic<bool> has_cancelled_channels{false};

 private:
  ClientClass output_class() const;
  // Closes the client for client-output-buffer-limit, unless it is closing already.
  void CloseOverOutputLimit(uint64_t bytes);
  void NoteOverOutputLimit(uint64_t bytes);

  const Parts& parts_;
  const std::shared_ptr<ConnectionWaker> waker_;
  std::atomic<bool> woken_{false};
  int64_t soft_limit_since_us_ = 0;  // when the output exceeded the soft limit; 0: it does not
  Mutex pushed_mutex_;               // a leaf, but for what Wake takes
  std::string pushed_ ABSL_GUARDED_BY(pushed_mutex_);
  std::atomic<bool> has_pushed_{false};
};

}  // namespace cairn
