// SPDX-License-Identifier: BSD-3-Clause
#include "command/waiters.h"

#include <algorithm>
#include <iterator>

namespace cairn {

void Waiters::WakeAt(const Queue& queue, std::list<Parked*>::const_iterator place) {
  if (place == queue.parked.end() || (*place)->woken) return;
  (*place)->woken = true;
  (*place)->session->Wake();
}

void Waiters::SetAwaitsTurn(Parked& parked, bool awaits) {
  if (parked.awaits_turn == awaits) return;
  parked.awaits_turn = awaits;
  for (const ParkedKey& key : parked.keys) {
    if (awaits) {
      ++key.queue->awaiting_turn;
    } else {
      --key.queue->awaiting_turn;
    }
  }
}

void Waiters::PassOn(Parked& parked, const std::vector<AwaitedKey>& keys) {
  std::unordered_map<std::string_view, bool> exists;
  for (const AwaitedKey& key : keys) exists.emplace(key.row, key.exists);
  for (ParkedKey& old : parked.keys) {
    const auto now = exists.find(old.row);
    if (now == exists.end()) continue;
    if (now->second || old.exists) WakeAt(*old.queue, std::next(old.place));
    old.exists = now->second;
  }
}

void Waiters::Park(Session& session, const std::vector<AwaitedKey>& keys, bool unblock_on_nokey) {
  const MutexLock lock(mutex_);
  uint64_t arrival = 0;
  const auto known = parked_.find(&session);
  if (known != parked_.end()) {
    Parked& parked = *known->second;
    parked.woken = false;
    const bool has_its_rows = keys.empty() || parked.keys.front().row == keys.front().row;
    if (parked.awaits_turn && has_its_rows) return;
    WakeThoseInTurn(parked);
    PassOn(parked, keys);
    // FLUSHDB and SWAPDB change the rows of a database's keys. The client joins the new queue by its arrival time.
    if (has_its_rows) return;
    arrival = parked.arrival;
    RemoveParked(parked);
    parked_.erase(known);
  }
  auto parked = std::make_unique<Parked>();
  parked->session = &session;
  parked->arrival = arrival != 0 ? arrival : ++arrivals_;
  parked->unblock_on_nokey = unblock_on_nokey;
  for (const AwaitedKey& key : keys) {
    Queue& queue = queues_[key.row];
    auto behind = queue.parked.end();
    while (behind != queue.parked.begin() && (*std::prev(behind))->arrival > parked->arrival) --behind;
    // A key named twice counts once.
    if (behind != queue.parked.begin() && *std::prev(behind) == parked.get()) continue;
    parked->keys.push_back({key, &queue, queue.parked.insert(behind, parked.get())});
    interest_[key.stripe].fetch_add(1);
  }
  session.blocking.is_blocked.store(true);
  parked_.emplace(&session, std::move(parked));
}

void Waiters::Leave(Session& session) {
  const MutexLock lock(mutex_);
  const auto known = parked_.find(&session);
  if (known == parked_.end()) return;
  Parked* const parked = known->second.get();
  // The next client may have been passed over while this one ran again.
  if (parked->woken) {
    for (const ParkedKey& key : parked->keys) WakeAt(*key.queue, std::next(key.place));
  }
  WakeThoseInTurn(*parked);
  RemoveParked(*parked);
  session.blocking.is_blocked.store(false);
  parked_.erase(known);
}

void Waiters::RemoveParked(Parked& parked) {
  SetAwaitsTurn(parked, false);
  for (const ParkedKey& key : parked.keys) {
    key.queue->parked.erase(key.place);
    interest_[key.stripe].fetch_sub(1);
    EraseIfEmpty(key.row);
  }
}

bool Waiters::TakeTurn(const Session& session) {
  const MutexLock lock(mutex_);
  const auto known = parked_.find(&session);
  if (known == parked_.end()) return true;
  Parked& own = *known->second;
  const auto has_yet_to_run = [](const Parked* parked) { return parked->woken || parked->awaits_turn; };
  SetAwaitsTurn(own, std::any_of(own.keys.begin(), own.keys.end(), [&](const ParkedKey& key) {
                  return std::any_of(key.queue->parked.begin(), key.place, has_yet_to_run);
                }));
  return !own.awaits_turn;
}

void Waiters::WakeThoseInTurn(const Parked& done) {
  for (const ParkedKey& key : done.keys) {
    const Queue& queue = *key.queue;
    for (auto place = std::next(key.place); place != queue.parked.end() && queue.awaiting_turn > 0; ++place) {
      Parked* const parked = *place;
      if (!parked->awaits_turn) continue;
      SetAwaitsTurn(*parked, false);
      parked->woken = true;
      parked->session->Wake();
    }
  }
}

size_t Waiters::parked() const {
  const MutexLock lock(mutex_);
  return parked_.size();
}

Waiters::Totals Waiters::totals() const {
  const MutexLock lock(mutex_);
  Totals totals{.watching_clients = watched_.size()};
  for (const auto& [row, queue] : queues_) {
    totals.blocking_keys += !queue.parked.empty();
    totals.watched_keys += !queue.watching.empty();
    totals.blocking_keys_on_nokey += std::any_of(queue.parked.begin(), queue.parked.end(),
                                                 [](const Parked* parked) { return parked->unblock_on_nokey; });
  }
  return totals;
}

void Waiters::EraseIfEmpty(const std::string& row) {
  const auto queue = queues_.find(row);
  if (queue != queues_.end() && queue->second.empty()) queues_.erase(queue);
}

void Waiters::Watch(Session& session, int db, const RowKey& row, bool existed) {
  const MutexLock lock(mutex_);
  auto watched = std::make_unique<Watched>(Watched{&session, db, std::string(row.row()), row.stripe(), existed});
  queues_[watched->row].watching.push_back(watched.get());
  interest_[watched->stripe].fetch_add(1);
  session.memory.listed_bytes += Session::ListedBytes(watched->row);
  watched_[&session].push_back(std::move(watched));
}

void Waiters::Unwatch(Session& session) {
  const MutexLock lock(mutex_);
  if (const auto known = watched_.find(&session); known != watched_.end()) {
    for (const auto& watched : known->second) {
      std::erase(queues_[watched->row].watching, watched.get());
      interest_[watched->stripe].fetch_sub(1);
      EraseIfEmpty(watched->row);
      session.memory.listed_bytes -= Session::ListedBytes(watched->row);
    }
    watched_.erase(known);
  }
  session.watch.keys.clear();
  session.watch.broken.store(false);
}

void Waiters::OnKeyChanged(uint32_t, std::string_view key_row, bool exists) {
  const MutexLock lock(mutex_);
  const auto queue = queues_.find(key_row);
  if (queue == queues_.end()) return;
  for (const Watched* watched : queue->second.watching) {
    if (watched->existed || exists) watched->session->watch.broken.store(true);
  }
  WakeAt(queue->second, queue->second.parked.begin());
}

void Waiters::OnGroupsChanged(std::string_view key_row) {
  const MutexLock lock(mutex_);
  const auto queue = queues_.find(key_row);
  if (queue != queues_.end()) WakeAt(queue->second, queue->second.parked.begin());
}

void Waiters::MoveWatched(Watched& watched, std::string row) {
  std::erase(queues_[watched.row].watching, &watched);
  EraseIfEmpty(watched.row);
  watched.row = std::move(row);
  queues_[watched.row].watching.push_back(&watched);
}

void Waiters::OnKeyspacesChanged(std::span<const KeyspaceId> keyspaces,
                                 const std::function<bool(std::string_view)>& is_live) {
  const MutexLock lock(mutex_);
  for (const auto& [session, keys] : watched_) {
    for (const auto& watched : keys) {
      KeyRowParts parts;
      if (!ParseKeyRow(watched->row, parts) || parts.keyspace == keyspaces[watched->db]) continue;
      std::string row(MakeKeyRow(keyspaces[watched->db], parts.key).row());
      if (watched->existed || is_live(row)) watched->session->watch.broken.store(true);
      MoveWatched(*watched, std::move(row));
    }
  }
  for (auto& [row, queue] : queues_) {
    for (Parked* parked : queue.parked) {
      parked->woken = true;
      parked->session->Wake();
    }
  }
}

}  // namespace cairn
