// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/reply_counter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace cairn {
namespace {

constexpr std::string_view kReplies =
    "+OK\r\n"
    ":12\r\n"
    "$7\r\nab\r\n-cd\r\n"
    "$-1\r\n"
    "*-1\r\n"
    "*0\r\n"
    "*3\r\n$0\r\n\r\n*2\r\n:1\r\n-inner\r\n+x\r\n"
    "-ERR no\r\n"
    "+last\r\n";

// A reply may arrive in any pieces, and its contents must not be taken for replies.
TEST(ReplyCounter, CountsRepliesInPiecesOfAnySize) {
  for (size_t piece = 1; piece <= kReplies.size(); ++piece) {
    ReplyCounter counter;
    for (size_t at = 0; at < kReplies.size(); at += piece) counter.Feed(kReplies.substr(at, piece));
    EXPECT_EQ(counter.count(), 9) << piece;
    EXPECT_EQ(counter.last_line(), "+last") << piece;
  }
}

// The migration must not go on after a refusal, also of a part of a reply.
TEST(ReplyCounter, KeepsTheFirstError) {
  ReplyCounter counter;
  counter.Feed("+OK\r\n");
  EXPECT_EQ(counter.error(), "");
  counter.Feed("-ERR one\r\n-ERR two\r\n");
  EXPECT_EQ(counter.error(), "ERR one");
  EXPECT_EQ(counter.count(), 3);
}

// Such a number would overflow, and a line without an end would take all memory.
TEST(ReplyCounter, EndsAtWhatIsNoReply) {
  for (const std::string& bytes :
       {std::string("$9223372036854775807\r\n"), std::string("*9223372036854775807\r\n"), std::string(70'000, '+')}) {
    ReplyCounter counter;
    counter.Feed("+OK\r\n" + bytes);
    EXPECT_EQ(counter.error(), "ERR the replies are not RESP2") << bytes.substr(0, 30);
    counter.Feed("+OK\r\n");
    EXPECT_EQ(counter.count(), 1);
  }
}

}  // namespace
}  // namespace cairn
