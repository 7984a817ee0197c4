// SPDX-License-Identifier: BSD-3-Clause
//
// A program that keeps sessions in a directory: the example of docs/embedded.md. The tests build it against an
// installed Cairn (tests/integration/test_embedded.py).
//
//   sessions DIRECTORY
#include <cairn/database.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) {
    std::fprintf(stderr, "usage: sessions DIRECTORY\n");
    return 2;
  }
  cairn::EmbeddedOptions options;
  options.directory = argv[1];
  options.memory_bytes = 64 << 20;
  std::unique_ptr<cairn::EmbeddedDatabase> sessions;
  cairn::EmbeddedError error = cairn::EmbeddedDatabase::Open(options, sessions);
  if (!error) error = sessions->Put("session:1", "alice", 30min);
  if (!error) error = sessions->Put("session:2", "bob", 1ms);
  if (!error) error = sessions->Put("session:3", "carol");
  std::string user;
  if (!error) error = sessions->Get("session:1", user);
  if (!error) std::printf("session:1 is %s's\n", user.c_str());
  if (!error) error = sessions->Delete("session:3");
  if (!error) {
    error = sessions->ForEach([](std::string_view key, std::string_view value) {
      std::printf("%.*s=%.*s\n", static_cast<int>(key.size()), key.data(), static_cast<int>(value.size()),
                  value.data());
      return true;
    });
  }
  if (!error) error = sessions->Close();
  if (!error) return 0;
  std::fprintf(stderr, "sessions: %s\n", error.text.c_str());
  return 1;
}
