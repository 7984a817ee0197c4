// SPDX-License-Identifier: BSD-3-Clause
#include "script/reply_to_lua.h"

#include <cstdlib>
#include <string>

#include "base/number.h"

namespace cairn {
namespace {

constexpr int kSlotsPerLevel = 6;

class ReplyReader {
 public:
  ReplyReader(lua_State* L, std::string_view reply) : L(L), left_(reply) {}

  // Pushes the next value.
  void Push() {
    luaL_checkstack(L, kSlotsPerLevel, "a reply is nested too deeply");
    const char type = left_.empty() ? '_' : left_[0];
    const std::string_view line = TakeLine();
    switch (type) {
      case ':': lua_pushnumber(L, static_cast<lua_Number>(ParseInt64(line).value_or(0))); break;
      case '$': PushBulk(line); break;
      case '+': PushNamed("ok", line); break;
      case '-': PushNamed("err", line); break;
      case '*': PushArray(line); break;
      case '>': PushArray(line); break;
      case '%': PushMap(line); break;
      case '~': PushSet(line); break;
      case '#': lua_pushboolean(L, line == "t"); break;
      case ',': PushDouble(line); break;
      case '(': PushNamed("big_number", line); break;
      case '=': PushVerbatim(line); break;
      case '|': SkipAttributes(line); break;
      default: lua_pushnil(L); break;
    }
  }

 private:
  // The rest of the line after the type.
  std::string_view TakeLine() {
    const size_t end = left_.find("\r\n");
    if (end == std::string_view::npos) return std::exchange(left_, {});
    const std::string_view line = left_.substr(1, end - 1);
    left_.remove_prefix(end + 2);
    return line;
  }

  std::string_view TakeBytes(std::string_view size_text) {
    const auto size = static_cast<size_t>(ParseInt64(size_text).value_or(0));
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(std::min(left_.size(), size + 2));
    return bytes;
  }

  static int64_t CountOf(std::string_view line) { return ParseInt64(line).value_or(0); }

  void PushNamed(const char* name, std::string_view text) {
    lua_createtable(L, 0, 1);
    PushText(L, text);
    lua_setfield(L, -2, name);
  }

  void PushBulk(std::string_view line) {
    if (line == "-1") {
      lua_pushboolean(L, 0);
    } else {
      PushText(L, TakeBytes(line));
    }
  }

  void PushArray(std::string_view line) {
    const int64_t count = CountOf(line);
    if (count < 0) {
      lua_pushboolean(L, 0);
      return;
    }
    lua_createtable(L, static_cast<int>(count), 0);
    for (int i = 1; i <= count; ++i) {
      Push();
      lua_rawseti(L, -2, i);
    }
  }

  void PushMap(std::string_view line) {
    lua_createtable(L, 0, 1);
    lua_newtable(L);
    for (int64_t i = CountOf(line); i > 0; --i) {
      Push();
      Push();
      lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "map");
  }

  void PushSet(std::string_view line) {
    lua_createtable(L, 0, 1);
    lua_newtable(L);
    for (int64_t i = CountOf(line); i > 0; --i) {
      Push();
      lua_pushboolean(L, 1);
      lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "set");
  }

  void PushDouble(std::string_view line) {
    char digits[64];
    const size_t size = line.copy(digits, sizeof digits - 1);
    digits[size] = '\0';
    lua_createtable(L, 0, 1);
    lua_pushnumber(L, std::strtod(digits, nullptr));
    lua_setfield(L, -2, "double");
  }

  void PushVerbatim(std::string_view line) {
    const std::string_view bytes = TakeBytes(line);
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 2);
    PushText(L, bytes.substr(0, 3));
    lua_setfield(L, -2, "format");
    PushText(L, bytes.substr(std::min<size_t>(4, bytes.size())));
    lua_setfield(L, -2, "string");
    lua_setfield(L, -2, "verbatim_string");
  }

  // Scripts do not get attributes; the value they belong to follows.
  void SkipAttributes(std::string_view line) {
    for (int64_t i = 2 * CountOf(line); i > 0; --i) {
      Push();
      lua_pop(L, 1);
    }
    Push();
  }

  lua_State* L;
  std::string_view left_;
};

}  // namespace

void PushReply(lua_State* L, std::string_view reply) { ReplyReader(L, reply).Push(); }

}  // namespace cairn
