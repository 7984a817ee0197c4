// SPDX-License-Identifier: BSD-3-Clause
//
// Every fuzz target runs on its seeds and on the inputs that it once failed on: tests/fuzz/regressions/<target>/,
// hexadecimal digits with comments after #. tests/fuzz/libfuzzer finds new ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "encoding/golden_file.h"
#include "fuzz/targets/target.h"

namespace cairn {
namespace {

const std::filesystem::path kRegressions = CAIRN_SOURCE_DIR "/tests/fuzz/regressions";

class FuzzTargetTest : public testing::TestWithParam<FuzzTarget> {};

std::string ReadHexFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string bytes;
  for (std::string line; std::getline(file, line);) {
    EXPECT_TRUE(AppendHex(std::string_view(line).substr(0, line.find('#')), bytes)) << path << ": " << line;
  }
  return bytes;
}

std::vector<std::string> Regressions(std::string_view target) {
  std::vector<std::string> inputs;
  const std::filesystem::path folder = kRegressions / target;
  if (!std::filesystem::exists(folder)) return inputs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) inputs.push_back(ReadHexFile(entry.path()));
  return inputs;
}

// Also on what a connection or a file that ends early leaves of the seeds.
TEST_P(FuzzTargetTest, SurvivesItsSeedsAndWhatItOnceFailedOn) {
  constexpr size_t kMostCut = 200;
  const auto run = GetParam().make();
  const std::vector<std::string> seeds = GetParam().seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) {
    run(seed);
    for (size_t size = 0; size < std::min(seed.size(), kMostCut); ++size) run(std::string(seed, 0, size));
  }
  for (const std::string& input : Regressions(GetParam().name)) run(input);
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTargetTest, testing::ValuesIn(FuzzTargets()),
                         [](const auto& each) { return std::string(each.param.name); });

// A folder without a target would be read by no test.
TEST(FuzzRegressions, EachFolderHasATarget) {
  for (const auto& entry : std::filesystem::directory_iterator(kRegressions)) {
    const auto is_of = [&entry](const FuzzTarget& target) { return target.name == entry.path().filename().string(); };
    EXPECT_TRUE(std::any_of(FuzzTargets().begin(), FuzzTargets().end(), is_of)) << entry.path();
  }
}

}  // namespace
}  // namespace cairn
