// SPDX-License-Identifier: BSD-3-Clause
//
// FuzzTarget: a decoder of bytes that the server does not trust, as libFuzzer calls it (tests/fuzz/libfuzzer).
//
// A target decodes any bytes without an invalid access, and fails an ASSERT if the result contradicts itself: what was
// decoded must be encoded again with the same meaning. tests/fuzz/targets_test.cc runs every target on its seeds and on
// the inputs in tests/fuzz/regressions/<name>/, so a find stays found without libFuzzer.
//
// Thread: one. The function that `make` returns owns the state that inputs share, such as a store.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

struct FuzzTarget {
  std::string_view name;
  std::function<void(std::string_view input)> (*make)();
  std::vector<std::string> (*seeds)();  // valid inputs
  std::string_view covers;              // the files whose coverage tests/fuzz/libfuzzer prints, as prefixes of paths
  size_t most_bytes = 4096;             // of an input that libFuzzer makes
};

// All targets, by name.
std::span<const FuzzTarget> FuzzTargets();

extern const FuzzTarget kAclTarget;
extern const FuzzTarget kBusTarget;
extern const FuzzTarget kClientsTarget;
extern const FuzzTarget kConfigTarget;
extern const FuzzTarget kDumpTarget;
extern const FuzzTarget kEncodingTarget;
extern const FuzzTarget kFilesTarget;
extern const FuzzTarget kHttpTarget;
extern const FuzzTarget kJsonTarget;
extern const FuzzTarget kLuaTarget;
extern const FuzzTarget kMetaTarget;
extern const FuzzTarget kRdbTarget;
extern const FuzzTarget kRecordsTarget;
extern const FuzzTarget kRespTarget;
extern const FuzzTarget kServersTarget;
extern const FuzzTarget kStoredTarget;
extern const FuzzTarget kStreamsTarget;

// Removes the first byte of the input and returns it: the choice between decoders or options. 0: the input is empty.
inline uint8_t TakeChoice(std::string_view& input) {
  if (input.empty()) return 0;
  const auto choice = static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  return choice;
}

// The input of a seed: the choice, then the bytes.
inline std::string Chosen(size_t choice, std::string_view bytes) {
  std::string input(1, static_cast<char>(choice));
  return input.append(bytes);
}

}  // namespace cairn
