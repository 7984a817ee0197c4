// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a node's whole state with commands.
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include "simulation/node.h"

namespace cairn::simulation {
namespace {

StreamId IdOf(const Reply& reply) { return ToStreamId(reply.text, 0); }

Words WordsOf(const Reply& array) {
  Words words;
  for (const Reply& item : array.items) words.push_back(item.text);
  return words;
}

// The value of a name in an array of names and values.
const Reply& Field(const Reply& map, const std::string& name) {
  static const Reply kNone;
  for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (map.items[i].text == name) return map.items[i + 1];
  }
  return kNone;
}

Hash ReadHash(Node& node, int db, const std::string& key) {
  Hash hash;
  const Words words = WordsOf(node.Read(db, {"HGETALL", key}));
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const Reply times = node.Read(db, {"HPEXPIRETIME", key, "FIELDS", "1", words[i]});
    const int64_t expire_ms = times.items.empty() ? 0 : std::strtoll(times.items[0].text.c_str(), nullptr, 10);
    hash[words[i]] = {words[i + 1], std::max<int64_t>(0, expire_ms)};
  }
  return hash;
}

Zset ReadZset(Node& node, int db, const std::string& key) {
  Zset zset;
  const Words words = WordsOf(node.Read(db, {"ZRANGE", key, "0", "-1", "WITHSCORES"}));
  for (size_t i = 0; i + 1 < words.size(); i += 2) zset[words[i]] = ToDouble(words[i + 1]);
  return zset;
}

Stream ReadStream(Node& node, int db, const std::string& key) {
  Stream stream;
  const Reply all = node.Read(db, {"XINFO", "STREAM", key, "FULL", "COUNT", "0"});
  stream.last = IdOf(Field(all, "last-generated-id"));
  for (const Reply& entry : node.Read(db, {"XRANGE", key, "-", "+"}).items) {
    stream.entries[IdOf(entry.items[0])] = WordsOf(entry.items[1]);
  }
  for (const Reply& shown : Field(all, "groups").items) {
    StreamGroup& group = stream.groups[Field(shown, "name").text];
    group.last = IdOf(Field(shown, "last-delivered-id"));
    for (const Reply& pending : Field(shown, "pending").items) {
      group.pending[IdOf(pending.items[0])] = {pending.items[1].text,
                                               std::strtoull(pending.items[3].text.c_str(), nullptr, 10)};
    }
  }
  return stream;
}

Value ReadValue(Node& node, int db, const std::string& key, const std::string& type) {
  if (type == "hash") return ReadHash(node, db, key);
  if (type == "zset") return ReadZset(node, db, key);
  if (type == "stream") return ReadStream(node, db, key);
  if (type == "list") {
    const Words words = WordsOf(node.Read(db, {"LRANGE", key, "0", "-1"}));
    return List(words.begin(), words.end());
  }
  if (type == "set") {
    const Words words = WordsOf(node.Read(db, {"SMEMBERS", key}));
    return Set(words.begin(), words.end());
  }
  const Reply text = node.Read(db, {"GET", key});
  return text.kind == Reply::Kind::kBulk ? text.text : "(" + ToText(text) + ")";
}

}  // namespace

Keys ReadState(Node& node) {
  Keys keys;
  for (int db = 0; db < kDatabases; ++db) {
    for (const Reply& name : node.Read(db, {"KEYS", "*"}).items) {
      const std::string type = node.Read(db, {"TYPE", name.text}).text;
      const Reply expires = node.Read(db, {"PEXPIRETIME", name.text});
      Value value = ReadValue(node, db, name.text, type);
      // A hash whose fields have all expired is a key until it is swept; after a crash it may be one again.
      if (const Hash* hash = std::get_if<Hash>(&value); hash != nullptr && hash->empty()) continue;
      Entry& entry = keys[{db, name.text}];
      entry.value = std::make_shared<Value>(std::move(value));
      entry.expire_ms = std::max<int64_t>(0, std::strtoll(expires.text.c_str(), nullptr, 10));
    }
  }
  return keys;
}

}  // namespace cairn::simulation
