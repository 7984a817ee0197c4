// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "resp/request_parser.h"

namespace cairn {
namespace {

using Requests = std::vector<std::vector<std::string>>;

class LookAhead : public testing::Test {
 protected:
  void Feed(std::string_view bytes) {
    std::memcpy(parser_.Reserve(bytes.size()), bytes.data(), bytes.size());
    parser_.Filled(bytes.size());
  }
  Requests Ahead(size_t most = 100) const {
    Requests found;
    parser_.LookAhead(most,
                      [&](std::span<const std::string_view> argv) { found.emplace_back(argv.begin(), argv.end()); });
    return found;
  }

  RequestParser parser_;
};

TEST_F(LookAhead, SeesTheRequestsThatFollowAndTakesNone) {
  Feed("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nGET\r\n$1\r\nb\r\n*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$0\r\n\r\n");
  ASSERT_EQ(parser_.Next({}), RequestParser::Outcome::kRequest);
  EXPECT_EQ(Ahead(), (Requests{{"GET", "b"}, {"SET", "c", ""}}));
  EXPECT_EQ(Ahead(1), (Requests{{"GET", "b"}}));
  EXPECT_EQ(parser_.argv()[1], "a");
  ASSERT_EQ(parser_.Next({}), RequestParser::Outcome::kRequest);
  EXPECT_EQ(parser_.argv()[1], "b");
}

// Any prefix, and bytes that are no protocol at all: the parser itself replies with the error later.
TEST_F(LookAhead, EndsAtAnIncompleteOrInvalidRequest) {
  const std::string whole = "*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$5\r\nabcde\r\n";
  for (size_t size = 0; size < whole.size(); ++size) {
    RequestParser parser;
    std::memcpy(parser.Reserve(whole.size()), whole.data(), size);
    parser.Filled(size);
    size_t seen = 0;
    parser.LookAhead(100, [&](std::span<const std::string_view>) { ++seen; });
    EXPECT_EQ(seen, size < 14 ? 0u : 1u) << size;
  }
  for (const char* bytes : {"PING\r\n", "*-1\r\n", "*x\r\n", "*1\r\n$-1\r\n", "*1\r\n$9223372036854775807\r\nabc",
                            "*1\r\n:1\r\n", "*2000000000\r\n", "*\r", "$"}) {
    RequestParser parser;
    std::memcpy(parser.Reserve(std::strlen(bytes)), bytes, std::strlen(bytes));
    parser.Filled(std::strlen(bytes));
    size_t seen = 0;
    parser.LookAhead(100, [&](std::span<const std::string_view>) { ++seen; });
    EXPECT_EQ(seen, 0u) << bytes;
  }
}

}  // namespace
}  // namespace cairn
