// SPDX-License-Identifier: BSD-3-Clause
//
// How doubles are shown. The texts are those of redis-server 7.2 and 7.0.
#include "base/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace cairn {
namespace {

struct Shown {
  double value;
  std::string shortest;
  std::string digits17;
};

class NumberTest : public testing::Test {
 protected:
  ~NumberTest() override { SetDoubleFormat(DoubleFormat::kShortest); }
};

TEST_F(NumberTest, DoublesAreShownAsTheirRedisDoes) {
  const Shown all[] = {
      {0, "0", "0"},
      {-0.0, "-0", "-0"},
      {3, "3", "3"},
      {3.1, "3.1", "3.1000000000000001"},
      {-2.5, "-2.5", "-2.5"},
      {0.1, "0.1", "0.10000000000000001"},
      {0.00001, "0.00001", "1.0000000000000001e-05"},
      {0.0000001, "1e-7", "9.9999999999999995e-08"},
      {1.5e-8, "1.5e-8", "1.4999999999999999e-08"},
      {0.012345678901234567, "0.012345678901234567", "0.012345678901234567"},
      {123456.789, "123456.789", "123456.789"},
      {1234567890.1234567, "1.2345678901234567e+9", "1234567890.1234567"},
      {1e17, "100000000000000000", "1e+17"},
      {1e20, "1e+20", "1e+20"},
      {1.5e20, "1.5e+20", "1.5e+20"},
      {-1e300, "-1e+300", "-1.0000000000000001e+300"},
      {5e-324, "5e-324", "4.9406564584124654e-324"},
      {INFINITY, "inf", "inf"},
      {-INFINITY, "-inf", "-inf"},
      {NAN, "nan", "nan"},
  };
  for (const Shown& shown : all) {
    SetDoubleFormat(DoubleFormat::kShortest);
    EXPECT_EQ(FormatDouble(shown.value), shown.shortest);
    SetDoubleFormat(DoubleFormat::k17Digits);
    EXPECT_EQ(FormatDouble(shown.value), shown.digits17);
    EXPECT_EQ(FormatDouble(shown.value, DoubleFormat::kShortest), shown.shortest);
  }
}

}  // namespace
}  // namespace cairn
