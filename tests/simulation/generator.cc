// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/generator.h"

#include <iterator>

namespace cairn::simulation {
namespace {

// RocksDB appends a log record of this size by several calls.
constexpr uint64_t kManyAppends = 80'000;
constexpr char kTypes[] = {'s', 'h', 'l', 'e', 'z', 'x'};  // the first letters of keys; sets begin with e
constexpr uint64_t kKeysOfType = 4;
constexpr uint64_t kFewMembers = 40;
constexpr uint64_t kManyMembers = 600;  // several leaves of a rank index
constexpr int64_t kLongestTtlMs = 3000;

}  // namespace

Setting Generator::MakeSetting() {
  static constexpr uint64_t kCacheBytes[] = {32 << 10, 256 << 10, 8 << 20};
  Setting setting;
  setting.appendfsync = static_cast<AppendFsync>(Below(3));
  setting.is_small = !OneIn(3);
  setting.key_cache_bytes = kCacheBytes[Below(std::size(kCacheBytes))];
  setting.workers = 1 + Below(3);
  setting.replicas = OneIn(3) ? 0 : 1 + Below(2);
  members_ = setting.members = OneIn(6) ? kManyMembers : kFewMembers;
  return setting;
}

std::vector<Step> Generator::MakeSteps(const Setting& setting, size_t count) {
  std::vector<Step> steps;
  while (steps.size() < count) {
    if (OneIn(100)) {
      AddUnsyncedDrop(setting, steps);
    } else if (OneIn(100)) {
      AddFailedAppend(setting, steps);
    } else {
      steps.push_back(MakeStep(setting));
    }
  }
  steps.resize(count);
  steps.push_back({.kind = StepKind::kCheck});
  steps.push_back({.kind = StepKind::kCheckReplicas});
  return steps;
}

// A power loss after dropped rows have left the disk, and before the drop is synced.
void Generator::AddUnsyncedDrop(const Setting& setting, std::vector<Step>& steps) {
  const size_t worker = Below(setting.workers);
  const Words drop = OneIn(2) ? Words{Pick({"FLUSHDB", "FLUSHALL"})} : Words{"UNLINK", AnyKey(), AnyKey()};
  steps.push_back({.kind = StepKind::kCompact});
  steps.push_back({.worker = worker, .db = static_cast<int>(Below(2)), .commands = {drop}});
  steps.push_back({.kind = StepKind::kCommit, .worker = worker});
  steps.push_back({.kind = OneIn(2) ? StepKind::kUpkeep : StepKind::kCompact});
  steps.push_back({.kind = StepKind::kCrash, .seed = random_.Next()});
}

// The disk refuses one of the appends of a large log record, and the power fails while RocksDB recovers from that.
void Generator::AddFailedAppend(const Setting& setting, std::vector<Step>& steps) {
  const size_t worker = Below(setting.workers);
  steps.push_back({.kind = StepKind::kCommit, .worker = worker});
  steps.push_back({.kind = StepKind::kCrash, .amount = 1 + Below(40), .seed = random_.Next()});
  steps.push_back({.kind = StepKind::kFault, .amount = Below(6), .seed = random_.Next()});
  steps.push_back({.worker = worker, .commands = {{"SET", Key('s'), LargeText()}}});
  steps.push_back({.kind = StepKind::kCommit, .worker = worker});
}

Step Generator::MakeReplicaStep(const Setting& setting) {
  Step step{.kind = StepKind::kLink, .replica = Below(setting.replicas), .amount = kAllBytes, .seed = random_.Next()};
  const uint64_t choice = Below(100);
  if (choice < 35) return step;
  if (choice < 74) {
    step.amount = OneIn(2) ? Below(60) : Below(4000);
  } else if (choice < 84) {
    step.kind = StepKind::kCut;
  } else if (choice < 88) {
    step.kind = StepKind::kReplicaSync;
  } else if (choice < 90) {
    step.kind = StepKind::kReplicaRestart;
  } else if (choice < 95) {
    step.kind = StepKind::kReplicaCrash;
    step.amount = OneIn(4) ? 0 : Below(12);
  } else if (choice < 97) {
    step.kind = OneIn(2) ? StepKind::kReplicaFault : StepKind::kReplicaReadFault;
    step.amount = Below(12);
  } else {
    step.kind = StepKind::kCheckReplicas;
  }
  return step;
}

Step Generator::MakeStep(const Setting& setting) {
  if (setting.replicas > 0 && OneIn(4)) return MakeReplicaStep(setting);
  Step step{.worker = Below(setting.workers), .amount = 0, .seed = random_.Next()};
  const uint64_t choice = Below(1000);
  if (choice < 700) return MakeCommands(setting);
  if (choice < 830) {
    step.kind = StepKind::kCommit;
  } else if (choice < 860) {
    step.kind = StepKind::kHandOver;
  } else if (choice < 880) {
    step.kind = StepKind::kGroupCommit;
  } else if (choice < 910) {
    step.kind = StepKind::kSync;
  } else if (choice < 925) {
    step.kind = StepKind::kFlush;
  } else if (choice < 930) {
    step.kind = StepKind::kCompact;
  } else if (choice < 945) {
    step.kind = StepKind::kUpkeep;
  } else if (choice < 970) {
    step.kind = StepKind::kAdvance;
    step.amount = OneIn(3) ? 1 : Below(kLongestTtlMs);
  } else if (choice < 975) {
    step.kind = StepKind::kCheck;
  } else if (choice < 980) {
    step.kind = StepKind::kRestart;
  } else if (choice < 991) {
    step.kind = StepKind::kCrash;
    step.amount = OneIn(4) ? 0 : Below(40);
  } else if (choice < 995) {
    step.kind = StepKind::kReadFault;
    step.amount = OneIn(2) ? 0 : Below(12);
  } else {
    step.kind = StepKind::kFault;
    step.amount = Below(30);
  }
  return step;
}

Step Generator::MakeCommands(const Setting& setting) {
  Step step{.kind = StepKind::kCommands, .worker = Below(setting.workers), .db = static_cast<int>(Below(2))};
  step.is_interrupted = OneIn(3);
  const uint64_t count = OneIn(8) ? 2 + Below(5) : 1;
  for (uint64_t i = 0; i < count; ++i) step.commands.push_back(MakeCommand());
  step.is_script = count > 1 && OneIn(3);
  return step;
}

Words Generator::MakeCommand() {
  const uint64_t choice = Below(100);
  if (choice < 17) return MakeStringCommand();
  if (choice < 35) return MakeKeyCommand();
  if (choice < 50) return MakeHashCommand();
  if (choice < 63) return MakeListCommand();
  if (choice < 76) return MakeSetCommand();
  if (choice < 89) return MakeZsetCommand();
  return MakeStreamCommand();
}

// ---- words

std::string Generator::Pick(std::initializer_list<const char*> words) { return words.begin()[Below(words.size())]; }

std::string Generator::Number(int64_t least, int64_t most) {
  return std::to_string(least + static_cast<int64_t>(Below(static_cast<uint64_t>(most - least + 1))));
}

std::string Generator::Key(char type) {
  if (OneIn(12)) return AnyKey();
  return type + std::to_string(Below(kKeysOfType));
}

std::string Generator::AnyKey() { return kTypes[Below(std::size(kTypes))] + std::to_string(Below(kKeysOfType)); }

std::string Generator::Member() {
  const std::string name = std::to_string(Below(members_));
  if (OneIn(3)) return name;
  return OneIn(8) ? "long" + name + std::string(80, 'm') : "m" + name;
}

std::string Generator::Text() {
  switch (Below(6)) {
    case 0: return Number(-20, 20);
    case 1: return std::string(Below(300), static_cast<char>('a' + Below(4)));
    case 2:
      if (OneIn(8)) return std::string(9000 + Below(9000), 'v');
      return OneIn(4) ? LargeText() : "";
    case 3: return std::string("\0\r\n\xff", 4);
    default: return "v" + std::to_string(Below(1000));
  }
}

std::string Generator::LargeText() { return std::string(kManyAppends + Below(kManyAppends), 'w'); }

std::string Generator::Rank(int64_t most) {
  return OneIn(2) ? Number(-most, most) : Number(-static_cast<int64_t>(members_), static_cast<int64_t>(members_));
}

std::string Generator::Score() { return OneIn(12) ? Pick({"inf", "-inf", "0.5", "-0.25"}) : Number(-10, 10); }

std::string Generator::ScoreBound() { return OneIn(6) ? Pick({"-inf", "+inf"}) : (OneIn(3) ? "(" : "") + Score(); }

std::string Generator::Id() { return Number(1, 60) + "-" + Number(0, 2); }

void Generator::AddMembers(Words& words, uint64_t most) {
  for (uint64_t count = Count(most, 4 * most); count > 0; --count) words.push_back(Member());
}

// The number of elements that a command names.
uint64_t Generator::Count(uint64_t few, uint64_t some) {
  if (members_ == kManyMembers && OneIn(4)) return 1 + Below(members_);
  return 1 + Below(OneIn(5) ? some : few);
}

// ---- commands

Words Generator::MakeStringCommand() {
  const std::string key = Key('s');
  switch (Below(19)) {
    case 0: return {"SET", key, Text()};
    case 1: return {"SET", key, Text(), "PX", Number(1, kLongestTtlMs)};
    case 2: return {"SET", key, Text(), Pick({"NX", "XX", "GET", "KEEPTTL"})};
    case 3: return {"GET", key};
    case 4: return {"GETDEL", key};
    case 5: return OneIn(2) ? Words{"GETEX", key, "PERSIST"} : Words{"GETEX", key, "PX", Number(1, kLongestTtlMs)};
    case 6: return {"GETSET", key, Text()};
    case 7:
    case 8: return {"APPEND", key, Text()};
    case 9: return {"STRLEN", key};
    case 10:
    case 11: return {"SETRANGE", key, OneIn(4) ? Number(8000, 12000) : Number(0, 50), Text()};
    case 12: return {"GETRANGE", key, Number(-20, 20), Number(-20, 9000)};
    case 13: return {"INCR", key};
    case 14: return {Pick({"INCRBY", "DECRBY"}), key, OneIn(9) ? "9223372036854775807" : Number(-100, 100)};
    case 15: return {"MSET", key, Text(), Key('s'), Text()};
    case 16: return {"MSETNX", key, Text(), Key('s'), Text()};
    case 17: return {"MGET", key, Key('s'), AnyKey()};
    default: return {"SETBIT", key, OneIn(4) ? Number(60000, 90000) : Number(0, 200), Pick({"0", "1"})};
  }
}

Words Generator::MakeKeyCommand() {
  const std::string key = AnyKey();
  switch (Below(20)) {
    case 0: return {"DEL", key};
    case 1: return {"UNLINK", key, AnyKey()};
    case 2: return {"EXISTS", key, AnyKey()};
    case 3: return {"TYPE", key};
    case 4: return {"RENAME", key, OneIn(2) ? Key(key[0]) : AnyKey()};
    case 5: return {"RENAMENX", key, AnyKey()};
    case 6: return {"COPY", key, AnyKey(), "REPLACE"};
    case 7: return {"COPY", key, AnyKey(), "DB", Pick({"0", "1"}), "REPLACE"};
    case 8: return {"MOVE", key, Pick({"0", "1"})};
    case 9: return {"EXPIRE", key, Number(0, 3)};
    case 10:
    case 11: return {"PEXPIRE", key, Number(1, kLongestTtlMs)};
    case 12: return {"PEXPIRE", key, Number(1, kLongestTtlMs), Pick({"NX", "XX", "GT", "LT"})};
    case 13: return {"PERSIST", key};
    case 14: return {"PTTL", key};
    case 15: return {"PEXPIRETIME", key};
    case 16: return {"KEYS", "*"};
    case 17: return OneIn(5) ? Words{Pick({"FLUSHDB", "FLUSHALL"})} : Words{"TYPE", key};
    case 18: return OneIn(3) ? Words{"SWAPDB", "0", "1"} : Words{"EXISTS", key};
    default: return {"PEXPIRE", key, "1"};
  }
}

Words Generator::MakeHashCommand() {
  const std::string key = Key('h');
  switch (Below(12)) {
    case 0:
    case 1:
    case 2: {
      Words words{"HSET", key};
      const uint64_t count = Count(4, 20);
      for (uint64_t i = 0; i < count; ++i) {
        words.push_back(Member());
        words.push_back(count > kFewMembers ? Number(0, 99) : Text());
      }
      return words;
    }
    case 3: return {"HSETNX", key, Member(), Text()};
    case 4: return {"HGET", key, Member()};
    case 5: return {"HMGET", key, Member(), Member(), Member()};
    case 6: {
      Words words{"HDEL", key};
      AddMembers(words, 4);
      return words;
    }
    case 7: return {"HEXISTS", key, Member()};
    case 8: return {"HINCRBY", key, Member(), Number(-9, 9)};
    case 9: return {"HGETALL", key};
    case 10: return {"HPEXPIRE", key, OneIn(9) ? "0" : Number(1, kLongestTtlMs), "FIELDS", "1", Member()};
    default: return {"HPERSIST", key, "FIELDS", "1", Member()};
  }
}

Words Generator::MakeListCommand() {
  const std::string key = Key('l');
  switch (Below(14)) {
    case 0:
    case 1:
    case 2: {
      Words words{Pick({"LPUSH", "RPUSH", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX"}), key};
      AddMembers(words, 5);
      return words;
    }
    case 3: return {Pick({"LPOP", "RPOP"}), key};
    case 4: return {Pick({"LPOP", "RPOP"}), key, Number(0, 6)};
    case 5: return {"LLEN", key};
    case 6: return {"LRANGE", key, Rank(9), Rank(30)};
    case 7: return {"LINDEX", key, Rank(20)};
    case 8: return {"LSET", key, Rank(12), Member()};
    case 9: return {"LINSERT", key, Pick({"BEFORE", "AFTER"}), Member(), Member()};
    case 10: return {"LREM", key, Number(-2, 2), Member()};
    case 11: return {"LTRIM", key, Number(-20, 5), Rank(30)};
    case 12: return {"LMOVE", key, Key('l'), Pick({"LEFT", "RIGHT"}), Pick({"LEFT", "RIGHT"})};
    default: return {"LPOS", key, Member()};
  }
}

Words Generator::MakeSetCommand() {
  const std::string key = Key('e');
  switch (Below(11)) {
    case 0:
    case 1:
    case 2: {
      Words words{"SADD", key};
      AddMembers(words, 5);
      return words;
    }
    case 3: {
      Words words{"SREM", key};
      AddMembers(words, 5);
      return words;
    }
    case 4: return {"SMISMEMBER", key, Member(), Member()};
    case 5: return {"SCARD", key};
    case 6: return {"SMEMBERS", key};
    case 7: return {"SMOVE", key, Key('e'), Member()};
    case 8: return {Pick({"SINTER", "SUNION", "SDIFF"}), key, Key('e')};
    case 9: return {Pick({"SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"}), Key('e'), key, Key('e')};
    default: return {"SPOP", key, Number(1, 4)};
  }
}

Words Generator::MakeZsetCommand() {
  const std::string key = Key('z');
  switch (Below(14)) {
    case 0:
    case 1:
    case 2: {
      Words words{"ZADD", key};
      if (OneIn(3)) words.push_back(Pick({"NX", "XX", "GT", "LT", "CH"}));
      for (uint64_t count = Count(4, 20); count > 0; --count) {
        words.push_back(Score());
        words.push_back(Member());
      }
      return words;
    }
    case 3: return {"ZINCRBY", key, Number(-5, 5), Member()};
    case 4: return {"ZSCORE", key, Member()};
    case 5: {
      Words words{"ZREM", key};
      AddMembers(words, 4);
      return words;
    }
    case 6: return {"ZCARD", key};
    case 7: return {Pick({"ZRANK", "ZREVRANK"}), key, Member()};
    case 8: return {"ZRANGE", key, Rank(9), Rank(30), Pick({"WITHSCORES", "REV"})};
    case 9: return {"ZRANGE", key, ScoreBound(), ScoreBound(), "BYSCORE", "LIMIT", Number(0, 3), Number(0, 9)};
    case 10: return {"ZCOUNT", key, ScoreBound(), ScoreBound()};
    case 11:
      return OneIn(2) ? Words{"ZREMRANGEBYRANK", key, Number(-6, 6), Number(-6, 6)}
                      : Words{"ZREMRANGEBYSCORE", key, ScoreBound(), ScoreBound()};
    case 12: return {Pick({"ZPOPMIN", "ZPOPMAX"}), key, Number(1, 4)};
    default: return {Pick({"ZUNIONSTORE", "ZINTERSTORE"}), Key('z'), "2", key, Key('z')};
  }
}

Words Generator::MakeStreamCommand() {
  const std::string key = Key('x');
  switch (Below(14)) {
    case 12:
    case 0:
    case 1: return {"XADD", key, "*", Member(), Text()};
    case 2: return {"XADD", key, Id(), Member(), Text()};
    case 3: return {"XADD", key, "MAXLEN", Number(0, 9), "*", Member(), Text()};
    case 4: return {"XLEN", key};
    case 5: return {"XRANGE", key, "-", "+", "COUNT", Number(1, 9)};
    case 6: return {"XREVRANGE", key, "+", Id(), "COUNT", Number(1, 9)};
    case 7: return {"XDEL", key, Id(), Id()};
    case 8: return {"XTRIM", key, "MAXLEN", Number(0, 12)};
    case 9:
      return OneIn(4) ? Words{"XGROUP", "DESTROY", key, Pick({"g1", "g2"})}
                      : Words{"XGROUP", "CREATE", key, Pick({"g1", "g2"}), Pick({"0", "$"}), "MKSTREAM"};
    case 13:
    case 10:
      return {"XREADGROUP", "GROUP", Pick({"g1", "g2"}), Pick({"c1", "c2"}), "COUNT", Number(1, 4), "STREAMS",
              key,          ">"};
    default:
      return OneIn(2) ? Words{"XACK", key, Pick({"g1", "g2"}), Id()} : Words{"XPENDING", key, Pick({"g1", "g2"})};
  }
}

}  // namespace cairn::simulation
