// SPDX-License-Identifier: BSD-3-Clause
//
// Golden messages of the cluster bus: bytes that redis-server sent, with their meaning.
//
//   == a title
//   52436d62  # a comment: the field
//   00*2048 01           # hex digits; xx*n stands for n times the byte xx
//   => type ping         # the meaning, one or more lines; they end the message
#pragma once

#include <charconv>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/golden_file.h"

namespace cairn {

struct GoldenMessage {
  std::string file;
  std::string title;
  std::string bytes;
  std::string meaning;  // the lines behind the arrows, each with a line end
};

// The name of a message in test failures.
inline void PrintTo(const GoldenMessage& golden, std::ostream* out) { *out << golden.file << ": " << golden.title; }

// Appends the bytes of a word of hex digits; false for any other word.
inline bool AppendHexWord(const std::string& word, std::string& bytes) {
  const size_t star = word.find('*');
  std::string unit;
  if (!AppendHex(std::string_view(word).substr(0, star), unit)) return false;
  size_t count = 1;
  if (star != std::string::npos) {
    const auto [end, error] = std::from_chars(word.data() + star + 1, word.data() + word.size(), count);
    if (error != std::errc() || end != word.data() + word.size()) return false;
  }
  for (; count > 0; --count) bytes += unit;
  return true;
}

// The messages of all files in tests/bus/golden/; a malformed line becomes a message without bytes.
inline std::vector<GoldenMessage> ReadGoldenMessages() {
  std::vector<GoldenMessage> messages;
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_SOURCE_DIR "/tests/bus/golden")) {
    std::ifstream file(entry.path());
    const std::string name = entry.path().filename();
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("== ")) {
        messages.push_back({.file = name, .title = line.substr(3)});
      } else if (line.starts_with("=> ")) {
        messages.back().meaning += line.substr(3) + '\n';
      } else {
        std::istringstream words(line.substr(0, line.find('#')));
        for (std::string word; words >> word;) {
          if (!AppendHexWord(word, messages.back().bytes)) messages.push_back({.file = name, .title = line});
        }
      }
    }
  }
  return messages;
}

}  // namespace cairn
