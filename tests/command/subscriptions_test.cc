// SPDX-License-Identifier: BSD-3-Clause
#include "command/subscriptions.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr auto kChannel = ChannelKind::kChannel;
constexpr auto kPattern = ChannelKind::kPattern;

TEST(Subscriptions, CountOnlyNewNames) {
  Subscriptions subscriptions;
  EXPECT_TRUE(subscriptions.empty());
  EXPECT_TRUE(subscriptions.Add(kChannel, "a"));
  EXPECT_FALSE(subscriptions.Add(kChannel, "a"));
  EXPECT_TRUE(subscriptions.Add(kPattern, "a"));
  EXPECT_FALSE(subscriptions.Remove(kChannel, "b"));
  EXPECT_EQ(subscriptions.count(kChannel), 1u);
  EXPECT_EQ(subscriptions.changes().size(), 2u);
}

TEST(Subscriptions, RewindRevertsUnsettledChanges) {
  Subscriptions subscriptions;
  subscriptions.Add(kChannel, "kept");
  subscriptions.Settled();
  EXPECT_FALSE(subscriptions.changed());
  subscriptions.Remove(kChannel, "kept");
  subscriptions.Add(kChannel, "kept");
  subscriptions.Add(kPattern, "p*");
  subscriptions.RemoveAll();
  subscriptions.NoteConfirmation("x");
  EXPECT_TRUE(subscriptions.empty());
  subscriptions.Rewind();
  EXPECT_EQ(subscriptions.names(kChannel), Subscriptions::Names{"kept"});
  EXPECT_EQ(subscriptions.count(kPattern), 0u);
  EXPECT_FALSE(subscriptions.changed());
  EXPECT_TRUE(subscriptions.confirmations().empty());
}

TEST(Subscriptions, NamesMayBeAnyBytes) {
  Subscriptions subscriptions;
  const std::string name("\0\n", 2);
  EXPECT_TRUE(subscriptions.Add(kChannel, name));
  EXPECT_TRUE(subscriptions.Add(kChannel, ""));
  EXPECT_EQ(subscriptions.names(kChannel).size(), 2u);
}

}  // namespace
}  // namespace cairn
