// SPDX-License-Identifier: BSD-3-Clause
//
// Model: what Redis would do, with maps in memory. It is written from Redis's documentation and shares no code with
// Cairn; it is as simple as possible and knows no representation of a value, no transaction and no disk.
//
// A model is a value: its keys share values with its copies and replace a value that they change.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "simulation/reply.h"

namespace cairn::simulation {

using Words = std::vector<std::string>;

struct HashField {
  std::string value;
  int64_t expire_ms = 0;  // 0: never
  auto operator<=>(const HashField&) const = default;
};
struct StreamId {
  uint64_t ms = 0;
  uint64_t sequence = 0;
  auto operator<=>(const StreamId&) const = default;
};
struct StreamGroup {
  StreamId last;
  std::map<StreamId, std::pair<std::string, uint64_t>> pending;  // the consumer, and how often it was delivered
  bool operator==(const StreamGroup&) const = default;
};
struct Stream {
  std::map<StreamId, Words> entries;
  StreamId last;
  std::map<std::string, StreamGroup> groups;
  bool operator==(const Stream&) const = default;
};
using String = std::string;
using Hash = std::map<std::string, HashField>;
using List = std::deque<std::string>;
using Set = std::set<std::string>;
using Zset = std::map<std::string, double>;
using Value = std::variant<String, Hash, List, Set, Zset, Stream>;

struct KeyName {
  int db = 0;
  std::string key;
  auto operator<=>(const KeyName&) const = default;
};
struct Entry {
  std::shared_ptr<const Value> value;
  int64_t expire_ms = 0;  // 0: never
};
using Keys = std::map<KeyName, Entry>;

// Thrown by a command whose reply is an error; it has no effect.
struct CommandFailed {
  std::string text;
};

class Model {
 public:
  explicit Model(Keys keys = {}) : keys_(std::move(keys)) {}

  // Runs a command at a time. `seen` is the reply of Cairn: a command that chooses by chance (SPOP) must have chosen
  // from what there is, and the model follows it.
  Reply Run(int db, int64_t now_ms, const Words& argv, const Reply& seen);
  const Keys& keys() const { return keys_; }
  void DropExpired(int64_t now_ms);

  // ---- for the functions of commands
  int db = 0;
  int64_t now_ms = 0;
  const Reply* seen = nullptr;

  const Entry* Find(const std::string& key) const { return FindIn(db, key); }
  const Entry* FindIn(int db, const std::string& key) const;
  // Null if there is no such key. Throws WRONGTYPE.
  template <typename T>
  const T* Get(const std::string& key) const {
    const Entry* const entry = Find(key);
    if (entry == nullptr) return nullptr;
    const T* const value = std::get_if<T>(entry->value.get());
    if (value == nullptr) throw CommandFailed{"WRONGTYPE"};
    return value;
  }
  // A value to change, empty if the key is new. A collection that is empty afterwards is deleted. Throws WRONGTYPE.
  template <typename T>
  T& Edit(const std::string& key) {
    const T* const old = Get<T>(key);
    auto copy = std::make_shared<Value>(old == nullptr ? T() : *old);
    T& value = std::get<T>(*copy);
    keys_[{db, key}].value = std::move(copy);
    edited_.push_back({db, key});
    return value;
  }
  // Replaces the key; its expiry ends.
  template <typename T>
  void Put(const std::string& key, T value) {
    keys_[{db, key}] = {std::make_shared<Value>(std::move(value)), 0};
    edited_.push_back({db, key});
  }
  void PutEntry(int to_db, const std::string& key, Entry entry) { keys_[{to_db, key}] = std::move(entry); }
  bool Remove(const std::string& key) { return RemoveIn(db, key); }
  bool RemoveIn(int from_db, const std::string& key);
  void SetExpiry(const std::string& key, int64_t expire_ms) { keys_[{db, key}].expire_ms = expire_ms; }
  void SwapDatabases(int first, int second);
  void Flush(std::optional<int> only_db);

 private:
  void DropEmpty();

  Keys keys_;
  std::vector<KeyName> edited_;
};

using CommandFunction = Reply (*)(Model& model, const Words& argv);
using CommandFunctions = std::map<std::string, CommandFunction>;
void AddStringCommands(CommandFunctions& commands);
void AddKeyCommands(CommandFunctions& commands);
void AddHashCommands(CommandFunctions& commands);
void AddListCommands(CommandFunctions& commands);
void AddSetCommands(CommandFunctions& commands);
void AddZsetCommands(CommandFunctions& commands);
void AddStreamCommands(CommandFunctions& commands);

// ---- words of commands
// Throws if the word is no integer.
int64_t ToInt(const std::string& word);
double ToDouble(const std::string& word);
// As Redis writes a score.
std::string FromDouble(double number);
StreamId ToStreamId(const std::string& word, uint64_t sequence_if_missing);
std::string FromStreamId(const StreamId& id);
// "GT" is "gt": whether one of the words from `first` on is `option`.
bool HasOption(const Words& argv, size_t first, const std::string& option);
// The position of an option from `first` on; 0: it is not there.
size_t FindOption(const Words& argv, size_t first, const std::string& option);
// Makes `start` and `end`, which may count from the end, a range of positions [first, last) of `size` elements.
std::pair<size_t, size_t> ToRange(int64_t start, int64_t end, size_t size);

// Whether all fields of a hash have expired. Cairn, as Redis, has such a key until active expiry finds it; the model
// does not.
bool HasDeadHash(const Keys& keys, int64_t now_ms);

// The first difference of two states; empty: there is none.
std::string FindDifference(const Keys& expected, const Keys& actual);

}  // namespace cairn::simulation
