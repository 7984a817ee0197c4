// SPDX-License-Identifier: BSD-3-Clause
//
// The small values of the bus: ids, sets of slots, flags and announced names.
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "bus/node_flags.h"
#include "bus/node_id.h"
#include "bus/node_text.h"
#include "bus/slot_set.h"

namespace cairn {
namespace {

TEST(NodeIdTest, AnIdHasFortyLettersAndDigits) {
  const std::string text = "0123456789abcdef0123456789abcdef01234567";
  ASSERT_TRUE(NodeId::Parse(text));
  EXPECT_EQ(NodeId::Parse(text)->text(), text);
  EXPECT_TRUE(NodeId::Parse(std::string(40, 'z')));  // Redis accepts these too
  for (const std::string& bad :
       {text.substr(1), text + '0', "A" + text.substr(1), std::string(40, '\0'), std::string()}) {
    EXPECT_FALSE(NodeId::Parse(bad)) << bad;
  }
}

TEST(SlotSetTest, TheBitmapIsTheOneOfTheBus) {
  SlotSet set;
  EXPECT_TRUE(set.Add(0));
  EXPECT_TRUE(set.Add(9));
  EXPECT_TRUE(set.Add(kSlotCount - 1));
  EXPECT_FALSE(set.Add(9));
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.bitmap()[0], '\x01');
  EXPECT_EQ(set.bitmap()[1], '\x02');
  EXPECT_EQ(set.bitmap()[SlotSet::kBytes - 1], '\x80');
  EXPECT_EQ(SlotSet::FromBitmap(set.bitmap()), set);
  EXPECT_TRUE(set.Remove(9));
  EXPECT_FALSE(set.Remove(9));
  EXPECT_EQ(set.Ranges(), (std::vector<SlotRange>{{0, 0}, {kSlotCount - 1, kSlotCount - 1}}));
}

TEST(SlotSetTest, RangesAreMaximal) {
  SlotSet all = SlotSet::FromBitmap(std::string(SlotSet::kBytes, '\xff'));
  EXPECT_EQ(all.Ranges(), (std::vector<SlotRange>{{0, kSlotCount - 1}}));
  all.Remove(300);
  EXPECT_EQ(all.Ranges(), (std::vector<SlotRange>{{0, 299}, {301, kSlotCount - 1}}));
  EXPECT_TRUE(SlotSet().Ranges().empty());
}

// Ranges skips whole bytes; a set of random runs has runs that begin and end at every place of a byte.
TEST(SlotSetTest, RangesContainEachSlotOnce) {
  Random random(20261127);
  for (int round = 0; round < 20; ++round) {
    SlotSet set;
    for (int slot = 0; slot < kSlotCount;) {
      const bool is_in = random.Below(2) == 0;
      for (int left = static_cast<int>(1 + random.Below(40)); left > 0 && slot < kSlotCount; --left, ++slot) {
        if (is_in) set.Add(slot);
      }
    }
    SlotSet found;
    int previous = -2;
    for (const auto [first, last] : set.Ranges()) {
      EXPECT_GT(first, previous + 1);
      for (int slot = first; slot <= last; ++slot) found.Add(slot);
      previous = last;
    }
    EXPECT_EQ(found, set);
  }
}

TEST(NodeFlagsTest, UnknownBitsAreKept) {
  NodeFlags flags(1 << 10 | NodeFlags::kMaster);
  EXPECT_TRUE(flags.Has(NodeFlags::kMaster | NodeFlags::kSlave));
  flags.Remove(NodeFlags::kMaster);
  flags.Add(NodeFlags::kSlave);
  EXPECT_EQ(flags.bits(), 1 << 10 | NodeFlags::kSlave);
}

TEST(NodeTextTest, OnlyWordsThatNodesConfCanHoldAreAccepted) {
  EXPECT_TRUE(IsIpText("fe80::1%eth0"));
  EXPECT_TRUE(IsHostname("node-0.example.com"));
  EXPECT_TRUE(IsHumanName("rack_1/node-0.a"));
  for (const std::string bad : {"", "a b", "a,b", "a\nb", "a\"b", "a@b", "a\x01", "a\x7f", "a\xff"}) {
    EXPECT_FALSE(IsIpText(bad)) << bad;
    EXPECT_FALSE(IsHostname(bad)) << bad;
    EXPECT_FALSE(IsHumanName(bad)) << bad;
  }
  EXPECT_FALSE(IsHumanName("a=b"));
  EXPECT_FALSE(IsIpText(std::string(46, '1')));
  EXPECT_FALSE(IsHostname(std::string(256, 'a')));
  EXPECT_FALSE(IsHumanName(std::string(256, 'a')));
}

}  // namespace
}  // namespace cairn
