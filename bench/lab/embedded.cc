// SPDX-License-Identifier: BSD-3-Clause
//
// embedded: db_bench's fillrandom and readrandom on an EmbeddedDatabase, for bench/embedded.
//
//   embedded DIRECTORY KEYS MEMORY_BYTES
//
// Keys have 16 bytes, as db_bench's: a random number below KEYS in binary, then zeros as digits. Values have 100
// bytes, half of them random. One thread. Prints microseconds per operation.
#include <cairn/database.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>

namespace {

constexpr size_t kKeyBytes = 16;
constexpr size_t kValueBytes = 100;

void Check(const cairn::EmbeddedError& error) {
  if (!error) return;
  std::fprintf(stderr, "embedded: %s\n", error.text.c_str());
  std::exit(1);
}

void SetKey(std::string& key, uint64_t number) {
  key.assign(kKeyBytes, '0');
  for (int i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (56 - 8 * i));
}

template <typename Operation>
void Measure(const char* name, uint64_t count, Operation run) {
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; ++i) run();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s %.3f\n", name, took.count() / static_cast<double>(count));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: embedded DIRECTORY KEYS MEMORY_BYTES\n");
    return 2;
  }
  const uint64_t keys = std::strtoull(argv[2], nullptr, 10);
  cairn::EmbeddedOptions options;
  options.directory = argv[1];
  options.memory_bytes = std::strtoull(argv[3], nullptr, 10);
  options.durability = cairn::Durability::kKernel;  // as db_bench
  std::unique_ptr<cairn::EmbeddedDatabase> database;
  Check(cairn::EmbeddedDatabase::Open(options, database));
  std::mt19937_64 random(301);
  std::string noise(1 << 20, 'x');
  for (size_t i = 0; i < noise.size(); i += 2) noise[i] = static_cast<char>(random());
  std::string key;
  size_t at = 0;
  Measure("fillrandom", keys, [&] {
    SetKey(key, random() % keys);
    at = at + kValueBytes > noise.size() - kValueBytes ? 0 : at + kValueBytes;
    Check(database->Put(key, {noise.data() + at, kValueBytes}));
  });
  std::string value;
  uint64_t found = 0;
  Measure("readrandom", keys, [&] {
    SetKey(key, random() % keys);
    const cairn::EmbeddedError error = database->Get(key, value);
    if (error.code != cairn::EmbeddedError::Code::kNotFound) Check(error);
    found += !error;
  });
  std::printf("found %.3f\n", static_cast<double>(found) / static_cast<double>(keys));
  Check(database->Close());
}
