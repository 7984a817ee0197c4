// SPDX-License-Identifier: BSD-3-Clause
//
// Golden files: bytes of the on-disk format with their meaning, in tests/golden/*.hex.
//
//   # a comment up to the end of the line
//   02 02 61 05         # hex digits, grouped for readability
//   02 62 02 78         # continues the bytes
//   => packed_hash "a"=1 "b"="x"
//
// A file's name is the name of its decoder; a case ends with its "=>" line. The text after the arrow is the decoder's
// name and the values, or "corruption:" and the error's text.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct GoldenCase {
  std::string format;  // the file's name without its extension
  int line = 0;        // of the arrow
  std::string bytes;
  std::string meaning;
  std::string error;  // not empty if the file is malformed here
};

// The name of a case in test failures.
inline void PrintTo(const GoldenCase& golden, std::ostream* out) {
  *out << "tests/golden/" << golden.format << ".hex:" << golden.line;
}

inline const std::filesystem::path kGoldenDirectory = CAIRN_SOURCE_DIR "/tests/golden";

// Appends the bytes of a line of hex digits; false for any other line.
inline bool AppendHex(std::string_view line, std::string& bytes) {
  int high = -1;
  for (const char c : line) {
    if (std::isspace(static_cast<unsigned char>(c)) && high < 0) continue;
    if (!std::isxdigit(static_cast<unsigned char>(c))) return false;
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  return high < 0;
}

inline std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    hex.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return hex;
}

inline std::string Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

inline std::vector<GoldenCase> ReadGoldenFile(const std::filesystem::path& path) {
  std::vector<GoldenCase> cases;
  std::ifstream file(path);
  std::string line;
  std::string bytes;
  for (int number = 1; std::getline(file, line); ++number) {
    GoldenCase found{.format = path.stem().string(), .line = number, .bytes = bytes};
    if (line.starts_with("=>")) {
      found.meaning = Trim(std::string_view(line).substr(2));
      bytes.clear();
    } else if (AppendHex(std::string_view(line).substr(0, line.find('#')), bytes)) {
      continue;
    } else {
      found.error = "not hex digits: " + line;
    }
    cases.push_back(std::move(found));
  }
  if (!bytes.empty()) cases.push_back({.format = path.stem().string(), .error = "bytes without an arrow"});
  return cases;
}

// All cases of all files, by file name.
inline std::vector<GoldenCase> ReadGoldenFiles() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldenDirectory)) {
    if (entry.path().extension() == ".hex") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenCase> cases;
  for (const auto& path : paths) {
    for (GoldenCase& golden : ReadGoldenFile(path)) cases.push_back(std::move(golden));
  }
  return cases;
}

}  // namespace cairn
