// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/model.h"

namespace cairn::simulation {
namespace {

const HashField* FindField(const Model& model, const Words& argv, size_t at) {
  const Hash* const hash = model.Get<Hash>(argv[1]);
  if (hash == nullptr) return nullptr;
  const auto found = hash->find(argv[at]);
  return found == hash->end() ? nullptr : &found->second;
}

Reply HSet(Model& model, const Words& argv) {
  Hash& hash = model.Edit<Hash>(argv[1]);
  int64_t added = 0;
  for (size_t i = 2; i + 1 < argv.size(); i += 2)
    added += hash.insert_or_assign(argv[i], HashField{argv[i + 1]}).second;
  return Integer(added);
}

Reply HSetNx(Model& model, const Words& argv) {
  if (FindField(model, argv, 2) != nullptr) return Integer(0);
  model.Edit<Hash>(argv[1])[argv[2]] = {argv[3]};
  return Integer(1);
}

Reply HGet(Model& model, const Words& argv) {
  const HashField* const field = FindField(model, argv, 2);
  return field == nullptr ? Nil() : Bulk(field->value);
}

Reply HMGet(Model& model, const Words& argv) {
  std::vector<Reply> values;
  model.Get<Hash>(argv[1]);
  for (size_t i = 2; i < argv.size(); ++i) {
    const HashField* const field = FindField(model, argv, i);
    values.push_back(field == nullptr ? Nil() : Bulk(field->value));
  }
  return Array(std::move(values));
}

Reply HDel(Model& model, const Words& argv) {
  if (model.Get<Hash>(argv[1]) == nullptr) return Integer(0);
  Hash& hash = model.Edit<Hash>(argv[1]);
  int64_t removed = 0;
  for (size_t i = 2; i < argv.size(); ++i) removed += static_cast<int64_t>(hash.erase(argv[i]));
  return Integer(removed);
}

Reply HExists(Model& model, const Words& argv) { return Integer(FindField(model, argv, 2) != nullptr ? 1 : 0); }

Reply HIncrBy(Model& model, const Words& argv) {
  const HashField* const old = FindField(model, argv, 2);
  int64_t sum = 0;
  if (__builtin_add_overflow(old == nullptr ? 0 : ToInt(old->value), ToInt(argv[3]), &sum)) {
    throw CommandFailed{"ERR overflow"};
  }
  model.Edit<Hash>(argv[1])[argv[2]].value = std::to_string(sum);
  return Integer(sum);
}

Reply HGetAll(Model& model, const Words& argv) {
  std::vector<Reply> items;
  if (const Hash* const hash = model.Get<Hash>(argv[1])) {
    for (const auto& [name, field] : *hash) {
      items.push_back(Bulk(name));
      items.push_back(Bulk(field.value));
    }
  }
  return Unordered(std::move(items), 2);
}

Reply HLen(Model& model, const Words& argv) {
  const Hash* const hash = model.Get<Hash>(argv[1]);
  return Integer(hash == nullptr ? 0 : static_cast<int64_t>(hash->size()));
}

// HPEXPIRE key ms FIELDS 1 field
Reply HPExpire(Model& model, const Words& argv) {
  const HashField* const field = FindField(model, argv, 5);
  if (field == nullptr) return Array({Integer(-2)});
  const int64_t ms = ToInt(argv[2]);
  if (ms == 0) {
    model.Edit<Hash>(argv[1]).erase(argv[5]);
    return Array({Integer(2)});
  }
  model.Edit<Hash>(argv[1])[argv[5]].expire_ms = model.now_ms + ms;
  return Array({Integer(1)});
}

// HPERSIST key FIELDS 1 field
Reply HPersist(Model& model, const Words& argv) {
  const HashField* const field = FindField(model, argv, 4);
  if (field == nullptr) return Array({Integer(-2)});
  if (field->expire_ms == 0) return Array({Integer(-1)});
  model.Edit<Hash>(argv[1])[argv[4]].expire_ms = 0;
  return Array({Integer(1)});
}

}  // namespace

void AddHashCommands(CommandFunctions& commands) {
  commands.insert({{"HSET", HSet},
                   {"HSETNX", HSetNx},
                   {"HGET", HGet},
                   {"HMGET", HMGet},
                   {"HDEL", HDel},
                   {"HEXISTS", HExists},
                   {"HINCRBY", HIncrBy},
                   {"HGETALL", HGetAll},
                   {"HLEN", HLen},
                   {"HPEXPIRE", HPExpire},
                   {"HPERSIST", HPersist}});
}

}  // namespace cairn::simulation
