// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "simulation/model.h"

namespace cairn::simulation {
namespace {

Reply Push(Model& model, const Words& argv, bool left) {
  if (argv[0].ends_with("X") && model.Get<List>(argv[1]) == nullptr) return Integer(0);
  List& list = model.Edit<List>(argv[1]);
  for (size_t i = 2; i < argv.size(); ++i) {
    if (left) {
      list.push_front(argv[i]);
    } else {
      list.push_back(argv[i]);
    }
  }
  return Integer(static_cast<int64_t>(list.size()));
}
Reply LPush(Model& model, const Words& argv) { return Push(model, argv, true); }
Reply RPush(Model& model, const Words& argv) { return Push(model, argv, false); }

std::string Take(List& list, bool left) {
  std::string item = left ? list.front() : list.back();
  if (left) {
    list.pop_front();
  } else {
    list.pop_back();
  }
  return item;
}

Reply Pop(Model& model, const Words& argv, bool left) {
  if (model.Get<List>(argv[1]) == nullptr) return Nil();
  List& list = model.Edit<List>(argv[1]);
  if (argv.size() == 2) return Bulk(Take(list, left));
  std::vector<Reply> items;
  for (int64_t left_over = ToInt(argv[2]); left_over > 0 && !list.empty(); --left_over) {
    items.push_back(Bulk(Take(list, left)));
  }
  return Array(std::move(items));
}
Reply LPop(Model& model, const Words& argv) { return Pop(model, argv, true); }
Reply RPop(Model& model, const Words& argv) { return Pop(model, argv, false); }

Reply LLen(Model& model, const Words& argv) {
  const List* const list = model.Get<List>(argv[1]);
  return Integer(list == nullptr ? 0 : static_cast<int64_t>(list->size()));
}

Reply LRange(Model& model, const Words& argv) {
  std::vector<Reply> items;
  if (const List* const list = model.Get<List>(argv[1])) {
    const auto [first, last] = ToRange(ToInt(argv[2]), ToInt(argv[3]), list->size());
    for (size_t i = first; i < last; ++i) items.push_back(Bulk((*list)[i]));
  }
  return Array(std::move(items));
}

// The position of LINDEX and LSET; the size if it is outside.
size_t Position(const List& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  if (index < 0) index += size;
  return index < 0 || index >= size ? list.size() : static_cast<size_t>(index);
}

Reply LIndex(Model& model, const Words& argv) {
  const List* const list = model.Get<List>(argv[1]);
  if (list == nullptr) return Nil();
  const size_t at = Position(*list, ToInt(argv[2]));
  return at == list->size() ? Nil() : Bulk((*list)[at]);
}

Reply LSet(Model& model, const Words& argv) {
  if (model.Get<List>(argv[1]) == nullptr) throw CommandFailed{"ERR no such key"};
  List& list = model.Edit<List>(argv[1]);
  const size_t at = Position(list, ToInt(argv[2]));
  if (at == list.size()) throw CommandFailed{"ERR index out of range"};
  list[at] = argv[3];
  return Simple("OK");
}

Reply LInsert(Model& model, const Words& argv) {
  if (model.Get<List>(argv[1]) == nullptr) return Integer(0);
  List& list = model.Edit<List>(argv[1]);
  auto at = std::find(list.begin(), list.end(), argv[3]);
  if (at == list.end()) return Integer(-1);
  if (argv[2] == "AFTER") ++at;
  list.insert(at, argv[4]);
  return Integer(static_cast<int64_t>(list.size()));
}

Reply LRem(Model& model, const Words& argv) {
  if (model.Get<List>(argv[1]) == nullptr) return Integer(0);
  List& list = model.Edit<List>(argv[1]);
  const int64_t count = ToInt(argv[2]);
  int64_t most = count == 0 ? INT64_MAX : std::abs(count);
  int64_t removed = 0;
  if (count < 0) std::reverse(list.begin(), list.end());
  for (auto item = list.begin(); item != list.end() && removed < most;) {
    if (*item == argv[3]) {
      item = list.erase(item);
      ++removed;
    } else {
      ++item;
    }
  }
  if (count < 0) std::reverse(list.begin(), list.end());
  return Integer(removed);
}

Reply LTrim(Model& model, const Words& argv) {
  if (model.Get<List>(argv[1]) == nullptr) return Simple("OK");
  List& list = model.Edit<List>(argv[1]);
  const auto [first, last] = ToRange(ToInt(argv[2]), ToInt(argv[3]), list.size());
  const auto begin = list.begin();
  list = List(begin + static_cast<int64_t>(first), begin + static_cast<int64_t>(last));
  return Simple("OK");
}

Reply LMove(Model& model, const Words& argv) {
  if (model.Get<List>(argv[1]) == nullptr) return Nil();
  model.Get<List>(argv[2]);
  const std::string item = Take(model.Edit<List>(argv[1]), argv[3] == "LEFT");
  List& target = model.Edit<List>(argv[2]);
  if (argv[4] == "LEFT") {
    target.push_front(item);
  } else {
    target.push_back(item);
  }
  return Bulk(item);
}

Reply LPos(Model& model, const Words& argv) {
  const List* const list = model.Get<List>(argv[1]);
  if (list == nullptr) return Nil();
  const auto at = std::find(list->begin(), list->end(), argv[2]);
  return at == list->end() ? Nil() : Integer(at - list->begin());
}

}  // namespace

void AddListCommands(CommandFunctions& commands) {
  commands.insert({{"LPUSH", LPush},
                   {"RPUSH", RPush},
                   {"LPUSHX", LPush},
                   {"RPUSHX", RPush},
                   {"LPOP", LPop},
                   {"RPOP", RPop},
                   {"LLEN", LLen},
                   {"LRANGE", LRange},
                   {"LINDEX", LIndex},
                   {"LSET", LSet},
                   {"LINSERT", LInsert},
                   {"LREM", LRem},
                   {"LTRIM", LTrim},
                   {"LMOVE", LMove},
                   {"LPOS", LPos}});
}

}  // namespace cairn::simulation
