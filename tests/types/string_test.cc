// SPDX-License-Identifier: BSD-3-Clause
//
// Strings are returned as they were stored, whatever their encoding, with the encoding name that Redis would return.
#include "types/string.h"

#include <gtest/gtest.h>

#include "storage/store_fixture.h"

namespace cairn {
namespace {

class StringTest : public StoreFixture {
 protected:
  // Runs `use(keys, key, entry)` for the key "k" as a command of its own.
  template <typename Use>
  void WithKey(Use use) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key key = keys.Name("k");
    Lock(key);
    auto entry = keys.Find(key);
    ASSERT_TRUE(entry.ok());
    use(keys, key, *entry);
    Finish();
  }
  void Write(std::string_view text) {
    WithKey([&](Keyspace& keys, const Key& key, const KeyEntry& entry) {
      ASSERT_TRUE(WriteText(keys, key, entry, text, kNoExpiry).ok());
    });
  }
  void WriteAsBytes(std::string_view text, Origin origin) {
    WithKey([&](Keyspace& keys, const Key& key, const KeyEntry& entry) {
      ASSERT_TRUE(WriteBytes(keys, key, entry, text, kNoExpiry, origin).ok());
    });
  }
  std::string Read() {
    std::string text;
    WithKey([&](Keyspace& keys, const Key& key, const KeyEntry& entry) {
      const auto read = ReadText(keys, key, entry);
      ASSERT_TRUE(read.ok());
      text = read->view();
    });
    return text;
  }
  std::string EncodingName() {
    std::string name;
    WithKey([&](Keyspace&, const Key&, const KeyEntry& entry) { name = StringEncodingName(entry); });
    return name;
  }

  Limits limits_;
};

TEST_F(StringTest, IsReturnedAsStored) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text :
       {""sv, "a"sv, "0"sv, "-1"sv, "12345"sv, "9223372036854775807"sv, "-9223372036854775808"sv,
        "9223372036854775808"sv, "007"sv, "-0"sv, "+1"sv, " 1"sv, "1.0"sv, "a\0b\r\n"sv}) {
    Write(text);
    EXPECT_EQ(Read(), text);
  }
  const std::string large(300000, 'x');
  Write(large);
  EXPECT_EQ(Read(), large);
}

TEST_F(StringTest, ReportsRedisEncodings) {
  Write("12");
  EXPECT_EQ(EncodingName(), "int");
  Write("012");
  EXPECT_EQ(EncodingName(), "embstr");
  Write(std::string(44, 'x'));
  EXPECT_EQ(EncodingName(), "embstr");
  Write(std::string(45, 'x'));
  EXPECT_EQ(EncodingName(), "raw");
  WriteAsBytes("12", Origin::kWhole);
  EXPECT_EQ(EncodingName(), "embstr");
  WriteAsBytes("12", Origin::kEdited);
  EXPECT_EQ(EncodingName(), "raw");
}

TEST_F(StringTest, CountsWithTextsThatAreIntegers) {
  const auto integer = [&] {
    int64_t value = -1;
    WithKey([&](Keyspace&, const Key&, const KeyEntry& entry) {
      const auto read = ReadInteger(entry);
      if (read.ok()) value = *read;
      EXPECT_TRUE(read.ok() || read.status().Is(Code::kReply));
    });
    return value;
  };
  EXPECT_EQ(integer(), 0) << "a missing key counts from zero";
  Write("41");
  EXPECT_EQ(integer(), 41);
  WriteAsBytes("42", Origin::kEdited);
  EXPECT_EQ(integer(), 42);
  Write("042");
  EXPECT_EQ(integer(), -1) << "not the way an integer is written";
}

// Counters take little memory because small integers do.
TEST_F(StringTest, StoresAnIntegerAsAVarint) {
  Write("100");
  WithKey([](Keyspace&, const Key&, const KeyEntry& entry) {
    EXPECT_EQ(entry.encoding(), Encoding::kInteger);
    EXPECT_EQ(entry.payload(), "\xc8\x01");
  });
}

}  // namespace
}  // namespace cairn
