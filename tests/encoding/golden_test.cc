// SPDX-License-Identifier: BSD-3-Clause
//
// The on-disk format does not change by accident: every byte sequence in tests/golden/*.hex decodes
// to the values written beside it, and the values encode to those bytes again.
#include <gtest/gtest.h>

#include <algorithm>

#include "encoding/golden_decoders.h"
#include "encoding/golden_file.h"

namespace cairn {
namespace {

class Golden : public testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, BytesDecodeToTheirMeaningAndBack) {
  const GoldenCase& golden = GetParam();
  ASSERT_EQ(golden.error, "");
  const auto decoder = GoldenDecoders().find(golden.format);
  ASSERT_NE(decoder, GoldenDecoders().end()) << "no decoder for " << golden.format << ".hex";
  const Result<Meaning> meaning = decoder->second(golden.bytes);
  if (!meaning.ok()) {
    EXPECT_TRUE(meaning.status().Is(Code::kCorruption));
    EXPECT_EQ(golden.meaning, "corruption: " + std::string(meaning.status().text()));
    return;
  }
  EXPECT_EQ(golden.meaning, meaning->text);
  EXPECT_EQ(ToHex(golden.bytes), ToHex(meaning->encoded)) << "the values encode to other bytes";
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(ReadGoldenFiles()),
                         [](const testing::TestParamInfo<GoldenCase>& info) {
                           return info.param.format + "_line_" + std::to_string(info.param.line);
                         });

// A format without golden bytes could change unnoticed.
TEST(GoldenFiles, EveryFormatHasGoldenBytes) {
  const std::vector<GoldenCase> cases = ReadGoldenFiles();
  for (const auto& [format, decoder] : GoldenDecoders()) {
    const auto is_of_format = [&](const GoldenCase& golden) { return golden.format == format; };
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), is_of_format)) << format;
  }
}

}  // namespace
}  // namespace cairn
