// SPDX-License-Identifier: BSD-3-Clause
#include "base/json_text.h"

#include <fmt/format.h>

#include <iterator>

namespace cairn {

// Writes the comma before a value that follows another one.
void JsonText::Separate() {
  if (follows_value_) text_ += ',';
  follows_value_ = true;
}

void JsonText::Quote(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_.append({'\\', c});
    } else if (byte < 0x20 || byte > 0x7e) {
      fmt::format_to(std::back_inserter(text_), "\\u{:04x}", byte);
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

void JsonText::Open(char bracket) {
  Separate();
  text_ += bracket;
  follows_value_ = false;
}

void JsonText::Close(char bracket) {
  text_ += bracket;
  follows_value_ = true;
}

JsonText& JsonText::Name(std::string_view name) {
  Separate();
  Quote(name);
  text_ += ':';
  follows_value_ = false;
  return *this;
}

void JsonText::Text(std::string_view text) {
  Separate();
  Quote(text);
}

void JsonText::Flag(bool flag) {
  Separate();
  text_ += flag ? "true" : "false";
}

void JsonText::Null() {
  Separate();
  text_ += "null";
}

}  // namespace cairn
