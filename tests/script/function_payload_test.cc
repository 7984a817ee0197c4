// SPDX-License-Identifier: BSD-3-Clause
//
// A payload is small, and its libraries may be large: a payload of 20 MB could decompress to gigabytes.
#include "script/function_payload.h"

#include <gtest/gtest.h>

#include <utility>

namespace cairn {
namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

std::string MakePayload(int count, const std::string& code) {
  Libraries libraries;
  for (int i = 0; i < count; ++i) {
    auto library = std::make_shared<Library>();
    library->name = "lib" + std::to_string(i);
    library->code = code;
    EXPECT_TRUE(libraries.Add(std::move(library)).ok());
  }
  return WriteFunctionPayload(libraries);
}

TEST(FunctionPayload, IsRefusedIfItsLibrariesExceedTheLimit) {
  const std::string payload = MakePayload(3, std::string(1000000, 'x'));
  EXPECT_LT(payload.size(), 100000u) << "it is compressed";
  const auto codes = ReadFunctionPayload(payload, 3100000);
  ASSERT_TRUE(codes.ok()) << codes.status().text();
  EXPECT_EQ(codes->size(), 3u);
  EXPECT_EQ(codes->back().size(), 1000000u);
  EXPECT_EQ(ReadFunctionPayload(payload, 2900000).status().text(), kLibrariesTooLarge);
  EXPECT_EQ(ReadFunctionPayload(payload, 1000).status().text(), kLibrariesTooLarge);
  EXPECT_TRUE(ReadFunctionPayload(payload, kNoLimit).ok());
}

// Each takes two bytes of the payload, and much more in memory.
TEST(FunctionPayload, IsRefusedForManySmallLibraries) {
  const std::string payload = MakePayload(1000, "");
  EXPECT_EQ(ReadFunctionPayload(payload, 10000).status().text(), kLibrariesTooLarge);
  EXPECT_TRUE(ReadFunctionPayload(payload, kNoLimit).ok());
}

}  // namespace
}  // namespace cairn
