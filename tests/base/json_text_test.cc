// SPDX-License-Identifier: BSD-3-Clause
#include "base/json_text.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(JsonText, SeparatesValuesAtEveryDepth) {
  JsonText json;
  json.Open('{');
  json.Field("text", "a");
  json.Name("empty").Open('[');
  json.Close(']');
  json.Name("list").Open('[');
  json.Number(-1);
  json.Flag(true);
  json.Null();
  json.Open('{');
  json.Close('}');
  json.Close(']');
  json.Field("number", 7u);
  json.Close('}');
  EXPECT_EQ(json.Take(), R"({"text":"a","empty":[],"list":[-1,true,null,{}],"number":7})");
}

// Keys may hold any bytes; a text that ends early, or a byte that is no UTF-8, would break its readers.
TEST(JsonText, WritesAnyBytesInAscii) {
  JsonText json;
  json.Text(std::string_view("\"\\\n\0\x7f\xff</script>", 15));
  EXPECT_EQ(json.Take(), R"("\"\\\u000a\u0000\u007f\u00ff</script>")");
}

}  // namespace
}  // namespace cairn
