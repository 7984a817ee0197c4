// SPDX-License-Identifier: BSD-3-Clause
//
// One program for all fuzz targets; libFuzzer's main function calls the two functions below.
//
//   cairn_fuzz_targets --target=NAME [options of libFuzzer] CORPUS...
//   cairn_fuzz_targets --list                       for each target its name, the size of its inputs, what it covers
//   cairn_fuzz_targets --target=NAME --seeds=DIR    writes the seeds of a target to files
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fuzz/targets/target.h"

namespace cairn {
namespace {

const FuzzTarget* chosen = nullptr;
std::function<void(std::string_view)> run;

void List() {
  for (const FuzzTarget& target : FuzzTargets()) {
    std::printf("%s %zu %s\n", std::string(target.name).c_str(), target.most_bytes, std::string(target.covers).c_str());
  }
}

void WriteSeeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : chosen->seeds()) {
    std::ofstream file(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(seed.data(), static_cast<std::streamsize>(seed.size()));
  }
}

void Choose(std::string_view name) {
  for (const FuzzTarget& target : FuzzTargets()) {
    if (target.name == name) chosen = &target;
  }
}

void ReadOptions(int count, char** words) {
  constexpr std::string_view kTarget = "--target=";
  constexpr std::string_view kSeeds = "--seeds=";
  std::string folder;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--list") {
      List();
      std::exit(0);
    }
    if (word.starts_with(kTarget)) Choose(word.substr(kTarget.size()));
    if (word.starts_with(kSeeds)) folder = word.substr(kSeeds.size());
  }
  if (chosen == nullptr) {
    std::fputs("--target=NAME is missing, or there is no such target\n", stderr);
    std::exit(2);
  }
  if (!folder.empty()) {
    WriteSeeds(folder);
    std::exit(0);
  }
  run = chosen->make();
  std::atexit([] { run = nullptr; });  // a store that closes writes to the log, which is destroyed after this
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  cairn::ReadOptions(*count, *words);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  cairn::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
