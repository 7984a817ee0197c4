// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "simulation/text.h"

namespace cairn::simulation {
namespace {

const CommandFunctions& AllCommands() {
  static const CommandFunctions all = [] {
    CommandFunctions commands;
    AddStringCommands(commands);
    AddKeyCommands(commands);
    AddHashCommands(commands);
    AddListCommands(commands);
    AddSetCommands(commands);
    AddZsetCommands(commands);
    AddStreamCommands(commands);
    return commands;
  }();
  return all;
}

bool IsEmpty(const Value& value) {
  if (std::holds_alternative<Stream>(value) || std::holds_alternative<String>(value)) return false;
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.empty(); }) return one.empty();
        return false;
      },
      value);
}

struct ToTextOf {
  std::string operator()(const String& value) const { return "string " + Quoted(value); }
  std::string operator()(const Hash& value) const {
    std::string text = "hash";
    for (const auto& [name, field] : value) {
      text += " " + Quoted(name) + "=" + Quoted(field.value);
      if (field.expire_ms != 0) text += "@" + std::to_string(field.expire_ms);
    }
    return text;
  }
  std::string operator()(const List& value) const {
    std::string text = "list";
    for (const std::string& item : value) text += " " + Quoted(item);
    return text;
  }
  std::string operator()(const Set& value) const {
    std::string text = "set";
    for (const std::string& item : value) text += " " + Quoted(item);
    return text;
  }
  std::string operator()(const Zset& value) const {
    std::string text = "zset";
    for (const auto& [member, score] : value) text += " " + Quoted(member) + "=" + FromDouble(score);
    return text;
  }
  std::string operator()(const Stream& value) const {
    std::string text = "stream last=" + FromStreamId(value.last);
    for (const auto& [id, fields] : value.entries) {
      text += " " + FromStreamId(id);
      for (const std::string& field : fields) text += "," + Quoted(field);
    }
    for (const auto& [name, group] : value.groups) {
      text += " group " + name + " last=" + FromStreamId(group.last);
      for (const auto& [id, pending] : group.pending) {
        text += " " + FromStreamId(id) + ":" + pending.first + "*" + std::to_string(pending.second);
      }
    }
    return text;
  }
};

std::string Describe(const Keys& keys, const KeyName& name) {
  const auto found = keys.find(name);
  if (found == keys.end()) return "nothing";
  return std::visit(ToTextOf(), *found->second.value) + " expires " + std::to_string(found->second.expire_ms);
}

bool IsSame(const Entry& a, const Entry& b) {
  return a.expire_ms == b.expire_ms && (a.value == b.value || *a.value == *b.value);
}

}  // namespace

Reply Model::Run(int in_db, int64_t at_ms, const Words& argv, const Reply& reply) {
  db = in_db;
  now_ms = at_ms;
  seen = &reply;
  DropExpired(at_ms);
  const auto command = AllCommands().find(argv[0]);
  if (command == AllCommands().end()) return Failure("MODEL does not know " + argv[0]);
  const Keys before = keys_;
  edited_.clear();
  try {
    Reply expected = command->second(*this, argv);
    DropEmpty();
    return expected;
  } catch (const CommandFailed& failed) {
    keys_ = before;
    return Failure(failed.text);
  }
}

void Model::DropExpired(int64_t at_ms) {
  std::erase_if(keys_, [&](const auto& key) { return key.second.expire_ms != 0 && key.second.expire_ms <= at_ms; });
  for (auto key = keys_.begin(); key != keys_.end();) {
    const Hash* const hash = std::get_if<Hash>(key->second.value.get());
    const auto is_due = [&](const auto& field) {
      return field.second.expire_ms != 0 && field.second.expire_ms <= at_ms;
    };
    if (hash == nullptr || !std::any_of(hash->begin(), hash->end(), is_due)) {
      ++key;
      continue;
    }
    Hash rest = *hash;
    std::erase_if(rest, is_due);
    if (rest.empty()) {
      key = keys_.erase(key);
    } else {
      (key++)->second.value = std::make_shared<Value>(std::move(rest));
    }
  }
}

void Model::DropEmpty() {
  for (const KeyName& name : edited_) {
    const auto found = keys_.find(name);
    if (found != keys_.end() && IsEmpty(*found->second.value)) keys_.erase(found);
  }
}

const Entry* Model::FindIn(int in_db, const std::string& key) const {
  const auto found = keys_.find({in_db, key});
  return found == keys_.end() ? nullptr : &found->second;
}

bool Model::RemoveIn(int from_db, const std::string& key) { return keys_.erase({from_db, key}) > 0; }

void Model::SwapDatabases(int first, int second) {
  Keys swapped;
  for (const auto& [name, entry] : keys_) {
    const int to = name.db == first ? second : name.db == second ? first : name.db;
    swapped[{to, name.key}] = entry;
  }
  keys_ = std::move(swapped);
}

void Model::Flush(std::optional<int> only_db) {
  std::erase_if(keys_, [&](const auto& key) { return !only_db || key.first.db == *only_db; });
}

// ---- words

int64_t ToInt(const std::string& word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_odd = word.size() > 1 && (word[0] == '0' || word.starts_with("-0"));
  if (error != std::errc() || end != word.data() + word.size() || is_odd) throw CommandFailed{"ERR not an integer"};
  return number;
}

double ToDouble(const std::string& word) {
  std::string bytes = word;
  const bool is_open = bytes.starts_with("(");
  if (is_open) bytes.erase(0, 1);
  char* end = nullptr;
  const double number = std::strtod(bytes.c_str(), &end);
  if (bytes.empty() || *end != '\0' || std::isnan(number)) throw CommandFailed{"ERR not a float"};
  return number;
}

std::string FromDouble(double number) {
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  static_cast<void>(error);
  return {text, end};
}

StreamId ToStreamId(const std::string& word, uint64_t sequence_if_missing) {
  if (word == "-") return {};
  if (word == "+") return {UINT64_MAX, UINT64_MAX};
  const size_t dash = word.find('-');
  StreamId id{std::strtoull(word.c_str(), nullptr, 10), sequence_if_missing};
  if (dash != std::string::npos) id.sequence = std::strtoull(word.c_str() + dash + 1, nullptr, 10);
  return id;
}

std::string FromStreamId(const StreamId& id) { return std::to_string(id.ms) + "-" + std::to_string(id.sequence); }

size_t FindOption(const Words& argv, size_t first, const std::string& option) {
  for (size_t i = first; i < argv.size(); ++i) {
    if (argv[i] == option) return i;
  }
  return 0;
}

bool HasOption(const Words& argv, size_t first, const std::string& option) {
  return FindOption(argv, first, option) != 0;
}

std::pair<size_t, size_t> ToRange(int64_t start, int64_t end, size_t size) {
  const auto count = static_cast<int64_t>(size);
  if (start < 0) start = std::max<int64_t>(0, start + count);
  if (end < 0) end += count;
  end = std::min(end, count - 1);
  if (start > end) return {0, 0};
  return {static_cast<size_t>(start), static_cast<size_t>(end) + 1};
}

bool HasDeadHash(const Keys& keys, int64_t now_ms) {
  return std::any_of(keys.begin(), keys.end(), [now_ms](const auto& key) {
    const Hash* const hash = std::get_if<Hash>(key.second.value.get());
    return hash != nullptr && std::all_of(hash->begin(), hash->end(), [now_ms](const auto& field) {
             return field.second.expire_ms != 0 && field.second.expire_ms <= now_ms;
           });
  });
}

std::string FindDifference(const Keys& expected, const Keys& actual) {
  std::set<KeyName> names;
  for (const auto& [name, entry] : expected) names.insert(name);
  for (const auto& [name, entry] : actual) names.insert(name);
  for (const KeyName& name : names) {
    const auto a = expected.find(name);
    const auto b = actual.find(name);
    if (a != expected.end() && b != actual.end() && IsSame(a->second, b->second)) continue;
    return "key " + Quoted(name.key) + " of database " + std::to_string(name.db) +
           "\n  expected: " + Describe(expected, name) + "\n  is:       " + Describe(actual, name);
  }
  return {};
}

}  // namespace cairn::simulation
