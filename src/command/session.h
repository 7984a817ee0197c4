// SPDX-License-Identifier: BSD-3-Clause
//
// Session: the state of one client between commands.
//
// One worker at a time uses a session, the one that runs its commands. Other threads (CLIENT LIST, CLIENT KILL, the
// cron) access it only through the client registry: they may read the atomics below, and the strings under mutex().
//
// Not here: the socket and its buffers (net/connection.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "acl/denial.h"
#include "acl/users.h"
#include "base/mutex.h"
#include "command/subscriptions.h"
#include "resp/reply.h"

namespace cairn {

enum class ReplyMode : unsigned char { kOn, kOff, kSkipNext, kSkipping };

// How to close the client. Any thread sets it; the connection's own thread acts on it.
enum class CloseRequest : unsigned char { kNone, kAfterReply, kNow };

// Why a blocked client must continue without its key (CLIENT UNBLOCK).
enum class UnblockRequest : unsigned char { kNone, kTimeout, kError, kDemoted };

class Command;

// A command queued by MULTI.
struct QueuedCommand {
  const Command* command;
  std::vector<std::string> argv;
  int next_db = 0;   // the database in which the command after it runs
  Denial denial;     // set by EXEC if the rules have changed since
  int64_t usec = 0;  // the duration of EXEC's run of it
  size_t reply_bytes = 0;
  std::string error;  // its reply, if that was an error
};

// The state of MULTI, EXEC and WATCH.
struct MultiState {
  bool active = false;
  bool aborted = false;  // a command could not be queued, so EXEC will fail
  bool ran = false;      // EXEC has run the queue
  std::vector<QueuedCommand> queue;
  uint64_t bytes = 0;  // the size of the queue
};

// The modes set by CLIENT TRACKING and CLIENT CACHING.
struct TrackingMode {
  bool on = false;
  bool broadcast = false;
  bool opt_in = false;
  bool opt_out = false;
  bool no_loop = false;
  bool caching = false;  // CLIENT CACHING preceded the next command

  // Whether to remember the keys of the next read.
  bool remembers() const { return !broadcast && !(opt_in && !caching) && !(opt_out && caching); }
};
enum ShownTracking : uint32_t { kShowsTracking = 1, kShowsBroadcast = 2, kShowsBrokenRedirect = 4 };

// A key under WATCH, and its expiry time, because expiry is not a commit. Waiters notes commits that change the key.
struct WatchedKey {
  int db = 0;
  std::string key;
  uint32_t stripe = 0;
  int64_t expire_ms = -1;  // of the live key; -1: no expiry, or no key

  bool operator<(const WatchedKey& other) const { return std::tie(db, key) < std::tie(other.db, other.key); }
};

// A command that waits for one of its keys (BLPOP and its family).
struct BlockedCommand {
  std::vector<std::string> argv;
  const Command* command = nullptr;
  int64_t deadline_us = 0;   // monotonic; 0: none
  int64_t run_again_us = 0;  // monotonic; 0: only when a key changes
  bool timed_out = false;    // kAnswersTimeout: rerun the command for its reply
  // When to resume the client even if no key changes; 0: never.
  int64_t next_run_us() const {
    if (deadline_us == 0 || run_again_us == 0) return std::max(deadline_us, run_again_us);
    return std::min(deadline_us, run_again_us);
  }
  uint64_t bytes() const;  // its size, including its entries in the queues of its keys
};

// The command that blocks the client. The worker sets it; other threads see whether the client is blocked, and may
// request its end.
struct Blocking {
  std::unique_ptr<BlockedCommand> command;
  std::atomic<bool> is_blocked{false};
  std::atomic<UnblockRequest> unblock{UnblockRequest::kNone};
};

// The keys under WATCH. Any thread that changes one of them sets `broken`, and EXEC then fails.
struct Watch {
  std::set<WatchedKey> keys;
  std::atomic<bool> broken{false};
};

// Whether a script runs the session's commands, and the Unix time that it sees during its whole run.
struct RunningScript {
  bool runs = false;
  bool began_in_pause = false;  // writes were paused when the client's command began (kPausesExpiry)
  int64_t time_us = 0;          // 0: no script runs
};

// The client's address; not changed after Accept.
struct ClientSocket {
  std::string peer;  // "127.0.0.1:50000" or "/path/sock:0"
  std::string local;
  int fd = -1;
  bool read_only = false;  // the port allows no writes
  bool tls = false;
};

// The names that a client set by CLIENT SETNAME and CLIENT SETINFO.
struct ClientNames {
  std::string name;
  std::string lib_name;
  std::string lib_version;
};

// The client's user. The session's worker changes it, and reads it without a lock; other threads read `account` under
// Session::mutex().
class Login {
 public:
  bool authenticated = true;
  std::shared_ptr<AclUser> account;  // null: no authentication applies

  std::string_view user_name() const { return account == nullptr ? kDefaultUser : account->name(); }
  // The account's rules, valid until the next call. REQUIRES: there is an account; the session's worker.
  const UserRules& rules() { return held_rules_.Of(*account); }
  // Authenticated, or the default user needs no password.
  bool is_let_in() const { return authenticated || (account != nullptr && account->is_open()); }

 private:
  HeldRules held_rules_;
};

// Copies for other threads of what only the session's worker may read. The worker keeps them up to date.
struct ShownState {
  std::atomic<int> protocol{2};                          // the protocol for messages that others push
  std::atomic<uint32_t> subscriptions[kChannelKinds]{};  // by ChannelKind
  std::atomic<int> queued{-1};                           // commands queued by MULTI; -1: no MULTI is open
  std::atomic<uint32_t> tracking{0};                     // ShownTracking
  std::atomic<int64_t> redirect{-1};                     // receives the invalidations; 0: itself, -1: off
};

// Whether a replica or a node of a cluster redirects the client.
struct Redirection {
  std::atomic<bool> is_followed{false};  // CLIENT CAPA REDIRECT
  bool reads_replica = false;            // READONLY: a replica serves its reads all the same
  bool asks = false;                     // ASKING: the next command is served in a slot that is being imported
};

// When the client connected, its last activity, and its traffic. One thread at a time counts the traffic.
struct ClientActivity {
  std::atomic<int64_t> created_us{0};       // monotonic
  std::atomic<int64_t> last_active_us{0};   // monotonic
  std::atomic<uint32_t> last_command{~0u};  // Command::index()
  std::atomic<uint64_t> commands{0};
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> written_bytes{0};

  // Without a locked instruction, because the counter has one writer.
  static void Count(std::atomic<uint64_t>& counter, uint64_t more) {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

// The memory of a client, by its parts (client/client_memory.h). Each part has one writer at a time.
struct ClientBytes {
  std::atomic<uint64_t> query_buffer_bytes{0};
  std::atomic<uint64_t> argument_bytes{0};  // of the request being read
  std::atomic<uint64_t> query_buffer_capacity{0};
  std::atomic<uint64_t> output_bytes{0};
  std::atomic<uint64_t> output_capacity{0};
  std::atomic<uint64_t> pushed_capacity{0};  // of messages pushed by others
  std::atomic<uint64_t> queued_bytes{0};     // of MultiState
  std::atomic<uint64_t> listed_bytes{0};     // keys under WATCH, subscriptions, prefixes: ListedBytes of each
  std::atomic<uint64_t> tls_bytes{0};
  std::atomic<uint64_t> stranger_bytes{0};  // of the client while it has not authenticated
  std::atomic<uint64_t> counted_bytes{0};   // Session::memory_bytes() at the last check

  uint64_t allocated() const {
    return query_buffer_capacity + output_capacity + pushed_capacity + queued_bytes + listed_bytes + tls_bytes;
  }
};

class Session : public ReplyRoom {
 public:
  explicit Session(uint64_t id) : id_(id) {}
  // Sets no limit by itself.
  bool MayHold(uint64_t) override { return true; }

  uint64_t id() const { return id_; }

  // ---- used by the worker that runs the session's commands
  int protocol = 2;
  ReplyMode reply_mode = ReplyMode::kOn;
  MultiState multi;
  // Must be called after `multi` has changed.
  void ShowQueued() {
    shown.queued = multi.active ? static_cast<int>(multi.queue.size()) : -1;
    memory.queued_bytes.store(multi.bytes, std::memory_order_relaxed);
  }
  Subscriptions subscriptions;
  TrackingMode tracking;
  RunningScript script;
  bool is_primary = false;  // a primary's stream: its commands run in any state of the server
  // In RESP2 a subscriber may send only a few commands, because a reply could not be distinguished from a message.
  bool only_listens() const { return protocol == 2 && !subscriptions.empty(); }

  // ---- readable by any thread
  std::atomic<int> db{0};
  ShownState shown;
  bool is_subscriber() const;
  std::atomic<bool> is_monitor{false};  // MONITOR
  std::atomic<bool> is_replica{false};  // PSYNC
  std::atomic<bool> no_touch{false};    // CLIENT NO-TOUCH, NO-EVICT
  std::atomic<bool> no_evict{false};
  Redirection redirection;
  ClientActivity activity;
  ClientBytes memory;
  // The client's total memory.
  uint64_t memory_bytes() const;
  // The size of a name kept for a client: in its own list and in the table that is searched by name.
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
  std::atomic<int64_t> paused_until_us{0};  // CLIENT PAUSE delays its request, monotonic; 0: no

  // Guards the strings.
  Mutex& mutex() ABSL_LOCK_RETURNED(mutex_) { return mutex_; }
  ClientNames names ABSL_GUARDED_BY(mutex_);
  Login login;
  ClientSocket socket;

  void set_account(std::shared_ptr<AclUser> user) {
    const MutexLock lock(mutex_);
    login.account.swap(user);
  }

  // Wakes the thread that owns the connection. It checks `close` and `blocking.unblock` and reruns a blocked command.
  // Any thread; must not wait.
  virtual void Wake() {}
  // Ends the wait of a blocked command. Any thread.
  void Unblock(UnblockRequest why) {
    blocking.unblock = why;
    Wake();
  }
  // The client is about to read these keys and may cache their values (CLIENT TRACKING). Returns the keys that were not
  // remembered before.
  virtual std::vector<std::string_view> RememberReads(std::span<const std::string_view>) { return {}; }

 private:
  const uint64_t id_;
  Mutex mutex_;
};

inline uint64_t BlockedCommand::bytes() const {
  constexpr uint64_t kPerArgument = 256;
  uint64_t sum = 0;
  for (const std::string& argument : argv) sum += 2 * argument.size() + kPerArgument;
  return sum;
}

inline uint64_t Session::memory_bytes() const {
  constexpr uint64_t kOwnBytes = sizeof(Session) + 1024;  // including the connection's
  return kOwnBytes + memory.allocated();
}

inline bool Session::is_subscriber() const {
  for (const std::atomic<uint32_t>& count : shown.subscriptions) {
    if (count.load(std::memory_order_relaxed) > 0) return true;
  }
  return false;
}

}  // namespace cairn
