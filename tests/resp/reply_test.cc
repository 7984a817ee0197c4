// SPDX-License-Identifier: BSD-3-Clause
//
// A reply that is cut must never look complete.
#include "resp/reply.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

class Room : public ReplyRoom {
 public:
  explicit Room(uint64_t most_bytes) : most_bytes_(most_bytes) {}
  bool MayHold(uint64_t bytes) override { return bytes <= most_bytes_; }

 private:
  const uint64_t most_bytes_;
};

TEST(Reply, APartIsAppendedAsItIs) {
  std::string bytes;
  std::string bytes_of_part;
  Reply reply(bytes, 2);
  Reply part(bytes_of_part, reply);
  part.Bulk("a");
  part.Integer(1);
  reply.Array(2);
  reply.Append(part);
  EXPECT_EQ(bytes, "*2\r\n$1\r\na\r\n:1\r\n");
  EXPECT_FALSE(reply.is_cut());
}

// SSCAN and others write their elements first, because the reply begins with the cursor and the number of elements.
TEST(Reply, APartThatIsCutCutsTheReplyAtOnce) {
  Room room(100000);
  std::string bytes;
  std::string bytes_of_part;
  Reply reply(bytes, 2, &room);
  Reply part(bytes_of_part, reply);
  const std::string element(70000, 'x');
  part.Bulk(element);
  ASSERT_FALSE(part.is_cut());
  part.Bulk(element);
  ASSERT_TRUE(part.is_cut());
  EXPECT_TRUE(*reply.cut_flag());  // the command stops
  reply.Array(2);
  reply.Append(part);
  EXPECT_TRUE(reply.is_cut());
  EXPECT_FALSE(reply.Fits(0));
}

}  // namespace
}  // namespace cairn
