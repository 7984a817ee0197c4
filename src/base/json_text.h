// SPDX-License-Identifier: BSD-3-Clause
//
// JsonText: writes a JSON text, value after value.
//
//   JsonText json;
//   json.Open('{');
//   json.Field("name", "text");
//   json.Name("numbers").Open('[');
//   json.Number(1);
//   json.Close(']');
//   json.Close('}');
//   json.Take();      {"name":"text","numbers":[1]}
//
// The text is ASCII, whatever bytes a string has: a byte outside ASCII is written as the character of that number.
// Names of keys are quoted first (ShowWord, base/words.h).
//
// Thread: the owner's.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace cairn {

class JsonText {
 public:
  // Begins an object with '{' or an array with '['; Close ends it with the matching bracket.
  void Open(char bracket);
  void Close(char bracket);
  // The name of the next value, in an object.
  JsonText& Name(std::string_view name);

  void Text(std::string_view text);
  template <std::integral Integer>
  void Number(Integer number) {
    Separate();
    text_ += std::to_string(number);
  }
  void Flag(bool flag);
  void Null();

  void Field(std::string_view name, std::string_view text) { Name(name).Text(text); }
  template <std::integral Integer>
  void Field(std::string_view name, Integer number) {
    Name(name).Number(number);
  }

  std::string Take() { return std::move(text_); }

 private:
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
  bool follows_value_ = false;
};

}  // namespace cairn
