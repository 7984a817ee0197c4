// SPDX-License-Identifier: BSD-3-Clause
//
// Session: what the server remembers of one client between commands.
//
// A session is used by one worker at a time, the one that runs its commands. Other threads (CLIENT LIST, CLIENT
// KILL, the timer) see it through the client registry only: the atomics below may be read by anybody, the
// strings under mutex().
//
// Not here: the socket and its buffers (net/connection.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "acl/denial.h"
#include "acl/users.h"
#include "command/subscriptions.h"
#include "resp/reply.h"

namespace cairn {

enum class ReplyMode : unsigned char { kOn, kOff, kSkipNext, kSkipping };

// How the client is to be closed, set by any thread, acted on by the connection's own.
enum class CloseRequest : unsigned char { kNone, kAfterReply, kNow };

// Why a blocked client is to go on without its key (CLIENT UNBLOCK).
enum class UnblockRequest : unsigned char { kNone, kTimeout, kError, kDemoted };

class Command;

// A command that MULTI has put aside.
struct QueuedCommand {
  const Command* command;
  std::vector<std::string> argv;
  Denial denial;      // found by EXEC, when the rules have changed since
  int64_t usec = 0;   // what EXEC's run of it took
  std::string error;  // what it answered, if that was an error
};

// What MULTI, EXEC and WATCH remember.
struct MultiState {
  bool active = false;
  bool aborted = false;  // a command could not be queued; EXEC will refuse
  bool ran = false;      // EXEC has run the queue
  std::vector<QueuedCommand> queue;
  uint64_t bytes = 0;  // that the queue takes
};

// What CLIENT TRACKING and CLIENT CACHING have said.
struct TrackingMode {
  bool on = false;
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
  bool caching = false;  // CLIENT CACHING was said for the next command

  // Whether the keys of the next read are remembered.
  bool remembers() const { return !broadcast && !(opt_in && !caching) && !(opt_out && caching); }
};
enum ShownTracking : uint32_t { kShowsTracking = 1, kShowsBroadcast = 2, kShowsBrokenRedirect = 4 };

// A key under WATCH, and when it expires, which is no commit. Waiters notes a commit that changes the key.
struct WatchedKey {
  int db = 0;
  std::string key;
  uint32_t stripe = 0;
  int64_t expire_ms = -1;  // of the live key; -1: none, or there was no key

  bool operator<(const WatchedKey& other) const { return std::tie(db, key) < std::tie(other.db, other.key); }
};

// A command that waits for one of its keys (BLPOP and its family).
struct BlockedCommand {
  std::vector<std::string> argv;
  const Command* command = nullptr;
  int64_t deadline_us = 0;  // monotonic; 0: no end
  bool timed_out = false;   // of a command that answers then (kAnswersTimeout)
  uint64_t bytes() const;   // that it takes, with its places in the queues of its keys
};

// The command that the client waits in. The worker has it while it is blocked; other threads see that, and may ask for
// its end.
struct Blocking {
  std::unique_ptr<BlockedCommand> command;
  std::atomic<bool> is_blocked{false};
  std::atomic<UnblockRequest> unblock{UnblockRequest::kNone};
};

// The keys under WATCH. Any thread that changes one of them sets `broken`, and EXEC then refuses.
struct Watch {
  std::set<WatchedKey> keys;
  std::atomic<bool> broken{false};
};

// A script that is running the session's commands, and the Unix time that it sees for its whole run.
struct RunningScript {
  bool runs = false;
  int64_t time_us = 0;  // 0: none runs
};

// Where the client came from; not changed after Accept.
struct ClientSocket {
  std::string peer;  // "127.0.0.1:50000" or "/path/sock:0"
  std::string local;
  int fd = -1;
  bool read_only = false;  // the port refuses writes
};

// What a client has said of itself, by CLIENT SETNAME and CLIENT SETINFO. Guarded by Session::mutex().
struct ClientNames {
  std::string name;
  std::string lib_name;
  std::string lib_version;
};

// Who the client is. Changed by the session's worker, which also reads it without a lock; other threads read `account`
// under Session::mutex().
class Login {
 public:
  bool authenticated = true;
  std::shared_ptr<AclUser> account;  // null where nobody is asked

  std::string_view user_name() const { return account == nullptr ? kDefaultUser : account->name(); }
  // The account's rules, valid until the next call. REQUIRES: there is an account; the session's worker.
  const UserRules& rules() { return held_rules_.Of(*account); }
  // May be served: it has authenticated, or the default user needs no password.
  bool is_let_in() const { return authenticated || (account != nullptr && account->is_open()); }

 private:
  HeldRules held_rules_;
};

// Copies, for other threads, of what only the session's worker may read; the worker keeps them up to date.
struct ShownState {
  std::atomic<int> protocol{2};                          // in which others push messages to it
  std::atomic<uint32_t> subscriptions[kChannelKinds]{};  // by ChannelKind
  std::atomic<int> queued{-1};                           // commands put aside by MULTI; -1: none is open
  std::atomic<uint32_t> tracking{0};                     // ShownTracking
  std::atomic<int64_t> redirect{-1};                     // whom invalidations go to; 0: itself, -1: it does not track
};

// When the client came and what it last did.
struct ClientActivity {
  std::atomic<int64_t> created_us{0};       // monotonic
  std::atomic<int64_t> last_active_us{0};   // monotonic
  std::atomic<uint32_t> last_command{~0u};  // Command::index()
  std::atomic<uint64_t> commands{0};
};

// The memory that a client takes, by its parts (client/client_memory.h). Each part has one writer at a time.
struct ClientBytes {
  std::atomic<uint64_t> query_buffer_bytes{0};
  std::atomic<uint64_t> argument_bytes{0};  // of the request that is being read
  std::atomic<uint64_t> query_buffer_capacity{0};
  std::atomic<uint64_t> output_bytes{0};
  std::atomic<uint64_t> output_capacity{0};
  std::atomic<uint64_t> pushed_capacity{0};  // of what others have sent it
  std::atomic<uint64_t> queued_bytes{0};     // of MultiState
  std::atomic<uint64_t> listed_bytes{0};     // keys under WATCH, subscriptions, prefixes: ListedBytes of each
  std::atomic<uint64_t> tls_bytes{0};
  std::atomic<uint64_t> stranger_bytes{0};  // of those, while it has not authenticated
  std::atomic<uint64_t> counted_bytes{0};   // Session::memory_bytes() as of the last look

  uint64_t allocated() const {
    return query_buffer_capacity + output_capacity + pushed_capacity + queued_bytes + listed_bytes + tls_bytes;
  }
};

class Session : public ReplyRoom {
 public:
  explicit Session(uint64_t id) : id_(id) {}
  // Bounds nothing by itself.
  bool MayHold(uint64_t) override { return true; }

  uint64_t id() const { return id_; }

  // ---- of the worker that runs the session's commands
  int protocol = 2;
  ReplyMode reply_mode = ReplyMode::kOn;
  MultiState multi;
  // To be called after `multi` has changed.
  void ShowQueued() {
    shown.queued = multi.active ? static_cast<int>(multi.queue.size()) : -1;
    memory.queued_bytes.store(multi.bytes, std::memory_order_relaxed);
  }
  Subscriptions subscriptions;
  TrackingMode tracking;
  RunningScript script;
  bool is_primary = false;  // a primary's stream: carried out whatever state the server is in
  // In RESP2 a subscriber may say little else, for a reply could not be told from a message.
  bool only_listens() const { return protocol == 2 && !subscriptions.empty(); }

  // ---- read by anybody
  std::atomic<int> db{0};
  ShownState shown;
  bool is_subscriber() const;
  std::atomic<bool> is_monitor{false};  // MONITOR
  std::atomic<bool> is_replica{false};  // PSYNC
  std::atomic<bool> no_touch{false};    // CLIENT NO-TOUCH, NO-EVICT
  std::atomic<bool> no_evict{false};
  ClientActivity activity;
  ClientBytes memory;
  // All the memory it takes.
  uint64_t memory_bytes() const;
  // What is kept under a name for a client, here and where it is looked up by the name.
  static uint64_t ListedBytes(std::string_view name) { return 2 * name.size() + 192; }
  Blocking blocking;
  Watch watch;
  void Block(std::unique_ptr<BlockedCommand> command) {
    blocking.command = std::move(command);
    memory.listed_bytes += blocking.command->bytes();
  }
  void EndBlock() {
    if (blocking.command != nullptr) memory.listed_bytes -= blocking.command->bytes();
    blocking.command.reset();
  }
  std::atomic<CloseRequest> close{CloseRequest::kNone};
  std::atomic<int64_t> paused_until_us{0};  // CLIENT PAUSE holds its request back, monotonic; 0: not at all

  // Guards the strings.
  std::mutex& mutex() { return mutex_; }
  ClientNames names;
  Login login;
  ClientSocket socket;

  void set_account(std::shared_ptr<AclUser> user) {
    std::lock_guard lock(mutex_);
    login.account.swap(user);
  }

  // Wakes the thread that owns the connection, so that it looks at `close` and `blocking.unblock` and runs a blocked
  // command again. Any thread; must not wait.
  virtual void Wake() {}
  // Lets go of a command that is blocked. Any thread.
  void Unblock(UnblockRequest why) {
    blocking.unblock = why;
    Wake();
  }
  // The client is about to read these keys and may keep what it gets (CLIENT TRACKING).
  virtual void RememberReads(std::span<const std::string_view>) {}

 private:
  const uint64_t id_;
  std::mutex mutex_;
};

inline uint64_t BlockedCommand::bytes() const {
  constexpr uint64_t kPerArgument = 256;
  uint64_t sum = 0;
  for (const std::string& argument : argv) sum += 2 * argument.size() + kPerArgument;
  return sum;
}

inline uint64_t Session::memory_bytes() const {
  constexpr uint64_t kOwnBytes = sizeof(Session) + 1024;  // with the connection's
  return kOwnBytes + memory.allocated();
}

inline bool Session::is_subscriber() const {
  for (const std::atomic<uint32_t>& count : shown.subscriptions) {
    if (count.load(std::memory_order_relaxed) > 0) return true;
  }
  return false;
}

}  // namespace cairn
