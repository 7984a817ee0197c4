// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "simulation/model.h"

namespace cairn::simulation {
namespace {

Reply Del(Model& model, const Words& argv) {
  int64_t removed = 0;
  for (size_t i = 1; i < argv.size(); ++i) removed += model.Remove(argv[i]) ? 1 : 0;
  return Integer(removed);
}

Reply Exists(Model& model, const Words& argv) {
  int64_t found = 0;
  for (size_t i = 1; i < argv.size(); ++i) found += model.Find(argv[i]) != nullptr ? 1 : 0;
  return Integer(found);
}

Reply Type(Model& model, const Words& argv) {
  static constexpr const char* kNames[] = {"string", "hash", "list", "set", "zset", "stream"};
  const Entry* const entry = model.Find(argv[1]);
  return Simple(entry == nullptr ? "none" : kNames[entry->value->index()]);
}

Reply RenameTo(Model& model, const Words& argv, bool only_new) {
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr) throw CommandFailed{"ERR no such key"};
  if (only_new && model.Find(argv[2]) != nullptr) return Integer(0);
  const Entry moved = *entry;
  model.Remove(argv[1]);
  model.PutEntry(model.db, argv[2], moved);
  return only_new ? Integer(1) : Simple("OK");
}
Reply Rename(Model& model, const Words& argv) { return RenameTo(model, argv, false); }
Reply RenameNx(Model& model, const Words& argv) { return RenameTo(model, argv, true); }

// COPY source target [DB n] [REPLACE]
Reply Copy(Model& model, const Words& argv) {
  const size_t at = FindOption(argv, 3, "DB");
  const int to_db = at == 0 ? model.db : static_cast<int>(ToInt(argv[at + 1]));
  if (to_db == model.db && argv[1] == argv[2]) throw CommandFailed{"ERR same"};
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr) return Integer(0);
  if (!HasOption(argv, 3, "REPLACE") && model.FindIn(to_db, argv[2]) != nullptr) return Integer(0);
  const Entry copied = *entry;
  model.PutEntry(to_db, argv[2], copied);
  return Integer(1);
}

Reply Move(Model& model, const Words& argv) {
  const int to_db = static_cast<int>(ToInt(argv[2]));
  if (to_db == model.db) throw CommandFailed{"ERR same"};
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr || model.FindIn(to_db, argv[1]) != nullptr) return Integer(0);
  const Entry moved = *entry;
  model.Remove(argv[1]);
  model.PutEntry(to_db, argv[1], moved);
  return Integer(1);
}

Reply ExpireAt(Model& model, const Words& argv, int64_t when_ms) {
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr) return Integer(0);
  const int64_t old_ms = entry->expire_ms;
  if (HasOption(argv, 3, "NX") && old_ms != 0) return Integer(0);
  if (HasOption(argv, 3, "XX") && old_ms == 0) return Integer(0);
  if (HasOption(argv, 3, "GT") && (old_ms == 0 || when_ms <= old_ms)) return Integer(0);
  if (HasOption(argv, 3, "LT") && old_ms != 0 && when_ms >= old_ms) return Integer(0);
  if (when_ms <= model.now_ms) {
    model.Remove(argv[1]);
  } else {
    model.SetExpiry(argv[1], when_ms);
  }
  return Integer(1);
}
Reply Expire(Model& model, const Words& argv) { return ExpireAt(model, argv, model.now_ms + ToInt(argv[2]) * 1000); }
Reply PExpire(Model& model, const Words& argv) { return ExpireAt(model, argv, model.now_ms + ToInt(argv[2])); }
Reply PExpireAt(Model& model, const Words& argv) { return ExpireAt(model, argv, ToInt(argv[2])); }

Reply Persist(Model& model, const Words& argv) {
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr || entry->expire_ms == 0) return Integer(0);
  model.SetExpiry(argv[1], 0);
  return Integer(1);
}

Reply PTtl(Model& model, const Words& argv) {
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr) return Integer(-2);
  return Integer(entry->expire_ms == 0 ? -1 : entry->expire_ms - model.now_ms);
}

Reply PExpireTime(Model& model, const Words& argv) {
  const Entry* const entry = model.Find(argv[1]);
  if (entry == nullptr) return Integer(-2);
  return Integer(entry->expire_ms == 0 ? -1 : entry->expire_ms);
}

Reply FlushDb(Model& model, const Words&) {
  model.Flush(model.db);
  return Simple("OK");
}
Reply FlushAll(Model& model, const Words&) {
  model.Flush(std::nullopt);
  return Simple("OK");
}

Reply SwapDb(Model& model, const Words& argv) {
  model.SwapDatabases(static_cast<int>(ToInt(argv[1])), static_cast<int>(ToInt(argv[2])));
  return Simple("OK");
}

// Only with the pattern that all keys match.
Reply ListKeys(Model& model, const Words&) {
  std::vector<Reply> names;
  for (const auto& [name, entry] : model.keys()) {
    if (name.db == model.db) names.push_back(Bulk(name.key));
  }
  return Unordered(std::move(names));
}

}  // namespace

void AddKeyCommands(CommandFunctions& commands) {
  commands.insert({{"DEL", Del},
                   {"UNLINK", Del},
                   {"EXISTS", Exists},
                   {"TYPE", Type},
                   {"RENAME", Rename},
                   {"RENAMENX", RenameNx},
                   {"COPY", Copy},
                   {"MOVE", Move},
                   {"EXPIRE", Expire},
                   {"PEXPIRE", PExpire},
                   {"PEXPIREAT", PExpireAt},
                   {"PERSIST", Persist},
                   {"PTTL", PTtl},
                   {"PEXPIRETIME", PExpireTime},
                   {"FLUSHDB", FlushDb},
                   {"FLUSHALL", FlushAll},
                   {"SWAPDB", SwapDb},
                   {"KEYS", ListKeys}});
}

}  // namespace cairn::simulation
