// SPDX-License-Identifier: BSD-3-Clause
//
// The library `cjson`: its settings, and encoding. Decoding is in lib_json_decode.cc.
//
// A table whose keys are integers from 1 on is an array, any other table, including an empty one, is an object.
// Settings are those of lua-cjson 2.1. Those of the table that all scripts share are reset after each run (LuaVm).
//
// Thread: that of the Lua state.
#include "script/lib_json.h"

#include <climits>
#include <cmath>
#include <cstdio>

#include "script/lua_vm.h"
#include "script/sandbox.h"
#include "script/script_buffer.h"

namespace cairn {
namespace {

JsonSettings& SettingsOf(lua_State* L) { return *static_cast<JsonSettings*>(lua_touserdata(L, lua_upvalueindex(1))); }

// The escape sequence of a character in a string; null: none is needed.
const char* EscapeOf(unsigned char c) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '/': return "\\/";
    case '\b': return "\\b";
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\f': return "\\f";
    case '\r': return "\\r";
    default: return nullptr;
  }
}

class Encoder {
 public:
  Encoder(lua_State* state, const JsonSettings& settings) : L(state), settings_(settings), out_(state) {}

  // Encodes the value at `index` and pushes the text.
  void Encode(int index) {
    lua_pushvalue(L, index);
    AddValue();
    out_.PushText();
  }

 private:
  [[noreturn]] void Refuse(int index, const char* why) {
    luaL_error(L, "Cannot serialise %s: %s", luaL_typename(L, index), why);
    __builtin_unreachable();
  }

  // Appends the value on the top of the stack, and leaves it there.
  void AddValue() {
    constexpr uint64_t kStepsPerValue = 4;
    ChargeWork(L, kStepsPerValue);
    switch (lua_type(L, -1)) {
      case LUA_TSTRING: AddText(TextAt(L, -1)); break;
      case LUA_TNUMBER: AddNumber(-1); break;
      case LUA_TBOOLEAN: out_.Append(lua_toboolean(L, -1) != 0 ? "true" : "false"); break;
      case LUA_TTABLE: AddTable(); break;
      case LUA_TNIL: out_.Append("null"); break;
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(L, -1) != nullptr) Refuse(-1, "type not supported");
        out_.Append("null");
        break;
      default: Refuse(-1, "type not supported");
    }
  }

  void AddText(std::string_view text) {
    out_.Append('"');
    for (size_t done = 0; done < text.size();) {
      size_t plain = done;
      while (plain < text.size() && !IsEscaped(text[plain])) ++plain;
      out_.Append(text.substr(done, plain - done));
      if (plain < text.size()) AddEscaped(static_cast<unsigned char>(text[plain]));
      done = plain + 1;
    }
    out_.Append('"');
  }

  static bool IsEscaped(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\' || byte == '/';
  }

  void AddEscaped(unsigned char c) {
    if (const char* const escape = EscapeOf(c)) {
      out_.Append(std::string_view(escape, 2));
      return;
    }
    constexpr char kDigits[] = "0123456789abcdef";
    out_.Append("\\u00");
    out_.Append(kDigits[c >> 4]);
    out_.Append(kDigits[c & 15]);
  }

  void AddNumber(int index) {
    const lua_Number number = lua_tonumber(L, index);
    if (!std::isfinite(number)) {
      switch (static_cast<InvalidNumbers>(settings_.encode_invalid_numbers)) {
        case InvalidNumbers::kRefused: Refuse(index, "must not be NaN or Inf");
        case InvalidNumbers::kAsNull: out_.Append("null"); return;
        case InvalidNumbers::kAsTheyAre: out_.Append(std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf"); return;
      }
    }
    char digits[64];
    const int size = std::snprintf(digits, sizeof digits, "%.*g", settings_.number_precision, number);
    out_.Append(std::string_view(digits, static_cast<size_t>(size)));
  }

  void AddTable() {
    constexpr int kSlots = 6;
    ++depth_;
    if (depth_ > settings_.encode_max_depth || lua_checkstack(L, kSlots) == 0) {
      luaL_error(L, "Cannot serialise, excessive nesting (%d)", depth_);
    }
    const int length = CountArray();
    if (length > 0) {
      AddArray(length);
    } else {
      AddObject();
    }
    --depth_;
  }

  // Returns the largest index of the array on the top of the stack; -1: it is an object.
  int CountArray() {
    lua_Number largest = 0;
    lua_Number count = 0;
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
      lua_pop(L, 1);
      const lua_Number key = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
      if (key < 1 || key > INT_MAX || std::floor(key) != key) {
        lua_pop(L, 1);
        return -1;
      }
      largest = std::fmax(largest, key);
      ++count;
    }
    ChargeWork(L, static_cast<uint64_t>(count));
    const bool is_sparse =
        settings_.sparse_ratio > 0 && largest > count * settings_.sparse_ratio && largest > settings_.sparse_safe;
    if (!is_sparse) return static_cast<int>(largest);
    if (settings_.sparse_convert == 0) Refuse(-1, "excessively sparse array");
    return -1;
  }

  void AddArray(int length) {
    out_.Append('[');
    for (int i = 1; i <= length; ++i) {
      if (i > 1) out_.Append(',');
      lua_rawgeti(L, -1, i);
      AddValue();
      lua_pop(L, 1);
    }
    out_.Append(']');
  }

  void AddObject() {
    out_.Append('{');
    bool is_first = true;
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
      if (!is_first) out_.Append(',');
      is_first = false;
      AddKey();
      out_.Append(':');
      AddValue();
      lua_pop(L, 1);
    }
    out_.Append('}');
  }

  // Appends the key; the key and value are on the top of the stack.
  void AddKey() {
    switch (lua_type(L, -2)) {
      case LUA_TSTRING: AddText(TextAt(L, -2)); break;
      case LUA_TNUMBER:
        out_.Append('"');
        AddNumber(-2);
        out_.Append('"');
        break;
      default: Refuse(-2, "table key must be a number or string");
    }
  }

  lua_State* const L;
  const JsonSettings& settings_;
  ScriptBuffer out_;
  int depth_ = 0;
};

int Encode(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  Encoder(L, SettingsOf(L)).Encode(1);
  return 1;
}

// ---- settings: each function returns the current value

JsonSettings& StartSetting(lua_State* L, int most_args) {
  luaL_argcheck(L, lua_gettop(L) <= most_args, most_args + 1, "found too many arguments");
  lua_settop(L, most_args);
  return SettingsOf(L);
}

int SetNumber(lua_State* L, int arg, int& setting, int least, int most) {
  if (!lua_isnil(L, arg)) {
    const lua_Integer value = luaL_checkinteger(L, arg);
    if (value < least || value > most) {
      luaL_argerror(L, 1, lua_pushfstring(L, "expected integer between %d and %d", least, most));
    }
    setting = static_cast<int>(value);
  }
  lua_pushinteger(L, setting);
  return 1;
}

// Sets and pushes a setting that has names. The first two names, off and on, may also be given as booleans.
int SetChoice(lua_State* L, int arg, int& setting, const char* const* names) {
  if (lua_isboolean(L, arg)) {
    setting = lua_toboolean(L, arg);
  } else if (!lua_isnil(L, arg)) {
    setting = luaL_checkoption(L, arg, nullptr, names);
  }
  if (setting <= 1) {
    lua_pushboolean(L, setting);
  } else {
    lua_pushstring(L, names[setting]);
  }
  return 1;
}

constexpr const char* kOffOn[] = {"off", "on", nullptr};
constexpr const char* kOffOnNull[] = {"off", "on", "null", nullptr};
constexpr int kMostPrecision = 14;

int SetSparseArray(lua_State* L) {
  JsonSettings& settings = StartSetting(L, 3);
  SetChoice(L, 1, settings.sparse_convert, kOffOn);
  SetNumber(L, 2, settings.sparse_ratio, 0, INT_MAX);
  SetNumber(L, 3, settings.sparse_safe, 0, INT_MAX);
  return 3;
}
int SetEncodeDepth(lua_State* L) { return SetNumber(L, 1, StartSetting(L, 1).encode_max_depth, 1, INT_MAX); }
int SetDecodeDepth(lua_State* L) { return SetNumber(L, 1, StartSetting(L, 1).decode_max_depth, 1, INT_MAX); }
int SetPrecision(lua_State* L) { return SetNumber(L, 1, StartSetting(L, 1).number_precision, 1, kMostPrecision); }
int SetKeepBuffer(lua_State* L) { return SetChoice(L, 1, StartSetting(L, 1).keep_buffer, kOffOn); }
int SetEncodeInvalid(lua_State* L) { return SetChoice(L, 1, StartSetting(L, 1).encode_invalid_numbers, kOffOnNull); }
int SetDecodeInvalid(lua_State* L) { return SetChoice(L, 1, StartSetting(L, 1).decode_invalid_numbers, kOffOn); }

// ---- the table

int New(lua_State* L);

// Pushes the table whose functions use the settings on the top of the stack.
void PushTable(lua_State* L) {
  constexpr luaL_Reg kFunctions[] = {
      {"encode", Encode},
      {"decode", DecodeJson},
      {"encode_sparse_array", SetSparseArray},
      {"encode_max_depth", SetEncodeDepth},
      {"decode_max_depth", SetDecodeDepth},
      {"encode_number_precision", SetPrecision},
      {"encode_keep_buffer", SetKeepBuffer},
      {"encode_invalid_numbers", SetEncodeInvalid},
      {"decode_invalid_numbers", SetDecodeInvalid},
      {"new", New},
  };
  lua_newtable(L);
  for (const luaL_Reg& entry : kFunctions) {
    lua_pushvalue(L, -2);
    lua_pushcclosure(L, entry.func, 1);
    lua_setfield(L, -2, entry.name);
  }
  lua_pushlightuserdata(L, nullptr);
  lua_setfield(L, -2, "null");
  lua_pushliteral(L, "cjson");
  lua_setfield(L, -2, "_NAME");
  lua_pushliteral(L, "2.1.0");
  lua_setfield(L, -2, "_VERSION");
}

// cjson.new: a table with its own settings.
int New(lua_State* L) {
  *static_cast<JsonSettings*>(lua_newuserdata(L, sizeof(JsonSettings))) = JsonSettings();
  PushTable(L);
  return 1;
}

}  // namespace

int OpenJson(lua_State* L) {
  lua_pushlightuserdata(L, &LuaVm::Of(L).json_settings());
  PushTable(L);
  return 1;
}

}  // namespace cairn
