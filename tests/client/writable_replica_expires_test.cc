// SPDX-License-Identifier: BSD-3-Clause
//
// Of what clients of a writable replica gave a time to live, the last one counts.
#include "client/writable_replica_expires.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

void Note(WritableReplicaExpires& own, NotificationKind kind, const std::string& row, uint64_t when_ms) {
  const Notification notification{kind, row, {}, when_ms};
  own.Note(std::span(&notification, 1));
}

TEST(OwnExpiriesTest, ATimeThatIsProlongedTakesThePlaceOfTheLast) {
  WritableReplicaExpires own;
  for (uint64_t when_ms = 1; when_ms <= 1000; ++when_ms) Note(own, NotificationKind::kKeyExpires, "a", when_ms);
  EXPECT_TRUE(own.TakeDue(999, 100).empty());
  const std::vector<DueRow> due = own.TakeDue(1000, 100);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0], (DueRow{1000, "a"}));
  EXPECT_TRUE(own.TakeDue(INT64_MAX, 100).empty());
}

TEST(OwnExpiriesTest, AKeyAndItsFieldsHaveTimesOfTheirOwn) {
  WritableReplicaExpires own;
  Note(own, NotificationKind::kFieldsExpire, "a", 5);
  Note(own, NotificationKind::kKeyExpires, "a", 7);
  Note(own, NotificationKind::kKeyChanged, "b", 1);
  EXPECT_EQ(own.TakeDue(6, 100).size(), 1u);
  EXPECT_EQ(own.TakeDue(7, 100).size(), 1u);
}

TEST(OwnExpiriesTest, ComeByTimeAndBackWhenTheyCouldNotBeDeleted) {
  WritableReplicaExpires own;
  for (const uint64_t when_ms : {3, 1, 2}) {
    Note(own, NotificationKind::kKeyExpires, std::to_string(when_ms), when_ms);
  }
  std::vector<DueRow> due = own.TakeDue(10, 2);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[1].key_row, "2");
  own.Note(std::span(due).subspan(1));
  due = own.TakeDue(10, 2);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].key_row, "2");
  own.Note(std::span<const DueRow>(due));
  own.Clear();
  EXPECT_TRUE(own.TakeDue(10, 2).empty());
}

}  // namespace
}  // namespace cairn
