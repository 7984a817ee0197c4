// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "simulation/model.h"

namespace cairn::simulation {
namespace {

Reply ToReply(const StreamId& id, const Words& fields) {
  std::vector<Reply> words;
  for (const std::string& field : fields) words.push_back(Bulk(field));
  return Array({Bulk(FromStreamId(id)), Array(std::move(words))});
}

int64_t TrimTo(Stream& stream, size_t most) {
  int64_t removed = 0;
  for (; stream.entries.size() > most; ++removed) stream.entries.erase(stream.entries.begin());
  return removed;
}

// XADD key [MAXLEN n] id field value
Reply XAdd(Model& model, const Words& argv) {
  const size_t limit = FindOption(argv, 2, "MAXLEN");
  const size_t at = limit == 0 ? 2 : limit + 2;
  const Stream* const old = model.Get<Stream>(argv[1]);
  const StreamId last = old == nullptr ? StreamId() : old->last;
  StreamId id{static_cast<uint64_t>(model.now_ms), 0};
  if (argv[at] != "*") {
    id = ToStreamId(argv[at], 0);
    if (id <= last) throw CommandFailed{"ERR the id is too small"};
  } else if (id <= last) {
    id = {last.ms, last.sequence + 1};
  }
  Stream& stream = model.Edit<Stream>(argv[1]);
  stream.entries[id] = Words(argv.begin() + static_cast<int64_t>(at) + 1, argv.end());
  stream.last = id;
  if (limit != 0) TrimTo(stream, static_cast<size_t>(ToInt(argv[limit + 1])));
  return Bulk(FromStreamId(id));
}

Reply XLen(Model& model, const Words& argv) {
  const Stream* const stream = model.Get<Stream>(argv[1]);
  return Integer(stream == nullptr ? 0 : static_cast<int64_t>(stream->entries.size()));
}

// XRANGE key first last [COUNT n], XREVRANGE key last first [COUNT n]
Reply XRange(Model& model, const Words& argv) {
  const bool backwards = argv[0] == "XREVRANGE";
  const StreamId first = ToStreamId(argv[backwards ? 3 : 2], 0);
  const StreamId last = ToStreamId(argv[backwards ? 2 : 3], UINT64_MAX);
  std::vector<Reply> entries;
  if (const Stream* const stream = model.Get<Stream>(argv[1])) {
    for (const auto& [id, fields] : stream->entries) {
      if (id >= first && id <= last) entries.push_back(ToReply(id, fields));
    }
  }
  if (backwards) std::reverse(entries.begin(), entries.end());
  if (const size_t at = FindOption(argv, 4, "COUNT")) {
    entries.resize(std::min(entries.size(), static_cast<size_t>(ToInt(argv[at + 1]))));
  }
  return Array(std::move(entries));
}

// XDEL key id ...
Reply XDel(Model& model, const Words& argv) {
  if (model.Get<Stream>(argv[1]) == nullptr) return Integer(0);
  Stream& stream = model.Edit<Stream>(argv[1]);
  int64_t removed = 0;
  for (size_t i = 2; i < argv.size(); ++i)
    removed += static_cast<int64_t>(stream.entries.erase(ToStreamId(argv[i], 0)));
  return Integer(removed);
}

// XTRIM key MAXLEN n
Reply XTrim(Model& model, const Words& argv) {
  if (model.Get<Stream>(argv[1]) == nullptr) return Integer(0);
  return Integer(TrimTo(model.Edit<Stream>(argv[1]), static_cast<size_t>(ToInt(argv[3]))));
}

// XGROUP CREATE key group id [MKSTREAM], XGROUP DESTROY key group
Reply XGroup(Model& model, const Words& argv) {
  const Stream* const old = model.Get<Stream>(argv[2]);
  const bool creates = argv[1] == "CREATE";
  if (old == nullptr && !HasOption(argv, 4, "MKSTREAM")) throw CommandFailed{"ERR no such key"};
  const bool exists = old != nullptr && old->groups.contains(argv[3]);
  if (!creates && !exists) return Integer(0);
  if (creates && exists) throw CommandFailed{"BUSYGROUP"};
  Stream& stream = model.Edit<Stream>(argv[2]);
  if (!creates) {
    stream.groups.erase(argv[3]);
    return Integer(1);
  }
  stream.groups[argv[3]].last = argv[4] == "$" ? stream.last : ToStreamId(argv[4], 0);
  return Simple("OK");
}

const StreamGroup* FindGroup(const Model& model, const std::string& key, const std::string& group) {
  const Stream* const stream = model.Get<Stream>(key);
  if (stream == nullptr || !stream->groups.contains(group)) return nullptr;
  return &stream->groups.at(group);
}

// XREADGROUP GROUP group consumer COUNT n STREAMS key >
Reply XReadGroup(Model& model, const Words& argv) {
  const std::string& key = argv[7];
  if (FindGroup(model, key, argv[2]) == nullptr) throw CommandFailed{"NOGROUP"};
  Stream& stream = model.Edit<Stream>(key);
  StreamGroup& group = stream.groups[argv[2]];
  std::vector<Reply> entries;
  for (auto entry = stream.entries.upper_bound(group.last);
       entry != stream.entries.end() && entries.size() < static_cast<size_t>(ToInt(argv[5])); ++entry) {
    entries.push_back(ToReply(entry->first, entry->second));
    group.pending[entry->first] = {argv[3], 1};
    group.last = entry->first;
  }
  if (entries.empty()) return Nil();
  return Array({Array({Bulk(key), Array(std::move(entries))})});
}

// XACK key group id
Reply XAck(Model& model, const Words& argv) {
  const StreamGroup* const group = FindGroup(model, argv[1], argv[2]);
  const StreamId id = ToStreamId(argv[3], 0);
  if (group == nullptr || !group->pending.contains(id)) return Integer(0);
  model.Edit<Stream>(argv[1]).groups[argv[2]].pending.erase(id);
  return Integer(1);
}

// XPENDING key group
Reply XPending(Model& model, const Words& argv) {
  const StreamGroup* const group = FindGroup(model, argv[1], argv[2]);
  if (group == nullptr) throw CommandFailed{"NOGROUP"};
  if (group->pending.empty()) return Array({Integer(0), Nil(), Nil(), Nil()});
  std::map<std::string, int64_t> counts;
  for (const auto& [id, pending] : group->pending) ++counts[pending.first];
  std::vector<Reply> consumers;
  for (const auto& [consumer, count] : counts) {
    consumers.push_back(Array({Bulk(consumer), Bulk(std::to_string(count))}));
  }
  return Array({Integer(static_cast<int64_t>(group->pending.size())), Bulk(FromStreamId(group->pending.begin()->first)),
                Bulk(FromStreamId(group->pending.rbegin()->first)), Array(std::move(consumers))});
}

}  // namespace

void AddStreamCommands(CommandFunctions& commands) {
  commands.insert({{"XADD", XAdd},
                   {"XLEN", XLen},
                   {"XRANGE", XRange},
                   {"XREVRANGE", XRange},
                   {"XDEL", XDel},
                   {"XTRIM", XTrim},
                   {"XGROUP", XGroup},
                   {"XREADGROUP", XReadGroup},
                   {"XACK", XAck},
                   {"XPENDING", XPending}});
}

}  // namespace cairn::simulation
