// SPDX-License-Identifier: BSD-3-Clause
//
// Of what clients of a writable replica gave a time to live, the last one counts.
#include "client/own_expiries.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

void Note(OwnExpiries& own, AnnouncementKind kind, const std::string& row, uint64_t when_ms) {
  const Announcement announcement{kind, row, {}, when_ms};
  own.Note(std::span(&announcement, 1));
}

TEST(OwnExpiriesTest, ATimeThatIsProlongedTakesThePlaceOfTheLast) {
  OwnExpiries own;
  for (uint64_t when_ms = 1; when_ms <= 1000; ++when_ms) Note(own, AnnouncementKind::kKeyExpires, "a", when_ms);
  EXPECT_TRUE(own.TakeDue(999, 100).empty());
  const std::vector<DueRow> due = own.TakeDue(1000, 100);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0], (DueRow{1000, "a"}));
  EXPECT_TRUE(own.TakeDue(INT64_MAX, 100).empty());
}

TEST(OwnExpiriesTest, AKeyAndItsFieldsHaveTimesOfTheirOwn) {
  OwnExpiries own;
  Note(own, AnnouncementKind::kFieldsExpire, "a", 5);
  Note(own, AnnouncementKind::kKeyExpires, "a", 7);
  Note(own, AnnouncementKind::kKeyChanged, "b", 1);
  EXPECT_EQ(own.TakeDue(6, 100).size(), 1u);
  EXPECT_EQ(own.TakeDue(7, 100).size(), 1u);
}

TEST(OwnExpiriesTest, ComeByTimeAndBackWhenTheyCouldNotBeDeleted) {
  OwnExpiries own;
  for (const uint64_t when_ms : {3, 1, 2}) {
    Note(own, AnnouncementKind::kKeyExpires, std::to_string(when_ms), when_ms);
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
