// SPDX-License-Identifier: BSD-3-Clause
//
// Replacements for functions of Lua's library `table` that would write to a protected table (script/sandbox.h), or
// whose run time their arguments do not bound: insert, remove, sort, maxn and concat.
//
// sort is Lua 5.1's quicksort, so elements that compare as equal get the same order as in Redis: the pivot is the
// median of the first, the middle and the last element, and the smaller part is sorted first. For some arrays the
// number of comparisons is quadratic, so comparisons are charged.
//
// Thread: that of the Lua state.
#include <climits>

#include "script/sandbox.h"

namespace cairn {
namespace {

constexpr int kMovesPerCharge = 1024;
constexpr uint64_t kStepsPerCharge = 256;
constexpr uint64_t kComparisonsPerCharge = 100;
constexpr uint64_t kBytesPerStep = 64;  // of two strings that are compared

int Size(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return static_cast<int>(lua_objlen(L, 1));
}

// Moves the element of the table at 1 from one index to another.
void Move(lua_State* L, int from, int to) {
  if (to % kMovesPerCharge == 0) ChargeWork(L, kStepsPerCharge);
  lua_rawgeti(L, 1, from);
  lua_rawseti(L, 1, to);
}

int Insert(lua_State* L) {
  const int end = Size(L) + 1;
  CheckWritable(L, 1);
  int place = end;
  if (lua_gettop(L) == 3) {
    place = luaL_checkint(L, 2);
    for (int i = end; i > place; --i) Move(L, i - 1, i);
  } else if (lua_gettop(L) != 2) {
    return luaL_error(L, "wrong number of arguments to " LUA_QL("insert"));
  }
  lua_rawseti(L, 1, place);
  return 0;
}

int Remove(lua_State* L) {
  const int end = Size(L);
  CheckWritable(L, 1);
  const int place = luaL_optint(L, 2, end);
  if (place < 1 || place > end) return 0;
  lua_rawgeti(L, 1, place);
  for (int i = place; i < end; ++i) Move(L, i + 1, i);
  lua_pushnil(L);
  lua_rawseti(L, 1, end);
  return 1;
}

class Sorter {
 public:
  explicit Sorter(lua_State* state) : L(state) {}

  void Sort(int first, int last) {
    while (first < last) {
      Order(first, last);
      if (last - first == 1) return;
      const int middle = static_cast<int>((static_cast<int64_t>(first) + last) / 2);
      OrderMiddle(first, middle, last);
      if (last - first == 2) return;
      const int place = Partition(first, middle, last);
      if (place - first < last - place) {
        Sort(first, place - 1);
        first = place + 1;
      } else {
        Sort(place + 1, last);
        last = place - 1;
      }
    }
  }

 private:
  void Get(int index) { lua_rawgeti(L, 1, index); }
  // Stores the value on the top at index `top`, and the one below it at `below`.
  void SetTwo(int top, int below) {
    lua_rawseti(L, 1, top);
    lua_rawseti(L, 1, below);
  }

  // Whether the value at stack index `a` is less than the one at `b`, both counted from the top.
  bool IsLess(int a, int b) {
    if (++comparisons_ % kComparisonsPerCharge == 0) ChargeWork(L, kComparisonsPerCharge);
    if (lua_isnil(L, 2)) {
      if (lua_type(L, a) == LUA_TSTRING && lua_type(L, b) == LUA_TSTRING) {
        ChargeWork(L, (lua_objlen(L, a) + lua_objlen(L, b)) / kBytesPerStep);
      }
      return lua_lessthan(L, a, b) != 0;
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a - 1);
    lua_pushvalue(L, b - 2);
    lua_call(L, 2, 1);
    const bool is_less = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return is_less;
  }

  void Order(int first, int last) {
    Get(first);
    Get(last);
    if (IsLess(-1, -2)) {
      SetTwo(first, last);
    } else {
      lua_pop(L, 2);
    }
  }

  void OrderMiddle(int first, int middle, int last) {
    Get(middle);
    Get(first);
    if (IsLess(-2, -1)) {
      SetTwo(middle, first);
      return;
    }
    lua_pop(L, 1);
    Get(last);
    if (IsLess(-1, -2)) {
      SetTwo(middle, last);
    } else {
      lua_pop(L, 2);
    }
  }

  // Moves the elements less than the middle one before it and the others behind it. Returns its new index.
  int Partition(int first, int middle, int last) {
    Get(middle);  // the pivot stays on the stack
    lua_pushvalue(L, -1);
    Get(last - 1);
    SetTwo(middle, last - 1);
    int i = first;
    int j = last - 1;
    for (;;) {
      while (Get(++i), IsLess(-1, -2)) {
        if (i > last) luaL_error(L, "invalid order function for sorting");
        lua_pop(L, 1);
      }
      while (Get(--j), IsLess(-3, -1)) {
        if (j < first) luaL_error(L, "invalid order function for sorting");
        lua_pop(L, 1);
      }
      if (j < i) break;
      SetTwo(i, j);
    }
    lua_pop(L, 3);
    Get(last - 1);
    Get(i);
    SetTwo(last - 1, i);
    return i;
  }

  lua_State* const L;
  uint64_t comparisons_ = 0;
};

int Sort(lua_State* L) {
  constexpr int kSlots = 40;  // the smaller part is first, so the depth is logarithmic
  const int size = Size(L);
  CheckWritable(L, 1);
  luaL_checkstack(L, 4 * kSlots, "");
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  Sorter(L).Sort(1, size);
  return 0;
}

int MaxN(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Number largest = 0;
  uint64_t count = 0;
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    lua_pop(L, 1);
    ++count;
    if (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) > largest) largest = lua_tonumber(L, -1);
  }
  ChargeWork(L, count);
  lua_pushnumber(L, largest);
  return 1;
}

void AddElement(lua_State* L, luaL_Buffer& out, int index) {
  lua_rawgeti(L, 1, index);
  if (lua_isstring(L, -1) == 0) {
    luaL_error(L, "invalid value (%s) at index %d in table for " LUA_QL("concat"), luaL_typename(L, -1), index);
  }
  luaL_addvalue(&out);
}

int Concat(lua_State* L) {
  size_t separator_size = 0;
  const char* const separator = luaL_optlstring(L, 2, "", &separator_size);
  luaL_checktype(L, 1, LUA_TTABLE);
  const int first = luaL_optint(L, 3, 1);
  const int last = lua_isnoneornil(L, 4) ? Size(L) : luaL_checkint(L, 4);
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  for (int64_t i = first; i <= last; ++i) {
    if ((i - first) % 100 == 99) ChargeWork(L, 100);
    AddElement(L, out, static_cast<int>(i));
    if (i < last) luaL_addlstring(&out, separator, separator_size);
  }
  luaL_pushresult(&out);
  return 1;
}

}  // namespace

void ReplaceTableFunctions(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {{"insert", Insert}, {"remove", Remove}, {"sort", Sort},
                                     {"maxn", MaxN},     {"concat", Concat}, {nullptr, nullptr}};
  luaL_register(L, LUA_TABLIBNAME, kFunctions);
  lua_pop(L, 1);
}

}  // namespace cairn
