// SPDX-License-Identifier: BSD-3-Clause
//
// A connection's output stays in order, and a reply whose commit failed is replaced at its place.
#include "net/output_buffer.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(OutputBufferTest, SentBytesAreDroppedOnceTheyAreMoreThanHalf) {
  OutputBuffer out;
  out.bytes() = "0123456789";
  out.NoteSent(5);
  EXPECT_EQ(out.DropSent(), "");
  EXPECT_EQ(out.size(), 10u);
  EXPECT_EQ(out.unsent(), "56789");
  out.NoteSent(1);
  out.DropSent();
  EXPECT_EQ(out.size(), 4u);
  EXPECT_EQ(out.unsent(), "6789");
}

TEST(OutputBufferTest, ItsMemoryIsReturnedWhenEverythingIsSent) {
  OutputBuffer out;
  out.bytes() = std::string(1000, 'x');
  out.NoteSent(1000);
  EXPECT_GE(out.DropSent().capacity(), 1000u);
  EXPECT_EQ(out.unsent_size(), 0u);
  EXPECT_LT(out.capacity(), 1000u);
}

TEST(OutputBufferTest, WaitingRepliesAreReplacedAndOthersStay) {
  OutputBuffer out;
  out.bytes() = "+READ\r\n";
  for (const std::string_view reply : {"+OK\r\n", ":1\r\n"}) {
    const size_t begin = out.size();
    out.bytes().append(reply);
    out.AwaitCommit(begin);
    out.bytes().append("+PUSHED\r\n");
  }
  EXPECT_TRUE(out.has_uncommitted());
  out.Replace("-ERR\r\n");
  EXPECT_EQ(out.unsent(), "+READ\r\n-ERR\r\n+PUSHED\r\n-ERR\r\n+PUSHED\r\n");
  EXPECT_FALSE(out.has_uncommitted());
}

TEST(OutputBufferTest, CommittedRepliesStay) {
  OutputBuffer out;
  out.bytes() = "+OK\r\n";
  out.AwaitCommit(0);
  out.NoteCommitted();
  out.Replace("-ERR\r\n");
  EXPECT_EQ(out.unsent(), "+OK\r\n");
}

}  // namespace
}  // namespace cairn
