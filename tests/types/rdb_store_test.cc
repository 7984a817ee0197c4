// SPDX-License-Identifier: BSD-3-Clause
//
// Values are saved to RDB and loaded again unchanged, in every form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isal.h"
#include "rdb/dump_payload.h"
#include "storage/store_snapshot.h"
#include "tests/rdb/cairn_corpus.h"
#include "tests/rdb/rdb_corpus.h"
#include "tests/rdb/show_stream.h"
#include "tests/types/collection_fixture.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/rdb_value.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/stream_group.h"
#include "types/string.h"
#include "types/zset.h"

namespace cairn {
namespace {

using Elements = std::vector<std::pair<std::string, double>>;

class RdbStoreTest : public CollectionFixture {
 protected:
  // The RDB type and value of a key, without a footer.
  std::string Save(std::string_view name) {
    std::string bytes;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      RdbWriter writer(bytes);
      return SaveRdbValue(keyspace, key, TRY(keyspace.Find(key)), writer);
    });
    return bytes;
  }

  static Result<RdbValue> Read(std::string_view bytes, RdbDialect dialect = RdbDialect::kRedis) {
    RdbReader reader(bytes, 1 << 20, dialect);
    Result<RdbValue> value = ReadRdbValue(reader);
    EXPECT_TRUE(!value.ok() || reader.left() == 0);
    return value;
  }

  void Load(std::string_view name, const RdbValue& value) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry entry = TRY(keyspace.Find(key));
      return LoadRdbValue(keyspace, key, entry, value);
    });
  }

  // The contents of a value in an order that does not depend on its form.
  static Elements ElementsOf(const RdbValue& value) {
    Elements elements;
    if (value.stream != nullptr) elements.emplace_back(ShowStream(*value.stream), 0);
    const size_t step = value.type == Type::kHash ? 2 : 1;
    for (size_t i = 0; i < value.items.size(); i += step) {
      std::string text = value.items[i].ToString();
      if (step == 2) text += '\0' + value.items[i + 1].ToString();
      elements.emplace_back(std::move(text), value.scores.empty() ? 0 : value.scores[i]);
    }
    if (value.type != Type::kList) std::sort(elements.begin(), elements.end());
    return elements;
  }

  // Saves a key, loads it under another name and expects the same value in the same form.
  void ExpectRoundTrip(std::string_view name, RdbType type) {
    const std::string bytes = Save(name);
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(static_cast<RdbType>(bytes[0]), type);
    const Result<RdbValue> value = Read(bytes);
    ASSERT_TRUE(value.ok()) << value.status().text();
    Load("copy", *value);
    EXPECT_EQ(EncodingOf("copy"), EncodingOf(name));
    const std::string again = Save("copy");
    EXPECT_EQ(again[0], bytes[0]);
    EXPECT_EQ(ElementsOf(*Read(again)), ElementsOf(*value));
  }

  void MakeHash(int fields, int value_size) {
    Run("hash", [&](Keyspace& keyspace, const Key& key) -> Status {
      Hash hash(keyspace, key);
      TRY(hash.Open());
      for (int i = 0; i < fields; ++i) TRY(hash.Set("field" + std::to_string(i), std::string(value_size, 'v')));
      return hash.Save();
    });
  }
  void MakeSet(const std::vector<std::string>& members) {
    Run("set", [&](Keyspace& keyspace, const Key& key) -> Status {
      Set set(keyspace, key);
      TRY(set.Open());
      for (const std::string& member : members) TRY(set.Add(member));
      return set.Save();
    });
  }
  void MakeZset(int members) {
    Run("zset", [&](Keyspace& keyspace, const Key& key) -> Status {
      Zset zset(keyspace, key);
      TRY(zset.Open());
      for (int i = 0; i < members; ++i) TRY(zset.Add("m" + std::to_string(i), i % 7 - 3 + i / 1000.0, {}));
      return zset.Save();
    });
  }
  void MakeList(int items, int size) {
    Run("list", [&](Keyspace& keyspace, const Key& key) -> Status {
      List list(keyspace, key);
      TRY(list.Open());
      for (int i = 0; i < items; ++i) {
        const std::string text = i % 3 == 0 ? std::to_string(i) : std::string(size, static_cast<char>('a' + i % 26));
        const std::string_view view = text;
        TRY(list.Push(ListEnd::kTail, {&view, 1}));
      }
      return list.Save();
    });
  }
  // A stream in which some entries have several fields, with a group that has read half of it.
  void MakeStream(uint64_t entries) {
    Run("stream", [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry before = TRY(keyspace.Find(key));
      if (before.exists()) TRY(keyspace.Remove(key, before));
      Stream stream(keyspace, key);
      TRY(stream.Open());
      stream.Create();
      for (uint64_t i = 1; i <= entries; ++i) {
        const std::string number = std::to_string(i);
        const std::vector<std::string_view> fields = {"n", number, "other", "text"};
        TRY(stream.Append({i / 3, i}, std::span(fields).first(i % 5 == 0 ? 4 : 2)));
      }
      TRY(stream.Delete({1, 4}));
      StreamGroup group = StreamGroup::Create(stream, "group", {entries / 6, UINT64_MAX}, 7);
      for (uint64_t i = 1; i <= entries / 2; ++i) {
        StreamConsumer* const consumer = TRY(group.ConsumerOrNew(i % 2 == 0 ? "even" : "odd", 1000));
        TRY(group.Assign(*consumer, {.id = {i / 3, i}, .delivered_ms = 500, .deliveries = i}));
      }
      group.Save();
      return stream.Save();
    });
  }
  // Changes both ends of the zset and the list; the zset's size stays.
  void ChangeEnds(int members) {
    Run("zset", [&](Keyspace& keyspace, const Key& key) -> Status {
      Zset zset(keyspace, key);
      TRY(zset.Open());
      TRY(zset.RankOf("m1", false));
      const auto ignore = [](std::string_view, double) { return true; };
      for (const bool highest : {false, true}) TRY(zset.Pop(20, highest, ignore));
      for (int i = 0; i < 40; ++i) TRY(zset.Add("new" + std::to_string(i), (i % 2 == 0 ? -9000 : 9000) + i, {}));
      EXPECT_EQ(zset.size(), static_cast<uint64_t>(members));
      return zset.Save();
    });
    Run("list", [&](Keyspace& keyspace, const Key& key) -> Status {
      List list(keyspace, key);
      TRY(list.Open());
      TRY(list.Trim(20, list.size() - 40));
      return list.Save();
    });
  }
  // Checks that each member of the zset has the rank that follows from its score.
  void ExpectRanks(int members) {
    Run("zset", [&](Keyspace& keyspace, const Key& key) -> Status {
      Zset zset(keyspace, key);
      TRY(zset.Open());
      std::vector<ScoredMember> all;
      TRY(zset.Scan(0, UINT64_MAX, [&all](std::string_view member, double score) {
        all.push_back({std::string(member), score});
        return true;
      }));
      EXPECT_EQ(all.size(), static_cast<size_t>(members));
      std::sort(all.begin(), all.end());
      for (size_t rank = 0; rank < all.size(); ++rank) {
        const auto found = TRY(zset.RankOf(all[rank].member, false));
        EXPECT_TRUE(found && found->rank == rank) << all[rank].member;
      }
      return Ok();
    });
  }
  // Like Save, but reads from a snapshot.
  std::string SaveFrom(const StoreSnapshot& snapshot, Transaction& reader, std::string_view name) {
    reader.ReadFrom(&snapshot);
    reader.BeginCommand(Lane::kSlow, now_ms(), false);
    Keyspace keyspace(reader, 0, limits_);
    const Key key = keyspace.Name(name);
    std::string bytes;
    RdbWriter writer(bytes);
    Result<KeyEntry> entry = keyspace.Find(key);
    EXPECT_TRUE(entry.ok());
    const Status saved = SaveRdbValue(keyspace, key, std::move(*entry), writer);
    EXPECT_TRUE(saved.ok()) << saved.text();
    reader.AbandonCommand();
    reader.ReadFrom(nullptr);
    return bytes;
  }
  // Writes values, takes a snapshot, changes the values, and reads the snapshot while all keys are locked.
  void ExpectMoment(int members);
  void MakeString(std::string_view text) {
    Run("string", [&](Keyspace& keyspace, const Key& key) -> Status {
      return WriteText(keyspace, key, TRY(keyspace.Find(key)), text, kNoExpiry);
    });
  }
};

TEST_F(RdbStoreTest, Strings) {
  for (const std::string& text :
       {std::string(), std::string("text"), std::string("-128"), std::string("32768"), std::string("2147483648"),
        std::string("9223372036854775807"), std::string("007"), std::string(100000, 'x'), std::string("\0\xff", 2)}) {
    MakeString(text);
    ExpectRoundTrip("string", RdbType::kString);
    EXPECT_EQ(Read(Save("copy"))->items[0].ToString(), text);
  }
}

TEST_F(RdbStoreTest, Hashes) {
  MakeHash(5, 10);
  ExpectRoundTrip("hash", RdbType::kHashListpack);
  MakeHash(600, 10);
  ExpectRoundTrip("hash", RdbType::kHash);
}

TEST_F(RdbStoreTest, Sets) {
  MakeSet({"3", "1", "-70000"});
  ExpectRoundTrip("set", RdbType::kSetIntset);
  MakeSet({"text"});
  ExpectRoundTrip("set", RdbType::kSet);
  std::vector<std::string> members;
  for (int i = 0; i < 700; ++i) members.push_back(std::to_string(i));
  MakeSet(members);
  ExpectRoundTrip("set", RdbType::kSet);
}

TEST_F(RdbStoreTest, SortedSets) {
  MakeZset(20);
  ExpectRoundTrip("zset", RdbType::kZsetListpack);
  MakeZset(500);
  ExpectRoundTrip("zset", RdbType::kZset2);
}

TEST_F(RdbStoreTest, Lists) {
  MakeList(10, 20);
  ExpectRoundTrip("list", RdbType::kListQuicklist2);
  MakeList(3000, 30);
  ExpectRoundTrip("list", RdbType::kListQuicklist2);
  MakeList(3, 200000);
  ExpectRoundTrip("list", RdbType::kListQuicklist2);
}

TEST_F(RdbStoreTest, Streams) {
  MakeStream(8);
  ExpectRoundTrip("stream", RdbType::kStreamListpacks2);
  EXPECT_EQ(Save("copy"), Save("stream"));
  MakeStream(2000);
  ExpectRoundTrip("stream", RdbType::kStreamListpacks2);
  EXPECT_EQ(Save("copy"), Save("stream"));
}

// A value that was packed in RDB stays packed while it has few enough elements, however long they are.
TEST_F(RdbStoreTest, AValueFromASmallEncodingStaysSmall) {
  MakeHash(3, 30);
  MakeZset(3);
  const std::string hash = Save("hash");
  const std::string zset = Save("zset");
  limits_.hash_max_listpack_value = 8;
  limits_.zset_max_listpack_value = 1;
  Load("h", *Read(hash));
  Load("z", *Read(zset));
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  EXPECT_EQ(EncodingOf("z"), Encoding::kPacked);
  limits_.hash_max_listpack_entries = 2;
  limits_.zset_max_listpack_entries = 2;
  Load("h", *Read(hash));
  Load("z", *Read(zset));
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(EncodingOf("z"), Encoding::kSpread);
}

TEST_F(RdbStoreTest, AValueReadElementByElementObeysAllLimits) {
  limits_.hash_max_listpack_entries = 2;
  limits_.zset_max_listpack_entries = 2;
  MakeHash(3, 30);
  MakeZset(3);
  const std::string hash = Save("hash");
  const std::string zset = Save("zset");
  limits_.hash_max_listpack_entries = 10;
  limits_.zset_max_listpack_entries = 10;
  Load("h", *Read(hash));
  Load("z", *Read(zset));
  EXPECT_EQ(EncodingOf("h"), Encoding::kPacked);
  EXPECT_EQ(EncodingOf("z"), Encoding::kPacked);
  limits_.hash_max_listpack_value = 8;
  limits_.zset_max_listpack_value = 1;
  Load("h", *Read(hash));
  Load("z", *Read(zset));
  EXPECT_EQ(EncodingOf("h"), Encoding::kSpread);
  EXPECT_EQ(EncodingOf("z"), Encoding::kSpread);
}

// A loaded value replaces a value of any type.
TEST_F(RdbStoreTest, LoadingReplaces) {
  for (const CorpusPayload& payload : RdbCorpus()) {
    const Result<RdbValue> value = Read(payload.bytes, payload.dialect);
    ASSERT_TRUE(value.ok()) << payload.name;
    Load("key", *value);
    EXPECT_EQ(ElementsOf(*Read(Save("key"))), ElementsOf(*value)) << payload.name;
  }
}

// Redis has no such values to compare with, and the fuzzers start from these.
TEST_F(RdbStoreTest, ValuesOfOwnTypesAreSavedToTheSameBytes) {
  for (const CorpusPayload& payload : CairnCorpus()) {
    const Result<RdbValue> value = Read(payload.bytes);
    ASSERT_TRUE(value.ok()) << payload.name << ": " << value.status().text();
    Load("key", *value);
    EXPECT_EQ(HexOf(Save("key")), HexOf(payload.bytes)) << payload.name;
    EXPECT_EQ(EncodingOf("key") == Encoding::kSpread, payload.name.ends_with("in rows")) << payload.name;
  }
}

// A damaged payload that is still a valid value can be stored, and is saved unchanged.
TEST_F(RdbStoreTest, AcceptedPayloadsCanBeStored) {
  const std::vector<CorpusPayload> corpus = RdbCorpus();
  int stored = 0;
  for (int round = 0; round < 4000; ++round) {
    const CorpusPayload& payload = corpus[random_.Below(corpus.size())];
    std::string bytes = payload.bytes;
    bytes[random_.Below(bytes.size())] = static_cast<char>(random_.Next());
    RdbReader reader(bytes, 1 << 20, payload.dialect);
    const Result<RdbValue> value = ReadRdbValue(reader);
    if (!value.ok()) continue;
    Load("key", *value);
    const std::string saved = Save("key");
    ASSERT_EQ(ElementsOf(*Read(saved)), ElementsOf(*value));
    ++stored;
  }
  EXPECT_GT(stored, 100);
}

// Reads of a snapshot return the data of its time and never wait, whatever has since been changed, indexed in memory or
// locked. They do not change the indexes of the live data.
void RdbStoreTest::ExpectMoment(int members) {
  MakeZset(members);
  MakeList(members, 30);
  MakeHash(members, 10);
  MakeStream(static_cast<uint64_t>(members));
  Commit();
  std::map<std::string, std::string> before;
  for (const char* name : {"zset", "list", "hash", "stream"}) before[name] = Save(name);
  Commit();
  const auto snapshot = StoreSnapshot::Take(store());
  ASSERT_TRUE(snapshot.ok());
  ChangeEnds(members);
  Commit();
  ExpectRanks(members);
  Begin();
  Transaction reader(store(), 1);
  for (const auto& [name, bytes] : before) {
    Lock(Key(txn().databases().keyspace(0), name));
    EXPECT_EQ(SaveFrom(**snapshot, reader, name), bytes) << name;
  }
  Finish();
  Commit();
  ExpectRanks(members);
  for (const auto& [name, bytes] : before) {
    const bool has_changed = name == "zset" || name == "list";
    EXPECT_EQ(Save(name) != bytes, has_changed) << name;
  }
}

TEST_F(RdbStoreTest, SnapshotsOfSmallValuesDoNotChange) { ExpectMoment(100); }
TEST_F(RdbStoreTest, SnapshotsOfSpreadValuesDoNotChange) { ExpectMoment(140); }
TEST_F(RdbStoreTest, SnapshotsOfLargeValuesDoNotChange) { ExpectMoment(3000); }

TEST(DumpFooter, HasTheVersionThatRedis7Reads) {
  std::string payload = FromHex("00c0f9");
  AppendDumpFooter(payload);
  EXPECT_EQ(payload.substr(3, 2), FromHex("0a00"));
  EXPECT_EQ(StripDumpFooter(payload)->bytes, std::string_view(payload).substr(0, 3));
}

TEST(DumpFooter, RefusesEveryChangedBit) {
  std::string payload = FromHex("000b68656c6c6f20776f726c64");
  AppendDumpFooter(payload);
  for (size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    std::string damaged = payload;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(StripDumpFooter(damaged)) << bit;
  }
  for (size_t size = 0; size < payload.size(); ++size) EXPECT_FALSE(StripDumpFooter(payload.substr(0, size))) << size;
}

std::string PayloadOfVersion(uint8_t version) {
  std::string payload = FromHex("00c0f9");
  AppendDumpFooter(payload);
  payload[3] = static_cast<char>(version);
  const uint64_t crc = isal::Crc64Jones(std::string_view(payload).substr(0, 5));
  for (int i = 0; i < 8; ++i) payload[5 + i] = static_cast<char>(crc >> (8 * i));
  return payload;
}

TEST(DumpFooter, RefusesANewerVersion) {
  for (const int version : {5, 12, 15, 80, 81}) {
    EXPECT_TRUE(StripDumpFooter(PayloadOfVersion(static_cast<uint8_t>(version)))) << version;
  }
  for (const int version : {16, 79, 82, 255}) {
    EXPECT_FALSE(StripDumpFooter(PayloadOfVersion(static_cast<uint8_t>(version)))) << version;
  }
}

// The same type number means something else for each, so the version decides.
TEST(DumpFooter, TellsRedisFromValkey) {
  EXPECT_EQ(StripDumpFooter(PayloadOfVersion(15))->dialect, RdbDialect::kRedis);
  EXPECT_EQ(StripDumpFooter(PayloadOfVersion(80))->dialect, RdbDialect::kValkey);
}

// Redis 8.10 replicates HIMPORT SET as a RESTORE without a checksum.
TEST(DumpFooter, NewRedisMayOmitTheChecksum) {
  const auto accepts_zero = [](uint8_t version) {
    std::string payload = PayloadOfVersion(version);
    payload.replace(5, 8, 8, '\0');
    return StripDumpFooter(payload).has_value();
  };
  EXPECT_TRUE(accepts_zero(15));
  EXPECT_FALSE(accepts_zero(12));
  EXPECT_FALSE(accepts_zero(80));
}

}  // namespace
}  // namespace cairn
