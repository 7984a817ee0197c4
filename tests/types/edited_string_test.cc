// SPDX-License-Identifier: BSD-3-Clause
//
// An edited string reads like a std::string with the same edits, in one row or in fragments, and its rows hold exactly
// the bytes that docs/format.md specifies.
#include "types/edited_string.h"

#include <gtest/gtest.h>

#include <map>

#include "encoding/varint.h"
#include "types/collection_fixture.h"
#include "types/copy.h"

namespace cairn {
namespace {

constexpr uint64_t kFragment = Fragments::kFragmentBytes;
constexpr uint64_t kFrom = EditedString::kFragmentedFrom;

class EditedStringTest : public CollectionFixture {
 protected:
  void Edit(const std::function<Status(EditedString&)>& edit) {
    Run("k", [&](Keyspace& keys, const Key& key) -> Status {
      const KeyEntry entry = TRY(keys.Find(key));
      EditedString text = TRY(EditedString::Open(keys, key, entry));
      TRY(edit(text));
      return text.Save();
    });
  }
  void Write(uint64_t offset, std::string_view bytes) {
    Edit([&](EditedString& text) { return text.Write(offset, bytes); });
  }
  void Set(std::string_view bytes) {
    Run("k", [&](Keyspace& keys, const Key& key) -> Status {
      return WriteText(keys, key, TRY(keys.Find(key)), bytes, kNoExpiry);
    });
  }
  std::string ReadPartOf(std::string_view name, uint64_t offset, uint64_t size) {
    std::string read;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      const KeyEntry entry = TRY(keys.Find(key));
      read = TRY(ReadPart(keys, key, entry, offset, size)).view();
      return Ok();
    });
    return read;
  }
  std::string Read() { return ReadPartOf("k", 0, UINT64_MAX); }

  // The fragments' rows: the key after the id, and the bytes.
  std::map<std::string, std::string> Rows() {
    std::map<std::string, std::string> rows;
    Run("k", [&](Keyspace& keys, const Key& key) -> Status {
      const KeyEntry entry = TRY(keys.Find(key));
      const SpreadPayload spread = TRY(DecodeSpreadPayload(entry.payload()));
      Cursor cursor = txn().Scan(MakeCollectionStart(Space::kElements, spread.id, key.stripe()),
                                 MakeCollectionEnd(Space::kElements, spread.id, key.stripe()));
      for (; cursor.Valid(); cursor.Next()) rows.emplace(cursor.row().substr(8), cursor.value());
      return cursor.TakeStatus();
    });
    return rows;
  }
  // The error of reading a record with this payload.
  std::string ErrorOf(std::string_view payload) {
    WriteRaw("k", Type::kString, Encoding::kSpread, payload);
    std::string text;
    Run("k", [&](Keyspace& keys, const Key& key) -> Status {
      const KeyEntry entry = TRY(keys.Find(key));
      const auto read = ReadText(keys, key, entry);
      text = read.ok() ? "" : read.status().text();
      return Ok();
    });
    return text;
  }
};

TEST_F(EditedStringTest, StaysOneRowUntilFragmentsPay) {
  Write(0, std::string(kFrom - 1, 'x'));
  EXPECT_EQ(EncodingOf("k"), Encoding::kRaw);
  Write(kFrom - 1, "x");
  EXPECT_EQ(EncodingOf("k"), Encoding::kSpread);
  EXPECT_EQ(Read(), std::string(kFrom, 'x'));
  Set(std::string(kFrom, 'y'));
  EXPECT_EQ(EncodingOf("k"), Encoding::kRaw) << "what is written whole is one row";
  EXPECT_EQ(Read(), std::string(kFrom, 'y'));
}

// A bit far out in an empty bitmap must not cost space for the bytes before it.
TEST_F(EditedStringTest, KeepsNoRowForZeros) {
  Write(uint64_t{512} * 1024 * 1024 - 1, "\x01");
  EXPECT_EQ(Rows().size(), 1u);
  EXPECT_EQ(ReadPartOf("k", (uint64_t{512} << 20) - 3, 9), std::string("\0\0\x01", 3));
  EXPECT_EQ(ReadPartOf("k", 12345, 2), std::string(2, '\0'));
  Write((uint64_t{512} << 20) - 1, std::string(1, '\0'));
  EXPECT_EQ(Rows().size(), 0u);
  Edit([](EditedString& text) -> Status {
    EXPECT_EQ(text.size(), uint64_t{512} << 20);
    return text.Write(kFragment, "ab");
  });
  EXPECT_EQ(Rows().begin()->second, "ab") << "nor for those behind the last byte";
}

TEST_F(EditedStringTest, ReadsAsItWasEdited) {
  std::string expected;
  for (int round = 0; round < 600; ++round) {
    const uint64_t reach = round % 3 == 0 ? 40 * kFragment : expected.size() + 10;
    const uint64_t offset = random_.Below(reach);
    const char fill = random_.Below(3) == 0 ? '\0' : static_cast<char>('a' + random_.Below(26));
    const std::string bytes(random_.Below(random_.Below(8) == 0 ? 3 * kFragment : 20), fill);
    if (expected.size() < offset + bytes.size()) expected.resize(offset + bytes.size());
    expected.replace(offset, bytes.size(), bytes);
    Edit([&](EditedString& text) -> Status {
      TRY(text.Write(offset, bytes));
      const std::string seen = TRY(text.Read(offset, bytes.size()));
      EXPECT_EQ(seen, bytes) << "an edit sees the one before it";
      return Ok();
    });
    if (round % 7 == 0) Commit();
    const uint64_t from = random_.Below(expected.size() + 5);
    const uint64_t size = random_.Below(4 * kFragment);
    ASSERT_EQ(ReadPartOf("k", from, size), expected.substr(std::min<uint64_t>(from, expected.size()), size));
    ASSERT_EQ(Read(), expected);
  }
  Commit();
  Reopen();
  EXPECT_EQ(Read(), expected);
}

// Few fragments are looked up, many are read by a walk.
TEST_F(EditedStringTest, ReadsFewAndManyFragmentsAlike) {
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    expected.append(kFragment, i % 3 == 0 ? '\0' : static_cast<char>(i));
  }
  Write(0, expected);
  EXPECT_EQ(Read(), expected);
  Commit();
  EXPECT_EQ(Read(), expected);
  EXPECT_EQ(ReadPartOf("k", 100, 500 * kFragment), expected.substr(100, 500 * kFragment));
}

TEST_F(EditedStringTest, GrowsByZeros) {
  Write(0, "12");
  Edit([](EditedString& text) { return text.Grow(5); });
  EXPECT_EQ(Read(), std::string("12\0\0\0", 5));
  Edit([](EditedString& text) { return text.Grow(3 * kFrom); });
  EXPECT_EQ(Read(), "12" + std::string(3 * kFrom - 2, '\0'));
  Edit([](EditedString& text) { return text.Grow(1); });
  EXPECT_EQ(Read().size(), 3 * kFrom);
}

// An edit that keeps the length does not write the key's record, so the expiry stays too.
TEST_F(EditedStringTest, KeepsTheExpiry) {
  Write(0, std::string(kFrom, 'x'));
  Run("k", [&](Keyspace& keys, const Key& key) -> Status {
    return keys.SetExpiry(key, TRY(keys.Find(key)), now_ms() + 5000);
  });
  Write(5, "y");
  Write(2 * kFrom, "z");
  Run("k", [&](Keyspace& keys, const Key& key) -> Status {
    EXPECT_EQ(TRY(keys.Find(key)).expire_ms(), now_ms() + 5000);
    return Ok();
  });
}

TEST_F(EditedStringTest, IsCopiedWithItsFragments) {
  Write(3 * kFrom, "end");
  Run("k", [&](Keyspace& keys, const Key& key) -> Status {
    const Key target = keys.Name("other");
    const uint32_t stripes[] = {target.stripe()};
    TRY(txn().Lock(stripes));
    return CopyValue(key, TRY(keys.Find(key)), keys, target, TRY(keys.Find(target)));
  });
  const std::string before = Read();
  Write(0, "changed");
  EXPECT_EQ(ReadPartOf("other", 0, UINT64_MAX), before);
}

TEST_F(EditedStringTest, HasItsSizeAndIsNotAnInteger) {
  Write(0, std::string(kFrom, '1'));
  Run("k", [&](Keyspace& keys, const Key& key) -> Status {
    const KeyEntry entry = TRY(keys.Find(key));
    EXPECT_EQ(TRY(TextSize(entry)), kFrom);
    EXPECT_EQ(StringEncodingName(entry), "raw");
    EXPECT_TRUE(ReadInteger(entry).status().Is(Code::kReply));
    return Ok();
  });
}

TEST_F(EditedStringTest, HasTheBytesOfTheFormat) {
  Write(kFrom - 1, "x");
  Run("k", [&](Keyspace& keys, const Key& key) -> Status {
    const KeyEntry entry = TRY(keys.Find(key));
    const SpreadPayload spread = TRY(DecodeSpreadPayload(entry.payload()));
    EXPECT_EQ(spread.count, kFrom);
    EXPECT_EQ(spread.rest, "\x80\x08") << "fragments of 1024 bytes";
    return Ok();
  });
  const std::string last("\x80\0\0\0\0\0\0\x07", 8);
  ASSERT_EQ(Rows().size(), 1u);
  EXPECT_EQ(Rows().begin()->first, last);
  EXPECT_EQ(Rows().begin()->second, std::string(kFragment - 1, '\0') + "x");
}

TEST_F(EditedStringTest, ReportsTheInvalidFieldOfARecord) {
  EXPECT_EQ(ErrorOf("\x07\x50"), "fragments: fragment_bytes is cut short");
  EXPECT_EQ(ErrorOf(std::string("\x07\x50\0", 3)), "fragments: fragment_bytes is out of range");
  EXPECT_EQ(ErrorOf("\x07\x50\x08\x08"), "spread string: bytes after fragment_bytes");
  EXPECT_EQ(ErrorOf("\x07\x2c\x08"), "fragments: length is out of range");
  EXPECT_EQ(ErrorOf("\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08"), "fragments: length is out of range");
}

}  // namespace
}  // namespace cairn
