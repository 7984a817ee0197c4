// SPDX-License-Identifier: BSD-3-Clause
//
// Values from RDB payloads: every encoding is understood, and damaged ones do no harm.
#include "types/rdb_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "rdb/rdb_writer.h"
#include "tests/rdb/hex.h"
#include "tests/rdb/rdb_corpus.h"
#include "tests/rdb/show_stream.h"

namespace cairn {
namespace {

constexpr uint64_t kMostTextBytes = 1 << 20;

using Texts = std::vector<std::string>;

Result<RdbValue> Read(std::string_view payload, size_t* left = nullptr, RdbDialect dialect = RdbDialect::kRedis) {
  RdbReader reader(payload, kMostTextBytes, dialect);
  Result<RdbValue> value = ReadRdbValue(reader);
  if (left != nullptr) *left = reader.left();
  return value;
}

// A value as a line of text: its type, its items, its scores, and the expiry times of its fields.
std::string Show(std::string_view payload, RdbDialect dialect = RdbDialect::kRedis) {
  size_t left = 0;
  const Result<RdbValue> value = Read(payload, &left, dialect);
  if (!value.ok()) return std::string(value.status().text());
  static constexpr const char* kNames[] = {"none", "string", "list", "set", "zset", "hash", "stream"};
  std::string line = kNames[static_cast<int>(value->type)];
  if (value->was_packed) line += " packed";
  for (const Item& item : value->items.all()) line += " " + item.ToString();
  for (const double score : value->scores) line += " " + std::to_string(score);
  if (!value->deadlines.empty()) line += " until";
  for (const int64_t when_ms : value->deadlines) line += " " + std::to_string(when_ms);
  if (value->stream != nullptr) line += " " + ShowStream(*value->stream);
  return left == 0 ? line : line + " and " + std::to_string(left) + " bytes";
}

std::string ShowHex(std::string_view hex) { return Show(FromHex(hex)); }

TEST(RdbValue, UnderstandsEveryEncoding) {
  for (const CorpusPayload& payload : RdbCorpus())
    EXPECT_EQ(Show(payload.bytes, payload.dialect), payload.meaning) << payload.name;
}

TEST(RdbValue, LengthsHaveFourForms) {
  EXPECT_EQ(ShowHex("00 01 78"), "string x");
  EXPECT_EQ(ShowHex("00 4001 78"), "string x");
  EXPECT_EQ(ShowHex("00 80 00000001 78"), "string x");
  EXPECT_EQ(ShowHex("00 81 0000000000000001 78"), "string x");
  EXPECT_EQ(ShowHex("00 82 01 78"), "rdb: a length of unknown kind");
  EXPECT_EQ(ShowHex("01 c0 01"), "rdb: a text where a length is expected");
}

TEST(RdbValue, TextsHaveFiveForms) {
  EXPECT_EQ(ShowHex("00 c0 80"), "string -128");
  EXPECT_EQ(ShowHex("00 c1 0080"), "string -32768");
  EXPECT_EQ(ShowHex("00 c2 00000080"), "string -2147483648");
  EXPECT_EQ(ShowHex("00 c3 04 0a 00 61 e0 00"), "rdb: a compressed text cannot be decompressed");
  EXPECT_EQ(ShowHex("00 c3 05 0a 00 61 e0 00 00"), "string aaaaaaaaaa");
  EXPECT_EQ(ShowHex("00 c4 00"), "rdb: a text of unknown kind");
}

// A claimed length is checked against the bytes available before memory is allocated.
TEST(RdbValue, AllocatesNoMemoryForClaimedLengths) {
  EXPECT_EQ(ShowHex("00 81 fffffffffffffff7"), "rdb: a text is too long");
  EXPECT_EQ(ShowHex("01 81 ffffffffffffffff 00"), "rdb: the payload is cut short");
  EXPECT_EQ(ShowHex("04 81 8000000000000001 00"), "rdb: the payload is cut short");
  EXPECT_EQ(ShowHex("00 c3 05 80 7fffffff 00 61 e0 00 00"), "rdb: a compressed text with an impossible size");
  EXPECT_EQ(ShowHex("00 c3 05 80 00010000 00 61 e0 00 00"), "rdb: a compressed text with an impossible size");
  EXPECT_EQ(ShowHex("00 c3 05 00 00 61 e0 00 00"), "rdb: a compressed text with an impossible size");
  EXPECT_EQ(ShowHex("00 c3 05 0b 00 61 e0 00 00"), "rdb: a compressed text cannot be decompressed");
}

TEST(RdbValue, TextsHaveALimit) {
  std::string payload;
  RdbWriter writer(payload);
  writer.Type(RdbType::kString);
  writer.Text(std::string(kMostTextBytes, 'x'));
  EXPECT_TRUE(Read(payload).ok());
  payload.clear();
  writer.Type(RdbType::kString);
  writer.Text(std::string(kMostTextBytes + 1, 'x'));
  EXPECT_FALSE(Read(payload).ok());
}

TEST(RdbValue, RefusesEmptyCollectionsAndDuplicates) {
  EXPECT_EQ(ShowHex("01 00"), "rdb: an empty collection");
  EXPECT_EQ(ShowHex("02 00"), "rdb: an empty collection");
  EXPECT_EQ(ShowHex("10 07 07000000 0000 ff"), "rdb: an empty collection");
  EXPECT_EQ(ShowHex("02 02 01 61 01 61"), "rdb: a duplicate element");
  EXPECT_EQ(ShowHex("02 02 01 31 c0 01"), "rdb: a duplicate element");
  EXPECT_EQ(ShowHex("04 02 01 61 01 62 01 61 01 63"), "rdb: a duplicate element");
  EXPECT_EQ(ShowHex("05 02 01 61 000000000000f03f 01 61 0000000000000040"), "rdb: a duplicate element");
  EXPECT_EQ(ShowHex("10 09 09000000 0100 01 01 ff"),
            "Hash listpack integrity check failed: rdb: a field without a value");
  EXPECT_EQ(ShowHex("11 09 09000000 0100 01 01 ff"),
            "Zset listpack integrity check failed: rdb: a member without a score");
}

TEST(RdbValue, RefusesScoresThatAreNotNumbers) {
  EXPECT_EQ(ShowHex("05 01 01 61 000000000000f87f"), "rdb: a score that is not a number");
  EXPECT_EQ(ShowHex("03 01 01 61 fd"), "rdb: a score that is not a number");
  EXPECT_EQ(ShowHex("03 01 01 61 01 78"), "rdb: a score that is not a number");
  EXPECT_EQ(ShowHex("03 01 01 61 03 312e35"), "zset a 1.500000");
  EXPECT_EQ(ShowHex("03 02 01 61 fe 01 62 ff"), "zset a b inf -inf");
  EXPECT_EQ(ShowHex("11 0d 0d000000 0200 81 61 02 81 78 02 ff"),
            "Zset listpack integrity check failed: rdb: a score that is not a number");
}

TEST(RdbValue, RefusesOtherTypesByName) {
  for (const char* hex : {"06 00", "07 00"}) {
    EXPECT_EQ(ShowHex(hex), "rdb: a value belongs to a module, and Cairn has no modules") << hex;
  }
  EXPECT_EQ(ShowHex("08 00"), "rdb: unknown type 8");
  EXPECT_EQ(ShowHex("ff"), "rdb: unknown type 255");
  EXPECT_EQ(ShowHex("1c 01 00 0161"), "rdb: type 28, an array, which Redis has since 8.8, is not supported");
  EXPECT_EQ(ShowHex("21 00"), "rdb: type 33, a rate limiter (GCRA) of Redis, is not supported");
  EXPECT_EQ(Show(""), "rdb: the payload is cut short");
}

// The number 22 is a hash of Valkey 9 and one of a preview of Redis 7.4, with other bytes.
TEST(RdbValue, NumbersOfTheOtherDialectAreNotMisread) {
  const std::string hash = FromHex("16 01 0161 0178 ffffffffffffffff");
  EXPECT_EQ(Show(hash, RdbDialect::kValkey), "hash a x until -1");
  EXPECT_EQ(
      Show(hash),
      "rdb: type 22, a hash with expiring fields in the form of a release candidate of Redis 7.4, is not supported");
  const std::string with_times = FromHex("18 7b409452a3030000 01 01 0161 0178");
  EXPECT_EQ(Show(with_times), "hash a x until 4000000000123");
  EXPECT_EQ(Show(with_times, RdbDialect::kValkey), "rdb: unknown type 24 of Valkey");
  EXPECT_EQ(Show(FromHex("17 00"), RdbDialect::kValkey),
            "rdb: type 23 of Valkey, a path hash, which Valkey has since 9.2, is not supported");
  EXPECT_EQ(Show(FromHex("16 01 0161 0178 feffffffffffffff"), RdbDialect::kValkey), "rdb: a time out of range");
}

// Valkey has no limit for a field's time. A hash must not be refused for it.
TEST(RdbValue, LateTimesOfValkeyAreTheLatestOfRedis) {
  EXPECT_EQ(Show(FromHex("16 02 0161 0178 feffffffff3f0000 0162 0179 ffffffffffffff7f"), RdbDialect::kValkey),
            "hash a x b y until 70368744177662 70368744177663");
}

// A template gives the names of fields once for many hashes of a file; a payload has them itself.
TEST(RdbValue, TemplatesMustFitTheirHashes) {
  const std::string by_number = FromHex("1e 0d 0d000000 0300 0501 0101 0201 ff");
  const std::string array_by_number = FromHex("20 05 c001 c002");
  EXPECT_EQ(Show(by_number), "Hash listpack integrity check failed: rdb: unknown hash template 5");
  EXPECT_EQ(Show(array_by_number), "rdb: unknown hash template 5");
  for (const std::string& payload : {by_number, array_by_number}) {
    RdbReader reader(payload, kMostTextBytes);
    EXPECT_TRUE(reader.AddFieldNames(5, {"f", "g"}));
    EXPECT_FALSE(reader.AddFieldNames(5, {"h"}));
    const Result<RdbValue> value = ReadRdbValue(reader);
    ASSERT_TRUE(value.ok()) << value.status().text();
    EXPECT_EQ(value->items.size(), 4u);
    EXPECT_EQ(value->items[0].ToString() + value->items[1].ToString(), "f1");
    EXPECT_EQ(value->items[2].ToString() + value->items[3].ToString(), "g2");
  }
  EXPECT_EQ(ShowHex("1d 00 17 17000000 0200 866669656c643107 866669656c643207 ff 0b 0b000000 0200 0001 0101 ff"),
            "Hash listpack integrity check failed: rdb: a template with fields without values");
  EXPECT_EQ(ShowHex("1d 00 17 17000000 0200 866669656c643107 866669656c643207 ff 07 07000000 0000 ff"),
            "Hash listpack integrity check failed: rdb: a hash template without a number");
  EXPECT_EQ(ShowHex("1f 02 01 0166 c001"), "rdb: the names of a hash template are of an unknown form");
  EXPECT_EQ(ShowHex("1f 01 00"), "rdb: an empty collection");
  EXPECT_EQ(ShowHex("1f 01 02 0166 0166 c001 c002"), "rdb: a duplicate element");
}

TEST(RdbValue, StreamsOfRedis8AreRead) {
  for (const CorpusPayload& payload : RdbCorpus()) {
    if (!payload.name.starts_with("stream 4")) continue;
    RdbReader reader(payload.bytes, kMostTextBytes);
    EXPECT_TRUE(ReadRdbValue(reader).ok());
    EXPECT_TRUE(reader.skipped().empty()) << payload.name;
  }
  const std::string head =
      "1b0110000000000000000500000000000000011d1d0000000a000101000101018161020001020100010001"
      "8162020401ff0105010501000001010167050101010000000000000005000000000000000"
      "1e80300000000000002 00 ";
  const std::string released = head + "01 0000000000000005 0000000000000001 ";
  const std::string bytes = FromHex(released + "4064 05 01 0170 01 0169 05 01 07 08");
  RdbReader reader(bytes, kMostTextBytes);
  const Result<RdbValue> value = ReadRdbValue(reader);
  ASSERT_TRUE(value.ok()) << value.status().text();
  const std::vector<PendingEntry>& nacked = value->stream->groups().at(0).nacked;
  ASSERT_EQ(nacked.size(), 1u);
  EXPECT_EQ(nacked[0].deliveries, 2u);
  const RdbStream::Idempotence& kept = value->stream->idempotence();
  EXPECT_EQ(kept.duration_s + kept.most_ids, 105u);
  EXPECT_EQ(kept.added * 10 + kept.duplicates, 78u);
  EXPECT_EQ(kept.producers.at(0).name, "p");
  EXPECT_EQ(kept.producers.at(0).ids.at(0), std::pair(std::string("i"), StreamId{5, 1}));
  EXPECT_EQ(ShowHex(head + "00 4064 4064 00 00 00"), "rdb stream: a pending entry without a consumer");
  EXPECT_EQ(ShowHex(head + "01 0000000000000005 0000000000000002 4064 4064 00 00 00"),
            "rdb stream: a released entry has a consumer, or is not pending");
  EXPECT_EQ(ShowHex(released + "00 4064 00 00 00"), "rdb stream: the settings of idempotent producers");
}

// Every proper prefix of every payload is refused: a value marks its end.
TEST(RdbValue, RefusesEveryPrefixOfAPayload) {
  for (const CorpusPayload& payload : RdbCorpus()) {
    for (size_t size = 0; size < payload.bytes.size(); ++size) {
      EXPECT_FALSE(Read(std::string_view(payload.bytes).substr(0, size), nullptr, payload.dialect).ok())
          << payload.name << " at " << size;
    }
  }
}

// A damaged copy: bytes changed, removed, doubled or inserted from another payload.
std::string Damage(std::string bytes, const std::vector<CorpusPayload>& corpus, Random& random) {
  for (uint64_t wounds = 1 + random.Below(3); wounds > 0 && !bytes.empty(); --wounds) {
    const size_t at = random.Below(bytes.size());
    const size_t size = 1 + random.Below(8);
    const std::string& other = corpus[random.Below(corpus.size())].bytes;
    switch (random.Below(6)) {
      case 0: bytes[at] = static_cast<char>(random.Next()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ 1 << random.Below(8)); break;
      case 2: bytes[at] = static_cast<char>(random.Below(2) == 0 ? 0xff : 0x81); break;
      case 3: bytes.erase(at, size); break;
      case 4: bytes.insert(at, bytes.substr(at, size)); break;
      default: bytes.replace(at, size, other, random.Below(other.size()), size); break;
    }
  }
  return bytes;
}

// A damaged payload gives an error, or a consistent value that is no larger than its bytes can encode.
TEST(RdbValue, SurvivesDamage) {
  const std::vector<CorpusPayload> corpus = RdbCorpus();
  Random random(20240607);
  constexpr int kRounds = 250'000;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const CorpusPayload& payload = corpus[random.Below(corpus.size())];
    const std::string bytes = Damage(payload.bytes, corpus, random);
    const Result<RdbValue> value = Read(bytes, nullptr, payload.dialect);
    if (!value.ok()) {
      EXPECT_TRUE(value.status().Is(Code::kCorruption));
      ++refused;
      continue;
    }
    if (value->stream != nullptr) {
      EXPECT_LE(value->stream->size(), 88 * bytes.size());
      EXPECT_GT(ShowStream(*value->stream).size(), 0u);
      continue;
    }
    EXPECT_GE(value->items.size(), 1u);
    EXPECT_LE(value->items.size(), 88 * bytes.size());
    EXPECT_EQ(value->scores.size(), value->type == Type::kZset ? value->items.size() : 0u);
    EXPECT_TRUE(value->type != Type::kHash || value->items.size() % 2 == 0);
    for (const double score : value->scores) EXPECT_FALSE(std::isnan(score));
    for (const Item& item : value->items.all()) EXPECT_LE(item.ToString().size(), kMostTextBytes);
  }
  EXPECT_GT(refused, kRounds / 4);
}

}  // namespace
}  // namespace cairn
