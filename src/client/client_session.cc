// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_session.h"

#include <algorithm>

#include "acl/users.h"
#include "base/clock.h"
#include "base/log.h"
#include "client/client_memory.h"
#include "client/client_registry.h"
#include "client/monitors.h"
#include "client/pubsub.h"
#include "client/tracking.h"
#include "command/dispatch.h"

namespace cairn {
namespace {

// The limit for a client that has not authenticated: enough for some errors.
constexpr int64_t kMostUnsentBeforeLogin = 1024;
// A client with this many unread bytes of replies must read half of them before its next request runs. The limit is
// this part of maxmemory-clients, within these bounds. The buffer can be twice as large as its contents.
constexpr uint64_t kUnsentPart = 16;
constexpr uint64_t kLeastUnsentBound = 1 << 20;
constexpr uint64_t kUnsentBound = 16 << 20;

}  // namespace

ClientSession::ClientSession(uint64_t id, const Parts& parts, const ConnectionOrigin& origin,
                             std::shared_ptr<ConnectionWaker> waker)
    : Session(id), parts_(parts), waker_(std::move(waker)) {
  socket.peer = origin.peer;
  socket.local = origin.local;
  socket.fd = origin.fd;
  socket.read_only = origin.read_only;
  socket.tls = origin.tls != nullptr;
  login.account = parts.users.default_user();
  login.authenticated = login.account->is_open();
  activity.created_us = activity.last_active_us = MonotonicUs();
}

void ClientSession::Wake() {
  woken_ = true;
  waker_->Wake();
}

std::vector<std::string_view> ClientSession::RememberReads(std::span<const std::string_view> keys) {
  return parts_.tracking.Remember(*this, keys);
}

RequestLimits ClientSession::request_limits() const {
  return {parts_.limits.proto_max_bulk_len.load(std::memory_order_relaxed), login.is_let_in()};
}

int64_t ClientSession::deadline_us() const {
  if (blocking.command == nullptr) return paused_until_us.load(std::memory_order_relaxed);
  return blocking.command->next_run_us();
}

Client::Wish ClientSession::TakeWish() {
  switch (close.load()) {
    case CloseRequest::kNow: return Wish::kCloseNow;
    case CloseRequest::kAfterReply: return Wish::kCloseAfterReply;
    case CloseRequest::kNone: break;
  }
  return woken_.exchange(false) ? Wish::kResume : Wish::kNone;
}

ClientClass ClientSession::output_class() const {
  if (is_replica) return ClientClass::kReplica;
  return is_subscriber() ? ClientClass::kPubsub : ClientClass::kNormal;
}

void ClientSession::Push(std::string_view messages) {
  uint64_t over_limit = 0;  // the bytes that wait, if they are too many
  {
    const MutexLock lock(pushed_mutex_);
    if (close.load(std::memory_order_relaxed) == CloseRequest::kNow) return;
    const bool was_empty = pushed_.empty();
    pushed_.append(messages);
    const int64_t hard = parts_.settings.hard_output_limit(output_class());
    const uint64_t waiting = pushed_.size() + memory.output_bytes.load(std::memory_order_relaxed);
    if (hard > 0 && static_cast<int64_t>(waiting) >= hard) {
      if (close.exchange(CloseRequest::kNow) != CloseRequest::kNow) over_limit = waiting;
      std::string().swap(pushed_);
    }
    has_pushed_.store(!pushed_.empty(), std::memory_order_release);
    memory.pushed_capacity.store(pushed_.capacity(), std::memory_order_relaxed);
    if (was_empty || pushed_.empty()) waker_->Wake();
  }
  if (over_limit > 0) NoteOverOutputLimit(over_limit);
  parts_.memory.Count(*this);
}

uint64_t ClientSession::unsent_bytes() {
  const MutexLock lock(pushed_mutex_);
  return pushed_.size() + memory.output_bytes.load(std::memory_order_relaxed);
}

void ClientSession::TakePushed(std::string& out) {
  if (!has_pushed_.load(std::memory_order_acquire)) return;
  const MutexLock lock(pushed_mutex_);
  out.append(pushed_);
  // Counted before the bytes move, so that unsent_bytes() never misses them.
  memory.output_bytes.fetch_add(pushed_.size(), std::memory_order_relaxed);
  std::string().swap(pushed_);
  memory.pushed_capacity.store(0, std::memory_order_relaxed);
  has_pushed_.store(false, std::memory_order_relaxed);
}

uint64_t ClientSession::most_unsent_bytes() const {
  if (!login.is_let_in()) return static_cast<uint64_t>(kMostUnsentBeforeLogin);
  const uint64_t all_clients = no_evict ? 0 : parts_.memory.limit();
  return all_clients == 0 ? kUnsentBound : std::clamp(all_clients / kUnsentPart, kLeastUnsentBound, kUnsentBound);
}

// The hard limit applies to unsent bytes, but up to half of the buffer may have been sent already.
bool ClientSession::MayHold(uint64_t bytes) {
  memory.output_capacity.store(bytes, std::memory_order_relaxed);
  parts_.memory.Count(*this);
  const int64_t hard = parts_.settings.hard_output_limit(output_class());
  if (hard > 0 && static_cast<int64_t>(bytes / 2) > hard) CloseOverOutputLimit(bytes);
  return close.load(std::memory_order_relaxed) != CloseRequest::kNow;
}

void ClientSession::CloseOverOutputLimit(uint64_t bytes) {
  if (close.exchange(CloseRequest::kNow) != CloseRequest::kNow) NoteOverOutputLimit(bytes);
}

void ClientSession::NoteOverOutputLimit(uint64_t bytes) {
  CountOverOutputLimit();
  Log(LogSeverity::kWarning,
      "Client id={} addr={} is disconnected: {} bytes of replies and messages exceed client-output-buffer-limit", id(),
      socket.peer, bytes);
}

void ClientSession::CountOverOutputLimit() {
  parts_.memory.over_limit().output_buffer.fetch_add(1, std::memory_order_relaxed);
}

bool ClientSession::ExceedsOutputLimit(uint64_t unsent_bytes, int64_t now_us) {
  const OutputLimit& limit = parts_.settings.output_limits[static_cast<int>(output_class())];
  const auto bytes = static_cast<int64_t>(unsent_bytes);
  if (bytes > kMostUnsentBeforeLogin && !login.is_let_in()) return true;
  const int64_t hard = parts_.settings.hard_output_limit(output_class());
  if (hard > 0 && bytes >= hard) {
    CloseOverOutputLimit(unsent_bytes);
    return true;
  }
  const int64_t soft = limit.soft_bytes.load(std::memory_order_relaxed);
  if (soft == 0 || bytes < soft) {
    soft_limit_since_us_ = 0;
    return false;
  }
  if (soft_limit_since_us_ == 0) soft_limit_since_us_ = now_us;
  if (now_us - soft_limit_since_us_ <= limit.soft_seconds.load(std::memory_order_relaxed) * 1000000) return false;
  CloseOverOutputLimit(unsent_bytes);
  return true;
}

bool ClientSession::ExceedsQueryLimit(uint64_t pending_bytes) {
  const int64_t limit = parts_.settings.client_query_buffer_limit.load(std::memory_order_relaxed);
  if (static_cast<int64_t>(pending_bytes) <= limit) return close.load(std::memory_order_relaxed) == CloseRequest::kNow;
  parts_.memory.over_limit().query_buffer.fetch_add(1, std::memory_order_relaxed);
  Log(LogSeverity::kWarning, "Closing client that reached max query buffer length: id={} addr={} qbuf={}", id(),
      socket.peer, pending_bytes);
  return true;
}

bool ClientSession::IsIdleTooLong(int64_t now_us) const {
  const int64_t timeout_s = parts_.settings.timeout_s.load(std::memory_order_relaxed);
  if (is_subscriber() || is_monitor || is_replica) return false;
  return timeout_s > 0 && now_us - activity.last_active_us.load(std::memory_order_relaxed) > timeout_s * 1000000;
}

bool ClientSession::IsLoginOverdue(int64_t now_us, bool in_handshake) const {
  if (login.is_let_in() && !in_handshake) return false;
  const int64_t timeout_s = parts_.settings.auth_timeout_s.load(std::memory_order_relaxed);
  return timeout_s > 0 && now_us - activity.created_us.load(std::memory_order_relaxed) > timeout_s * 1000000;
}

void ClientSession::NoteBuffers(const BufferUse& use) {
  memory.query_buffer_bytes.store(use.unread_bytes, std::memory_order_relaxed);
  memory.argument_bytes.store(use.argument_bytes, std::memory_order_relaxed);
  memory.query_buffer_capacity.store(use.query_capacity, std::memory_order_relaxed);
  memory.output_bytes.store(use.unsent_bytes, std::memory_order_relaxed);
  if (is_replica.load(std::memory_order_acquire)) replica->changed.Notify();  // `replica` was set before is_replica
  memory.output_capacity.store(use.output_capacity, std::memory_order_relaxed);
  memory.tls_bytes.store(use.tls_bytes, std::memory_order_relaxed);
  parts_.memory.Count(*this);
  const bool is_stranger = use.in_handshake || !login.is_let_in();
  if (is_stranger || memory.stranger_bytes.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    const uint64_t bytes = use.query_capacity + use.output_capacity + use.tls_bytes;
    parts_.memory.CountStranger(*this, is_stranger ? bytes : 0);
  }
}

// `close` is set first: a message that another thread pushes while the client is being forgotten counts no memory. The
// locks under which messages are pushed (pub/sub, tracking, MONITOR) are taken before the memory is forgotten.
void ClientSession::OnClosed() {
  close = CloseRequest::kNow;
  parts_.dispatcher.Forget(*this);
  parts_.pubsub.Forget(*this);
  parts_.tracking.TurnOff(*this);
  parts_.monitors.Remove(*this);
  parts_.on_closed(*this);
  parts_.clients.Remove(id());
  parts_.memory.Forget(*this);
}

}  // namespace cairn
