// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "simulation/model.h"

namespace cairn::simulation {
namespace {

using Member = std::pair<double, std::string>;

std::vector<Member> InOrder(const Zset* zset) {
  std::vector<Member> members;
  if (zset != nullptr) {
    for (const auto& [member, score] : *zset) members.emplace_back(score, member);
  }
  std::sort(members.begin(), members.end());
  return members;
}

Reply ToReply(const std::vector<Member>& members, bool with_scores) {
  std::vector<Reply> items;
  for (const auto& [score, member] : members) {
    items.push_back(Bulk(member));
    if (with_scores) items.push_back(Bulk(FromDouble(score)));
  }
  return Array(std::move(items));
}

bool IsInScores(double score, const std::string& least, const std::string& most) {
  const bool above = least.starts_with("(") ? score > ToDouble(least) : score >= ToDouble(least);
  const bool below = most.starts_with("(") ? score < ToDouble(most) : score <= ToDouble(most);
  return above && below;
}

// ZADD key [NX|XX] [GT|LT] [CH] [INCR] score member ...
Reply ZAdd(Model& model, const Words& argv) {
  size_t first = 2;
  bool nx = false, xx = false, gt = false, lt = false, ch = false, incr = false;
  for (;; ++first) {
    const std::string& word = argv[first];
    if (word == "NX") nx = true;
    else if (word == "XX") xx = true;
    else if (word == "GT") gt = true;
    else if (word == "LT") lt = true;
    else if (word == "CH") ch = true;
    else if (word == "INCR") incr = true;
    else break;
  }
  for (size_t i = first; i + 1 < argv.size(); i += 2) ToDouble(argv[i]);
  Zset& zset = model.Edit<Zset>(argv[1]);
  int64_t added = 0, changed = 0;
  Reply result = Nil();
  for (size_t i = first; i + 1 < argv.size(); i += 2) {
    const auto old = zset.find(argv[i + 1]);
    double score = ToDouble(argv[i]);
    if (old == zset.end()) {
      if (xx) continue;
      zset[argv[i + 1]] = score;
      ++added;
    } else {
      if (incr) score += old->second;
      if (std::isnan(score)) throw CommandFailed{"ERR not a number"};
      if (nx || (gt && score <= old->second) || (lt && score >= old->second)) continue;
      changed += score != old->second ? 1 : 0;
      old->second = score;
    }
    if (incr) result = Bulk(FromDouble(score));
  }
  return incr ? result : Integer(ch ? added + changed : added);
}

Reply ZIncrBy(Model& model, const Words& argv) {
  const double more = ToDouble(argv[2]);
  Zset& zset = model.Edit<Zset>(argv[1]);
  const double score = zset[argv[3]] + more;
  if (std::isnan(score)) throw CommandFailed{"ERR not a number"};
  zset[argv[3]] = score;
  return Bulk(FromDouble(score));
}

Reply ZScore(Model& model, const Words& argv) {
  const Zset* const zset = model.Get<Zset>(argv[1]);
  if (zset == nullptr || !zset->contains(argv[2])) return Nil();
  return Bulk(FromDouble(zset->at(argv[2])));
}

Reply ZRem(Model& model, const Words& argv) {
  if (model.Get<Zset>(argv[1]) == nullptr) return Integer(0);
  Zset& zset = model.Edit<Zset>(argv[1]);
  int64_t removed = 0;
  for (size_t i = 2; i < argv.size(); ++i) removed += static_cast<int64_t>(zset.erase(argv[i]));
  return Integer(removed);
}

Reply ZCard(Model& model, const Words& argv) {
  const Zset* const zset = model.Get<Zset>(argv[1]);
  return Integer(zset == nullptr ? 0 : static_cast<int64_t>(zset->size()));
}

Reply Rank(Model& model, const Words& argv) {
  std::vector<Member> members = InOrder(model.Get<Zset>(argv[1]));
  if (argv[0] == "ZREVRANK") std::reverse(members.begin(), members.end());
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].second == argv[2]) return Integer(static_cast<int64_t>(i));
  }
  return Nil();
}

// ZRANGE key start stop [BYSCORE] [REV] [LIMIT offset count] [WITHSCORES]
Reply ZRange(Model& model, const Words& argv) {
  std::vector<Member> members = InOrder(model.Get<Zset>(argv[1]));
  const bool backwards = HasOption(argv, 4, "REV");
  if (backwards) std::reverse(members.begin(), members.end());
  if (HasOption(argv, 4, "BYSCORE")) {
    const std::string& least = argv[backwards ? 3 : 2];
    const std::string& most = argv[backwards ? 2 : 3];
    std::erase_if(members, [&](const Member& member) { return !IsInScores(member.first, least, most); });
  } else {
    const auto [first, last] = ToRange(ToInt(argv[2]), ToInt(argv[3]), members.size());
    members = {members.begin() + static_cast<int64_t>(first), members.begin() + static_cast<int64_t>(last)};
  }
  if (const size_t at = FindOption(argv, 4, "LIMIT")) {
    const size_t offset = std::min(members.size(), static_cast<size_t>(ToInt(argv[at + 1])));
    members.erase(members.begin(), members.begin() + static_cast<int64_t>(offset));
    members.resize(std::min(members.size(), static_cast<size_t>(ToInt(argv[at + 2]))));
  }
  return ToReply(members, HasOption(argv, 4, "WITHSCORES"));
}

Reply ZCount(Model& model, const Words& argv) {
  ToDouble(argv[2]), ToDouble(argv[3]);
  std::vector<Member> members = InOrder(model.Get<Zset>(argv[1]));
  return Integer(std::count_if(members.begin(), members.end(),
                               [&](const Member& member) { return IsInScores(member.first, argv[2], argv[3]); }));
}

Reply ZRemRange(Model& model, const Words& argv) {
  const std::vector<Member> members = InOrder(model.Get<Zset>(argv[1]));
  if (members.empty()) return Integer(0);
  const bool by_rank = argv[0] == "ZREMRANGEBYRANK";
  const auto [first, last] =
      by_rank ? ToRange(ToInt(argv[2]), ToInt(argv[3]), members.size()) : std::pair<size_t, size_t>{0, 0};
  Zset& zset = model.Edit<Zset>(argv[1]);
  const size_t before = zset.size();
  for (size_t i = 0; i < members.size(); ++i) {
    const bool goes = by_rank ? i >= first && i < last : IsInScores(members[i].first, argv[2], argv[3]);
    if (goes) zset.erase(members[i].second);
  }
  return Integer(static_cast<int64_t>(before - zset.size()));
}

Reply ZPop(Model& model, const Words& argv) {
  std::vector<Member> members = InOrder(model.Get<Zset>(argv[1]));
  if (members.empty()) return Array({});
  if (argv[0] == "ZPOPMAX") std::reverse(members.begin(), members.end());
  members.resize(std::min(members.size(), static_cast<size_t>(ToInt(argv[2]))));
  Zset& zset = model.Edit<Zset>(argv[1]);
  for (const auto& [score, member] : members) zset.erase(member);
  return ToReply(members, true);
}

// A set counts as a sorted set whose scores are 1.
Zset ToZset(const Model& model, const std::string& key) {
  const Entry* const entry = model.Find(key);
  const Set* const set = entry == nullptr ? nullptr : std::get_if<Set>(entry->value.get());
  Zset zset;
  if (set == nullptr) {
    if (const Zset* const found = model.Get<Zset>(key)) zset = *found;
  } else {
    for (const std::string& member : *set) zset[member] = 1;
  }
  return zset;
}

// ZUNIONSTORE and ZINTERSTORE target 2 first second
Reply ZStore(Model& model, const Words& argv) {
  const bool is_union = argv[0] == "ZUNIONSTORE";
  const Zset a = ToZset(model, argv[3]);
  const Zset b = ToZset(model, argv[4]);
  Zset result;
  for (const auto& [member, score] : a) {
    if (b.contains(member)) {
      const double sum = score + b.at(member);
      result[member] = std::isnan(sum) ? 0 : sum;
    } else if (is_union) {
      result[member] = score;
    }
  }
  if (is_union) result.insert(b.begin(), b.end());
  const auto size = static_cast<int64_t>(result.size());
  model.Put<Zset>(argv[1], std::move(result));
  return Integer(size);
}

}  // namespace

void AddZsetCommands(CommandFunctions& commands) {
  commands.insert({{"ZADD", ZAdd},
                   {"ZINCRBY", ZIncrBy},
                   {"ZSCORE", ZScore},
                   {"ZREM", ZRem},
                   {"ZCARD", ZCard},
                   {"ZRANK", Rank},
                   {"ZREVRANK", Rank},
                   {"ZRANGE", ZRange},
                   {"ZCOUNT", ZCount},
                   {"ZREMRANGEBYRANK", ZRemRange},
                   {"ZREMRANGEBYSCORE", ZRemRange},
                   {"ZPOPMIN", ZPop},
                   {"ZPOPMAX", ZPop},
                   {"ZUNIONSTORE", ZStore},
                   {"ZINTERSTORE", ZStore}});
}

}  // namespace cairn::simulation
