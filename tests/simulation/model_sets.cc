// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/model.h"

namespace cairn::simulation {
namespace {

Reply SAdd(Model& model, const Words& argv) {
  Set& set = model.Edit<Set>(argv[1]);
  int64_t added = 0;
  for (size_t i = 2; i < argv.size(); ++i) added += set.insert(argv[i]).second ? 1 : 0;
  return Integer(added);
}

Reply SRem(Model& model, const Words& argv) {
  if (model.Get<Set>(argv[1]) == nullptr) return Integer(0);
  Set& set = model.Edit<Set>(argv[1]);
  int64_t removed = 0;
  for (size_t i = 2; i < argv.size(); ++i) removed += static_cast<int64_t>(set.erase(argv[i]));
  return Integer(removed);
}

Reply SMIsMember(Model& model, const Words& argv) {
  const Set* const set = model.Get<Set>(argv[1]);
  std::vector<Reply> replies;
  for (size_t i = 2; i < argv.size(); ++i) replies.push_back(Integer(set != nullptr && set->contains(argv[i]) ? 1 : 0));
  return Array(std::move(replies));
}

Reply SCard(Model& model, const Words& argv) {
  const Set* const set = model.Get<Set>(argv[1]);
  return Integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

Reply AllOf(const Set& set) {
  std::vector<Reply> items;
  for (const std::string& member : set) items.push_back(Bulk(member));
  return Unordered(std::move(items));
}

Reply SMembers(Model& model, const Words& argv) {
  const Set* const set = model.Get<Set>(argv[1]);
  return AllOf(set == nullptr ? Set() : *set);
}

Reply SMove(Model& model, const Words& argv) {
  const Set* const source = model.Get<Set>(argv[1]);
  if (source == nullptr) return Integer(0);
  model.Get<Set>(argv[2]);
  if (!source->contains(argv[3])) return Integer(0);
  if (argv[1] == argv[2]) return Integer(1);
  model.Edit<Set>(argv[1]).erase(argv[3]);
  model.Edit<Set>(argv[2]).insert(argv[3]);
  return Integer(1);
}

// The result of `operation` (the first letter after S: I, U or D) on the sets from `first` on.
Set Combine(const Model& model, const Words& argv, size_t first, char operation) {
  Set result;
  std::vector<Set> sets;
  for (size_t i = first; i < argv.size(); ++i) {
    const Set* const set = model.Get<Set>(argv[i]);
    sets.push_back(set == nullptr ? Set() : *set);
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    if (i == 0 || operation == 'U') {
      result.insert(sets[i].begin(), sets[i].end());
    } else {
      std::erase_if(result, [&](const std::string& member) { return sets[i].contains(member) == (operation == 'D'); });
    }
  }
  return result;
}

Reply Algebra(Model& model, const Words& argv) { return AllOf(Combine(model, argv, 1, argv[0][1])); }

Reply StoreAlgebra(Model& model, const Words& argv) {
  Set result = Combine(model, argv, 2, argv[0][1]);
  const auto size = static_cast<int64_t>(result.size());
  model.Put<Set>(argv[1], std::move(result));
  return Integer(size);
}

// SPOP key count. Follows Cairn's choice if it is one.
Reply SPop(Model& model, const Words& argv) {
  const Set* const set = model.Get<Set>(argv[1]);
  if (set == nullptr) return Unordered({});
  const size_t count = std::min(set->size(), static_cast<size_t>(ToInt(argv[2])));
  Set chosen;
  for (const Reply& item : model.seen->items) chosen.insert(item.text);
  Set& rest = model.Edit<Set>(argv[1]);
  for (const std::string& member : chosen) {
    if (rest.erase(member) == 0) return Failure("MODEL has no member " + member);
  }
  return chosen.size() == count ? AllOf(chosen) : Failure("MODEL expects " + std::to_string(count) + " members");
}

}  // namespace

void AddSetCommands(CommandFunctions& commands) {
  commands.insert({{"SADD", SAdd},
                   {"SREM", SRem},
                   {"SMISMEMBER", SMIsMember},
                   {"SCARD", SCard},
                   {"SMEMBERS", SMembers},
                   {"SMOVE", SMove},
                   {"SINTER", Algebra},
                   {"SUNION", Algebra},
                   {"SDIFF", Algebra},
                   {"SINTERSTORE", StoreAlgebra},
                   {"SUNIONSTORE", StoreAlgebra},
                   {"SDIFFSTORE", StoreAlgebra},
                   {"SPOP", SPop}});
}

}  // namespace cairn::simulation
