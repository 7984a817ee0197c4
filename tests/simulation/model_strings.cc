// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "simulation/model.h"

namespace cairn::simulation {
namespace {

Reply BulkOrNil(const String* value) { return value == nullptr ? Nil() : Bulk(*value); }

// The time of EX, PX, EXAT or PXAT among the options; 0: none.
int64_t ExpiryOf(const Model& model, const Words& argv, size_t first) {
  if (const size_t at = FindOption(argv, first, "EX")) return model.now_ms + ToInt(argv[at + 1]) * 1000;
  if (const size_t at = FindOption(argv, first, "PX")) return model.now_ms + ToInt(argv[at + 1]);
  if (const size_t at = FindOption(argv, first, "PXAT")) return ToInt(argv[at + 1]);
  return 0;
}

Reply SetString(Model& model, const Words& argv) {
  const std::string& key = argv[1];
  const bool gets = HasOption(argv, 3, "GET");
  const Entry* const old = model.Find(key);
  const Reply old_reply = gets ? BulkOrNil(model.Get<String>(key)) : Nil();
  const bool refused = (HasOption(argv, 3, "NX") && old != nullptr) || (HasOption(argv, 3, "XX") && old == nullptr);
  if (refused) return gets ? old_reply : Nil();
  const int64_t kept = HasOption(argv, 3, "KEEPTTL") && old != nullptr ? old->expire_ms : 0;
  model.Put<String>(key, argv[2]);
  model.SetExpiry(key, kept != 0 ? kept : ExpiryOf(model, argv, 3));
  return gets ? old_reply : Simple("OK");
}

Reply Get(Model& model, const Words& argv) { return BulkOrNil(model.Get<String>(argv[1])); }

Reply GetDel(Model& model, const Words& argv) {
  Reply reply = BulkOrNil(model.Get<String>(argv[1]));
  model.Remove(argv[1]);
  return reply;
}

Reply GetEx(Model& model, const Words& argv) {
  Reply reply = BulkOrNil(model.Get<String>(argv[1]));
  if (reply.kind == Reply::Kind::kNil) return reply;
  const int64_t expire_ms = ExpiryOf(model, argv, 2);
  if (HasOption(argv, 2, "PERSIST") || expire_ms != 0) model.SetExpiry(argv[1], expire_ms);
  return reply;
}

Reply GetSet(Model& model, const Words& argv) {
  Reply reply = BulkOrNil(model.Get<String>(argv[1]));
  model.Put<String>(argv[1], argv[2]);
  return reply;
}

Reply Append(Model& model, const Words& argv) {
  String& value = model.Edit<String>(argv[1]);
  value += argv[2];
  return Integer(static_cast<int64_t>(value.size()));
}

Reply StrLen(Model& model, const Words& argv) {
  const String* const value = model.Get<String>(argv[1]);
  return Integer(value == nullptr ? 0 : static_cast<int64_t>(value->size()));
}

Reply SetRange(Model& model, const Words& argv) {
  const auto offset = static_cast<size_t>(ToInt(argv[2]));
  const String* const old = model.Get<String>(argv[1]);
  if (argv[3].empty()) return Integer(old == nullptr ? 0 : static_cast<int64_t>(old->size()));
  String& value = model.Edit<String>(argv[1]);
  value.resize(std::max(value.size(), offset + argv[3].size()));
  value.replace(offset, argv[3].size(), argv[3]);
  return Integer(static_cast<int64_t>(value.size()));
}

Reply GetRange(Model& model, const Words& argv) {
  const String* const value = model.Get<String>(argv[1]);
  if (value == nullptr) return Bulk("");
  const int64_t start = ToInt(argv[2]);
  int64_t end = ToInt(argv[3]);
  if (start < 0 && start > end) return Bulk("");
  if (end < 0) end = std::max<int64_t>(0, end + static_cast<int64_t>(value->size()));  // unlike the end of LRANGE
  const auto [first, last] = ToRange(start, end, value->size());
  return Bulk(value->substr(first, last - first));
}

Reply Add(Model& model, const std::string& key, int64_t more) {
  const String* const old = model.Get<String>(key);
  int64_t sum = 0;
  if (__builtin_add_overflow(old == nullptr ? 0 : ToInt(*old), more, &sum)) throw CommandFailed{"ERR overflow"};
  model.Edit<String>(key) = std::to_string(sum);
  return Integer(sum);
}
Reply Incr(Model& model, const Words& argv) { return Add(model, argv[1], 1); }
Reply DecrBy(Model& model, const Words& argv) { return Add(model, argv[1], -ToInt(argv[2])); }
Reply IncrBy(Model& model, const Words& argv) { return Add(model, argv[1], ToInt(argv[2])); }

Reply MSet(Model& model, const Words& argv) {
  for (size_t i = 1; i + 1 < argv.size(); i += 2) model.Put<String>(argv[i], argv[i + 1]);
  return Simple("OK");
}

Reply MSetNx(Model& model, const Words& argv) {
  for (size_t i = 1; i + 1 < argv.size(); i += 2) {
    if (model.Find(argv[i]) != nullptr) return Integer(0);
  }
  MSet(model, argv);
  return Integer(1);
}

Reply MGet(Model& model, const Words& argv) {
  std::vector<Reply> values;
  for (size_t i = 1; i < argv.size(); ++i) {
    const Entry* const entry = model.Find(argv[i]);
    const String* const value = entry == nullptr ? nullptr : std::get_if<String>(entry->value.get());
    values.push_back(BulkOrNil(value));
  }
  return Array(std::move(values));
}

Reply SetBit(Model& model, const Words& argv) {
  const auto bit = static_cast<size_t>(ToInt(argv[2]));
  String& value = model.Edit<String>(argv[1]);
  value.resize(std::max(value.size(), bit / 8 + 1));
  const auto mask = static_cast<char>(0x80 >> (bit % 8));
  const bool was = value[bit / 8] & mask;
  value[bit / 8] = static_cast<char>(argv[3] == "1" ? value[bit / 8] | mask : value[bit / 8] & ~mask);
  return Integer(was ? 1 : 0);
}

}  // namespace

void AddStringCommands(CommandFunctions& commands) {
  commands.insert({{"SET", SetString},
                   {"GET", Get},
                   {"GETDEL", GetDel},
                   {"GETEX", GetEx},
                   {"GETSET", GetSet},
                   {"APPEND", Append},
                   {"STRLEN", StrLen},
                   {"SETRANGE", SetRange},
                   {"GETRANGE", GetRange},
                   {"INCR", Incr},
                   {"DECRBY", DecrBy},
                   {"INCRBY", IncrBy},
                   {"MSET", MSet},
                   {"MSETNX", MSetNx},
                   {"MGET", MGet},
                   {"SETBIT", SetBit}});
}

}  // namespace cairn::simulation
