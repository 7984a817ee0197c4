// SPDX-License-Identifier: BSD-3-Clause
#include "client/client_registry.h"

namespace cairn {

bool ClientRegistry::Add(std::shared_ptr<Session> session, size_t max_clients) {
  const MutexLock lock(mutex_);
  if (sessions_.size() >= max_clients) return false;
  const uint64_t id = session->id();
  return sessions_.emplace(id, std::move(session)).second;
}

void ClientRegistry::Remove(uint64_t id) {
  std::shared_ptr<Session> removed;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  removed = std::move(found->second);
  sessions_.erase(found);
}

std::shared_ptr<Session> ClientRegistry::Find(uint64_t id) const {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Session>> ClientRegistry::All() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Session>> all;
  all.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) all.push_back(session);
  return all;
}

size_t ClientRegistry::size() const {
  const MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace cairn
