// SPDX-License-Identifier: BSD-3-Clause
//
// A value that is loaded piece by piece is the one that is loaded whole, and no element gets in twice.
#include "replication/rdb_pieces.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "rdb/rdb_writer.h"
#include "tests/types/collection_fixture.h"
#include "types/rdb_value.h"
#include "types/stream.h"
#include "types/stream_group.h"

namespace cairn {
namespace {

constexpr uint64_t kMostTextBytes = 1 << 24;
constexpr int64_t kPassedMs = 1000;
constexpr int64_t kLateMs = 4000000000000;

class RdbPiecesTest : public CollectionFixture {
 protected:
  // Loads what follows the payload's type; how many pieces it came in, or the error.
  std::string LoadInPieces(std::string_view name, std::string_view payload) {
    std::string outcome;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      RdbReader reader(payload.substr(1), kMostTextBytes, dialect_);
      const auto type = RdbTypeOf(static_cast<uint8_t>(payload[0]), dialect_);
      EXPECT_TRUE(ComesInPieces(type));
      int pieces = 0;
      const PieceSteps steps{.begin = [&pieces] { return ++pieces, Ok(); }, .end = [] { return Ok(); }};
      const Status status = LoadPieces(type, reader, keyspace, key, steps);
      EXPECT_TRUE(!status.ok() || reader.left() == 0);
      outcome = status.ok() ? std::to_string(pieces) : std::string(status.text());
      return Ok();
    });
    return outcome;
  }

  void LoadWhole(std::string_view name, std::string_view payload) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      RdbReader reader(payload, kMostTextBytes, dialect_);
      return LoadRdbValue(keyspace, key, TRY(keyspace.Find(key)), TRY(ReadRdbValue(reader)));
    });
  }

  std::string Save(std::string_view name) {
    std::string bytes;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      RdbWriter writer(bytes);
      return SaveRdbValue(keyspace, key, TRY(keyspace.Find(key)), writer);
    });
    return bytes;
  }

  void ExpectSame(const std::string& payload, const std::string& pieces) {
    const int type = payload[0];
    EXPECT_EQ(LoadInPieces("pieces", payload), pieces) << "type " << type;
    LoadWhole("whole", payload);
    EXPECT_EQ(EncodingOf("pieces"), EncodingOf("whole")) << "type " << type;
    EXPECT_TRUE(Save("pieces") == Save("whole")) << "type " << type;
    Run("pieces",
        [](Keyspace& keyspace, const Key& key) -> Status { return keyspace.Remove(key, TRY(keyspace.Find(key))); });
  }

  RdbDialect dialect_ = RdbDialect::kRedis;
};

// Elements 0 to count - 1, each with `size` bytes of text or more; the last one may be the first once more.
std::string Payload(RdbType type, uint64_t count, size_t size = 1, bool repeats = false) {
  std::string payload;
  RdbWriter writer(payload);
  writer.Type(type);
  if (type == RdbType::kHashWithTimes) writer.Fixed64(kPassedMs);
  writer.Length(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = "element " + std::to_string(repeats && i + 1 == count ? 0 : i);
    if (type == RdbType::kHashWithTimes) writer.Length(i % 3 == 0 ? 1 + i / 2 : 0);
    const bool is_pair = type == RdbType::kHash || type == RdbType::kHashWithTimes;
    writer.Text(is_pair ? name : name + std::string(size, 'x'));
    if (is_pair) writer.Text(std::string(size, 'v'));
    if (type == RdbType::kZset2) writer.BinaryScore(static_cast<double>(i % 7));
  }
  return payload;
}

// A hash of Valkey 9: every third field expires.
std::string ValkeyPayload(uint64_t count, size_t size = 1) {
  std::string payload;
  RdbWriter writer(payload);
  writer.Type(RdbType{22});
  writer.Length(count);
  for (uint64_t i = 0; i < count; ++i) {
    writer.Text("element " + std::to_string(i));
    writer.Text(std::string(size, 'v'));
    writer.Fixed64(i % 3 == 0 ? kLateMs + static_cast<int64_t>(i) : -1);
  }
  return payload;
}

constexpr RdbType kOfElements[] = {RdbType::kList, RdbType::kSet, RdbType::kZset2, RdbType::kHash,
                                   RdbType::kHashWithTimes};

TEST_F(RdbPiecesTest, SmallValuesAreOnePiece) {
  for (const RdbType type : kOfElements) ExpectSame(Payload(type, 3), "1");
}

TEST_F(RdbPiecesTest, ManyElementsAreManyPieces) {
  for (const RdbType type : kOfElements) ExpectSame(Payload(type, 2500), "3");
}

TEST_F(RdbPiecesTest, LargeElementsArePiecesOfTheirOwn) {
  for (const RdbType type : kOfElements) ExpectSame(Payload(type, 5, 1'200'000), "5");
}

TEST_F(RdbPiecesTest, HashesOfValkeyComeInPieces) {
  dialect_ = RdbDialect::kValkey;
  ExpectSame(ValkeyPayload(3), "1");
  ExpectSame(ValkeyPayload(2500), "3");
  ExpectSame(ValkeyPayload(5, 1'200'000), "5");
}

TEST_F(RdbPiecesTest, NoElementIsInTwoPieces) {
  for (const RdbType type : {RdbType::kSet, RdbType::kZset2, RdbType::kHash, RdbType::kHashWithTimes}) {
    for (const uint64_t count : {uint64_t{3}, uint64_t{2500}}) {
      EXPECT_EQ(LoadInPieces("twice " + std::to_string(static_cast<int>(type)) + " " + std::to_string(count),
                             Payload(type, count, 1, /*repeats=*/true)),
                "rdb: a duplicate element");
    }
  }
}

// What stands behind the nodes, groups and deleted ids, belongs to the stream that the pieces made.
TEST_F(RdbPiecesTest, StreamsComeNodeByNode) {
  struct Case {
    uint64_t entries;
    size_t size;
    const char* pieces;
  };
  for (const auto& [entries, size, pieces] : {Case{30'000, 1, "6"}, Case{6, 600'000, "3"}}) {
    Run("stream", [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry before = TRY(keyspace.Find(key));
      if (before.exists()) TRY(keyspace.Remove(key, before));
      Stream stream(keyspace, key);
      TRY(stream.Open());
      stream.Create();
      const std::string text(size, 'x');
      for (uint64_t i = 1; i <= entries; ++i) {
        const std::string number = std::to_string(i);
        const std::vector<std::string_view> fields = {"n", number, "text", text};
        TRY(stream.Append({i / 3, i}, std::span(fields).first(i % 5 == 0 || size > 1 ? 4 : 2)));
      }
      TRY(stream.Delete({1, 3}));
      stream.state().last_id = {entries, 0};
      StreamGroup group = StreamGroup::Create(stream, "group", {1, 4}, 3);
      TRY(group.Assign(*TRY(group.ConsumerOrNew("consumer", 1000)), {.id = {1, 4}, .delivered_ms = 5}));
      group.Save();
      return stream.Save();
    });
    ExpectSame(Save("stream"), pieces);
  }
}

TEST_F(RdbPiecesTest, AStreamOfNothingIsAStream) { ExpectSame(std::string("\x0f\0\0\0\0\0", 6), "1"); }

// Their number stands behind the entries.
TEST_F(RdbPiecesTest, AStreamOfAnotherCountIsRefused) {
  EXPECT_EQ(LoadInPieces("stream", std::string("\x0f\0\1\0\0\0", 6)),
            "rdb stream: the count does not match the entries");
}

}  // namespace
}  // namespace cairn
