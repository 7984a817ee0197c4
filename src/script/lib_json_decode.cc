// SPDX-License-Identifier: BSD-3-Clause
//
// cjson.decode: JSON text to Lua values. null becomes a light userdata, so it can be an element of a table.
//
// As in lua-cjson, a zero byte ends the text, and numbers have strtod's syntax unless the settings require JSON's.
//
// Thread: that of the Lua state.
#include <strings.h>

#include <cstdlib>
#include <cstring>

#include "script/lib_json.h"
#include "script/sandbox.h"
#include "script/script_buffer.h"

namespace cairn {
namespace {

enum class Token : unsigned char {
  kObjectBegin,
  kObjectEnd,
  kArrayBegin,
  kArrayEnd,
  kText,
  kNumber,
  kBoolean,
  kNull,
  kColon,
  kComma,
  kEnd,
  kError
};

// The names of tokens in lua-cjson's messages.
constexpr const char* kTokenNames[] = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
                                       "T_BOOLEAN",   "T_NULL",    "T_COLON",     "T_COMMA",   "T_END"};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Returns the value of the four hexadecimal digits at `at`; -1 if they are not.
int HexNumber(const char* at) {
  int number = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexDigit(at[i]);
    if (digit < 0) return -1;
    number = number << 4 | digit;
  }
  return number;
}

// Whether strtod would accept the text but JSON would not.
bool IsInvalidNumber(const char* at) {
  if (*at == '+') return true;
  if (*at == '-') ++at;
  if (*at == '0') return (at[1] | 0x20) == 'x' || (at[1] >= '0' && at[1] <= '9');
  if (*at <= '9') return false;
  return strncasecmp(at, "inf", 3) == 0 || strncasecmp(at, "nan", 3) == 0;
}

char Unescape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 't': return '\t';
    case 'n': return '\n';
    case 'f': return '\f';
    case 'r': return '\r';
    default: return '\0';
  }
}

class Decoder {
 public:
  Decoder(lua_State* state, const JsonSettings& settings, const char* text)
      : L(state), settings_(settings), buffer_(state), text_(text), at_(text) {}

  // Decodes the text and pushes the value.
  void Decode() {
    Next();
    PushValue();
    Next();
    if (token_ != Token::kEnd) Refuse("the end");
  }

 private:
  [[noreturn]] void Refuse(const char* expected) {
    const char* const found = token_ == Token::kError ? error_ : kTokenNames[static_cast<int>(token_)];
    luaL_error(L, "Expected %s but found %s at character %d", expected, found, static_cast<int>(place_ + 1));
    __builtin_unreachable();
  }

  void SetError(const char* error) {
    token_ = Token::kError;
    error_ = error;
    place_ = at_ - text_;
  }

  void Next() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r') ++at_;
    place_ = at_ - text_;
    switch (*at_) {
      case '\0': token_ = Token::kEnd; return;
      case '{': TakeSign(Token::kObjectBegin); return;
      case '}': TakeSign(Token::kObjectEnd); return;
      case '[': TakeSign(Token::kArrayBegin); return;
      case ']': TakeSign(Token::kArrayEnd); return;
      case ',': TakeSign(Token::kComma); return;
      case ':': TakeSign(Token::kColon); return;
      case '"': TakeText(); return;
      default: TakeWord(); return;
    }
  }

  void TakeSign(Token token) {
    token_ = token;
    ++at_;
  }

  bool TakeIf(const char* word) {
    const size_t size = std::strlen(word);
    if (std::strncmp(at_, word, size) != 0) return false;
    at_ += size;
    return true;
  }

  void TakeWord() {
    const bool is_number = *at_ == '-' || (*at_ >= '0' && *at_ <= '9');
    if (is_number) {
      if (settings_.decode_invalid_numbers == 0 && IsInvalidNumber(at_)) {
        SetError("invalid number");
      } else {
        TakeNumber();
      }
    } else if (TakeIf("true") || TakeIf("false")) {
      token_ = Token::kBoolean;
      boolean_ = text_[place_] == 't';
    } else if (TakeIf("null")) {
      token_ = Token::kNull;
    } else if (settings_.decode_invalid_numbers != 0 && IsInvalidNumber(at_) && std::strchr("+iInN", *at_) != nullptr) {
      TakeNumber();
    } else {
      SetError("invalid token");
    }
  }

  void TakeNumber() {
    char* end = nullptr;
    number_ = std::strtod(at_, &end);
    if (end == at_) {
      SetError("invalid number");
      return;
    }
    token_ = Token::kNumber;
    at_ = end;
  }

  void TakeText() {
    ++at_;
    buffer_.Clear();
    for (;;) {
      const size_t plain = std::strcspn(at_, "\"\\");
      buffer_.Append(std::string_view(at_, plain));
      at_ += plain;
      if (*at_ == '"') break;
      if (*at_ == '\0') return SetError("unexpected end of string");
      if (at_[1] == 'u') {
        if (!TakeCodePoint()) return SetError("invalid unicode escape code");
        continue;
      }
      const char c = Unescape(at_[1]);
      if (c == '\0') return SetError("invalid escape code");
      buffer_.Append(c);
      at_ += 2;
    }
    ++at_;
    token_ = Token::kText;
  }

  // Reads \uXXXX, or a surrogate pair of two.
  bool TakeCodePoint() {
    constexpr int kEscapeSize = 6;
    int code = HexNumber(at_ + 2);
    if (code < 0) return false;
    int taken = kEscapeSize;
    if ((code & 0xf800) == 0xd800) {
      const char* const second = at_ + kEscapeSize;
      if ((code & 0x400) != 0 || second[0] != '\\' || second[1] != 'u') return false;
      const int low = HexNumber(second + 2);
      if (low < 0 || (low & 0xfc00) != 0xdc00) return false;
      code = ((code & 0x3ff) << 10 | (low & 0x3ff)) + 0x10000;
      taken = 2 * kEscapeSize;
    }
    AddUtf8(code);
    at_ += taken;
    return true;
  }

  void AddUtf8(int code) {
    if (code <= 0x7f) {
      buffer_.Append(static_cast<char>(code));
      return;
    }
    const int following = code <= 0x7ff ? 1 : code <= 0xffff ? 2 : 3;
    constexpr int kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    buffer_.Append(static_cast<char>(kFirst[following] | code >> (6 * following)));
    for (int i = following - 1; i >= 0; --i) buffer_.Append(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
  }

  // Pushes the value that begins with the current token.
  void PushValue() {
    constexpr uint64_t kStepsPerValue = 4;
    ChargeWork(L, kStepsPerValue);
    switch (token_) {
      case Token::kText: PushText(L, buffer_.bytes()); break;
      case Token::kNumber: lua_pushnumber(L, number_); break;
      case Token::kBoolean: lua_pushboolean(L, boolean_ ? 1 : 0); break;
      case Token::kObjectBegin: PushObject(); break;
      case Token::kArrayBegin: PushArray(); break;
      case Token::kNull: lua_pushlightuserdata(L, nullptr); break;
      default: Refuse("value");
    }
  }

  void Descend() {
    constexpr int kSlots = 6;
    ++depth_;
    if (depth_ <= settings_.decode_max_depth && lua_checkstack(L, kSlots) != 0) return;
    luaL_error(L, "Found too many nested data structures (%d) at character %d", depth_, static_cast<int>(at_ - text_));
  }

  void PushObject() {
    Descend();
    lua_newtable(L);
    Next();
    while (token_ != Token::kObjectEnd) {
      if (token_ != Token::kText) Refuse("object key string");
      PushText(L, buffer_.bytes());
      Next();
      if (token_ != Token::kColon) Refuse("colon");
      Next();
      PushValue();
      lua_rawset(L, -3);
      Next();
      if (token_ == Token::kObjectEnd) break;
      if (token_ != Token::kComma) Refuse("comma or object end");
      Next();
      if (token_ == Token::kObjectEnd) Refuse("object key string");
    }
    --depth_;
  }

  void PushArray() {
    Descend();
    lua_newtable(L);
    Next();
    for (int i = 1; token_ != Token::kArrayEnd; ++i) {
      PushValue();
      lua_rawseti(L, -2, i);
      Next();
      if (token_ == Token::kArrayEnd) break;
      if (token_ != Token::kComma) Refuse("comma or array end");
      Next();
      if (token_ == Token::kArrayEnd) Refuse("value");
    }
    --depth_;
  }

  lua_State* const L;
  const JsonSettings& settings_;
  ScriptBuffer buffer_;  // holds the last text
  const char* const text_;
  const char* at_;
  Token token_ = Token::kEnd;
  ptrdiff_t place_ = 0;  // position of the token
  const char* error_ = nullptr;
  double number_ = 0;
  bool boolean_ = false;
  int depth_ = 0;
};

}  // namespace

int DecodeJson(lua_State* L) {
  luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
  size_t size = 0;
  const char* const text = luaL_checklstring(L, 1, &size);
  if (size >= 2 && (text[0] == '\0' || text[1] == '\0')) {
    return luaL_error(L, "JSON parser does not support UTF-16 or UTF-32");
  }
  const auto& settings = *static_cast<const JsonSettings*>(lua_touserdata(L, lua_upvalueindex(1)));
  Decoder(L, settings, text).Decode();
  return 1;
}

}  // namespace cairn
