// SPDX-License-Identifier: BSD-3-Clause
//
// Commands as text: every block of tests/command/*.test is a test of its own, run against a store in a temporary
// directory, without a server or a connection.
//
//   # A missing field has length 0.        the claim: the name of the test
//   > HSET h f "\xc3\xa9"                  a command; quotes hold blanks and the escapes \xNN \n \r \t \\ \"
//   :1                                     its reply in RESP2, line by line
//
// A comment after a reply begins the next block, which starts with an empty store. In a reply, an empty line is written
// "", a byte that is not printable \xNN, and (waits) stands for a command that would block its client. Commands see the
// wall clock. Only families of commands that need no parts of the server can be called.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/dispatcher_fixture.h"

namespace cairn {
namespace {

struct Step {
  int line;
  std::string command;
  std::vector<std::string> reply;
};

struct Block {
  std::string file;
  int line = 0;
  std::string claim;
  std::vector<Step> steps;
};

std::vector<Block> ReadBlocks(const std::filesystem::path& path) {
  std::vector<Block> blocks;
  std::ifstream in(path);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.empty()) continue;
    if (text.starts_with("#")) {
      if (blocks.empty() || !blocks.back().steps.empty()) blocks.push_back({path.string(), line, "", {}});
      blocks.back().claim += text.substr(1);
    } else if (blocks.empty()) {
      ADD_FAILURE_AT(path.c_str(), line) << "a file begins with a claim";
      return {};
    } else if (text.starts_with("> ")) {
      blocks.back().steps.push_back({line, text.substr(2), {}});
    } else if (blocks.back().steps.empty()) {
      ADD_FAILURE_AT(path.c_str(), line) << "a reply without a command";
      return {};
    } else {
      blocks.back().steps.back().reply.push_back(text);
    }
  }
  return blocks;
}

// The byte of the escape that begins at text[at]; advances `at` to its last character.
char ReadEscape(std::string_view text, size_t& at) {
  static const std::map<char, char> kNames = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
  const char name = text[++at];
  if (name == 'x') {
    int byte = 0;
    std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
    at += 2;
    return static_cast<char>(byte);
  }
  const auto found = kNames.find(name);
  return found == kNames.end() ? name : found->second;
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    words.emplace_back();
    const bool quoted = text[at] == '"';
    if (quoted) ++at;
    for (; at < text.size() && text[at] != (quoted ? '"' : ' '); ++at) {
      words.back() += quoted && text[at] == '\\' ? ReadEscape(text, at) : text[at];
    }
  }
  return words;
}

std::string Printable(std::string_view bytes) {
  if (bytes.empty()) return "\"\"";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 0x7f) {
      text += c;
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

std::vector<std::string> ReplyLines(std::string_view reply) {
  std::vector<std::string> lines;
  while (!reply.empty()) {
    const size_t end = reply.find("\r\n");
    lines.push_back(Printable(reply.substr(0, end)));
    reply.remove_prefix(std::min(end, reply.size() - 2) + 2);
  }
  return lines;
}

class CommandFile : public DispatcherFixture {
 public:
  explicit CommandFile(Block block) : block_(std::move(block)) {}

  void SetUp() override {
    StoreFixture::SetUp();
    store().set_listener(&waiters_);
  }

  void TestBody() override {
    for (const Step& step : block_.steps) {
      const std::vector<std::string> reply = Run(step.command);
      if (reply == step.reply) continue;
      ADD_FAILURE_AT(block_.file.c_str(), step.line) << "> " << step.command << "\nexpected:\n"
                                                     << Joined(step.reply) << "answered:\n"
                                                     << Joined(reply) << "claim:" << block_.claim;
      return;
    }
  }

 private:
  static std::string Joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  std::vector<std::string> Run(const std::string& command) {
    std::string out;
    const Outcome outcome = Dispatch(session_, SplitWords(command), Lane::kSlow, out);
    if (outcome.verdict == Verdict::kParked) dispatcher_.Forget(session_);
    return outcome.verdict == Verdict::kDone ? ReplyLines(out) : std::vector<std::string>{"(waits)"};
  }

  Block block_;
};

// "a missing field" becomes "AMissingField".
std::string Name(std::string_view text) {
  std::string name;
  bool begins_word = true;
  for (const char c : text) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_part) name += static_cast<char>(begins_word ? std::toupper(c) : c);
    if (c != '\'') begins_word = !is_part;
  }
  return name;
}

[[maybe_unused]] const bool kRegistered = [] {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_SOURCE_DIR "/tests/command")) {
    if (entry.path().extension() == ".test") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    const std::string suite = Name(path.stem().string()) + "Commands";
    for (const Block& block : ReadBlocks(path)) {
      testing::RegisterTest(suite.c_str(), Name(block.claim).c_str(), nullptr, nullptr, block.file.c_str(), block.line,
                            [block]() -> StoreFixture* { return new CommandFile(block); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace cairn
