// SPDX-License-Identifier: BSD-3-Clause
#include "script/reply_from_lua.h"

#include <string>

#include "script/lua_vm.h"

namespace cairn {
namespace {

constexpr int kSlotsPerLevel = 8;
constexpr int kMostDepth = 1000;
constexpr uint64_t kValuesPerLook = 500;

// Pushes table[name] of the table on the top of the stack if it has this type; else pushes nothing.
bool PushField(lua_State* L, const char* name, int type) {
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_type(L, -1) == type) return true;
  lua_pop(L, 1);
  return false;
}

std::string WithoutLineEnds(std::string_view text) {
  std::string safe(text);
  for (char& c : safe) c = c == '\r' || c == '\n' ? ' ' : c;
  return safe;
}

size_t CountEntries(lua_State* L) {
  size_t count = 0;
  lua_pushnil(L);
  while (lua_next(L, -2) != 0) {
    lua_pop(L, 1);
    ++count;
  }
  return count;
}

class Writer {
 public:
  Writer(lua_State* L, LuaVm& vm, size_t most_bytes, Reply& reply)
      : L(L), vm_(vm), most_bytes_(most_bytes), protocol_(vm.run()->protocol), reply_(reply) {}

  // Replies with the value on the top of the stack and pops it.
  void Write() {
    if (++values_ % kValuesPerLook == 0) vm_.Look(kValuesPerLook);
    if (!lua_checkstack(L, kSlotsPerLevel) || depth_ >= kMostDepth) {
      reply_.Error("ERR reached lua stack limit");
    } else {
      ++depth_;
      WriteValue();
      --depth_;
    }
    lua_pop(L, 1);
  }

  // Whether to stop writing.
  bool is_over() const { return is_too_large() || reply_.is_cut() || vm_.is_ending(); }
  bool is_too_large() const { return reply_.size() > most_bytes_; }

 private:
  void WriteValue() {
    switch (lua_type(L, -1)) {
      case LUA_TSTRING: reply_.Bulk(TextAt(L, -1)); break;
      case LUA_TNUMBER: reply_.Integer(Truncated<int64_t>(lua_tonumber(L, -1))); break;
      case LUA_TBOOLEAN:
        if (protocol_ == 3) {
          reply_.Bool(lua_toboolean(L, -1) != 0);
        } else if (lua_toboolean(L, -1) != 0) {
          reply_.Integer(1);
        } else {
          reply_.Null();
        }
        break;
      case LUA_TTABLE: WriteTable(); break;
      default: reply_.Null(); break;
    }
  }

  void WriteTable() {
    const int top = lua_gettop(L);
    const bool replied = WriteTyped();
    lua_settop(L, top);
    if (!replied) WriteArray();
  }

  // Replies with the typed value of a table. Returns false if the table has none of the type fields.
  bool WriteTyped() {
    if (PushField(L, "err", LUA_TSTRING)) {
      reply_.Error(TextAt(L, -1));
    } else if (PushField(L, "ok", LUA_TSTRING)) {
      reply_.Simple(WithoutLineEnds(TextAt(L, -1)));
    } else if (PushField(L, "double", LUA_TNUMBER)) {
      reply_.Double(lua_tonumber(L, -1));
    } else if (PushField(L, "big_number", LUA_TSTRING)) {
      reply_.BigNumber(WithoutLineEnds(TextAt(L, -1)));
    } else if (PushField(L, "verbatim_string", LUA_TTABLE) && WriteVerbatim()) {
    } else if (PushField(L, "map", LUA_TTABLE)) {
      WriteEntries(true);
    } else if (PushField(L, "set", LUA_TTABLE)) {
      WriteEntries(false);
    } else {
      return false;
    }
    return true;
  }

  // The verbatim_string's table is on the top.
  bool WriteVerbatim() {
    if (!PushField(L, "format", LUA_TSTRING)) return false;
    std::string format(TextAt(L, -1));
    lua_pop(L, 1);
    if (!PushField(L, "string", LUA_TSTRING)) return false;
    format.resize(3, ' ');
    reply_.Verbatim(format, TextAt(L, -1));
    lua_pop(L, 1);
    return true;
  }

  // The map's or set's table is on the top.
  void WriteEntries(bool with_values) {
    const size_t count = CountEntries(L);
    if (with_values) {
      reply_.Map(count);
    } else {
      reply_.Set(count);
    }
    lua_pushnil(L);
    while (lua_next(L, -2) != 0 && !is_over()) {
      lua_pushvalue(L, -2);
      Write();
      if (with_values) {
        Write();
      } else {
        lua_pop(L, 1);
      }
    }
  }

  void WriteArray() {
    int count = 0;
    for (;; ++count) {
      lua_rawgeti(L, -1, count + 1);
      const bool ends = lua_isnil(L, -1);
      lua_pop(L, 1);
      if (ends) break;
    }
    vm_.Look(static_cast<uint64_t>(count));
    reply_.Array(static_cast<size_t>(count));
    for (int i = 1; i <= count && !is_over(); ++i) {
      lua_rawgeti(L, -1, i);
      Write();
    }
  }

  lua_State* const L;
  LuaVm& vm_;
  const size_t most_bytes_;
  const int protocol_;
  Reply& reply_;
  int depth_ = 0;
  uint64_t values_ = 0;
};

}  // namespace

void ReplyFromLua(lua_State* L, LuaVm& vm, size_t most_bytes, Reply& reply) {
  const size_t start = reply.size();
  Writer writer(L, vm, most_bytes, reply);
  writer.Write();
  if (!writer.is_over()) return;
  const bool is_too_large = writer.is_too_large();
  reply.Rewind(start);
  if (is_too_large) reply.Error("ERR the reply of the script exceeds the memory limit of scripts");
}

}  // namespace cairn
