// SPDX-License-Identifier: BSD-3-Clause
//
// Streams: chunks and their bytes, the ends of the log, trimming, groups and pending entries.
#include "types/stream.h"

#include <gtest/gtest.h>

#include <set>

#include "types/collection_fixture.h"
#include "types/stream_filler.h"
#include "types/stream_group.h"
#include "types/stream_producers.h"

namespace cairn {
namespace {

using Fields = std::vector<std::string_view>;

TEST(StreamId, NextAndPreviousPassFromOneMsToAnother) {
  EXPECT_EQ(*NextStreamId({7, UINT64_MAX}), (StreamId{8, 0}));
  EXPECT_EQ(*PreviousStreamId({8, 0}), (StreamId{7, UINT64_MAX}));
  EXPECT_FALSE(NextStreamId(kLastStreamId));
  EXPECT_FALSE(PreviousStreamId({}));
}

// As the strtoull of Redis reads each number. 64 bits are the limit.
TEST(StreamId, ZerosAndAPlusAndWhiteSpaceMayPrecedeItsNumbers) {
  EXPECT_EQ(*ParseStreamId("01", 5), (StreamId{1, 5}));
  EXPECT_EQ(*ParseStreamId("+7", 0), (StreamId{7, 0}));
  EXPECT_EQ(*ParseStreamId(" 8", 0), (StreamId{8, 0}));
  EXPECT_EQ(*ParseStreamId("\t\n 00", 0), (StreamId{0, 0}));
  EXPECT_EQ(*ParseStreamId("10-01", 0), (StreamId{10, 1}));
  EXPECT_EQ(*ParseStreamId("11-+3", 0), (StreamId{11, 3}));
  EXPECT_EQ(*ParseStreamId("12- 4", 0), (StreamId{12, 4}));
  EXPECT_EQ(*ParseStreamId("018446744073709551615-0018446744073709551615", 0), kLastStreamId);
  for (const char* const text : {"", " ", "+", "9-", "-5", "--6", "13--1", "++1", "+ 1", "1 ", "1-2 ", "0x1", "1-*",
                                 "18446744073709551616", "1-018446744073709551616"}) {
    EXPECT_FALSE(ParseStreamId(text, 0)) << text;
  }
}

// A chunk of one entry.
std::string ChunkOf(const Fields& fields) {
  StreamChunkBuilder builder;
  builder.Add({1000, 0}, fields);
  return builder.Take();
}

TEST(StreamChunk, HasTheBytesOfTheFormat) {
  const StreamId base{1000, 1};
  const std::string one = ChunkOf(Fields{"a", "1"});
  const std::string two = *AppendToStreamChunk(base, one, {1000, 2}, Fields{"a", "x"});
  EXPECT_EQ(two, std::string("\x02\x01\x02\x61\x00\x00\x00\x05\x00\x01\x00\x02\x78", 13));
}

TEST(StreamChunk, KeepsEntriesWithDifferentFields) {
  const StreamId base{1000, 5};
  std::string chunk = ChunkOf(Fields{"a", "1"});
  chunk = *AppendToStreamChunk(base, chunk, {1000, 6}, Fields{"b", "2", "c", ""});
  chunk = *AppendToStreamChunk(base, chunk, {2000, 0}, Fields{"a", "3"});
  StreamChunkReader reader(base, chunk);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.entry().id, base);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.entry().id, (StreamId{1000, 6}));
  EXPECT_EQ(reader.entry().fields.at(1).first.ToString(), "c");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.entry().id, (StreamId{2000, 0}));
  EXPECT_EQ(reader.entry().fields.at(0).first.ToString(), "a");
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.TakeStatus().ok());
}

// A chunk has the same bytes whether its entries are added one by one or all at once.
TEST(StreamChunk, HasTheSameBytesHoweverItIsBuilt) {
  const StreamId base{1000, 0};
  std::string grown = ChunkOf(Fields{"a", "1", "7", "x"});
  StreamChunkBuilder builder;
  builder.Add(base, Fields{"a", "1", "7", "x"});
  const auto add = [&](StreamId id, const Fields& fields) {
    grown = *AppendToStreamChunk(base, grown, id, fields);
    builder.Add(id, fields);
    EXPECT_EQ(builder.last(), id);
  };
  add({1000, 5}, {"a", "2", "7", "y"});
  add({1001, 3}, {"b", "2", "7", "y"});
  add({1002, 0}, {"a", "2"});
  EXPECT_EQ(builder.count(), 4u);
  EXPECT_EQ(builder.base(), base);
  EXPECT_EQ(builder.Take(), grown);
  builder.Add({2000, 0}, Fields{"b", "1"});
  EXPECT_EQ(builder.Take(), ChunkOf(Fields{"b", "1"}));
}

TEST(StreamChunk, TruncationIsCorruption) {
  const std::string chunk = ChunkOf(Fields{"field", "value"});
  for (size_t size = 0; size < chunk.size(); ++size) {
    StreamChunkReader reader({1, 0}, std::string_view(chunk).substr(0, size));
    while (reader.Next()) {
    }
    EXPECT_TRUE(reader.TakeStatus().Is(Code::kCorruption)) << size;
  }
}

class StreamTest : public CollectionFixture {
 protected:
  void With(const std::function<Status(Stream&)>& command) {
    Run("k", [&](Keyspace& keys, const Key& key) -> Status {
      Stream stream(keys, key);
      TRY(stream.Open());
      if (!stream.exists()) stream.Create();
      TRY(command(stream));
      return stream.Save();
    });
  }

  void Add(uint64_t from, uint64_t to) {
    With([&](Stream& stream) -> Status {
      for (uint64_t ms = from; ms <= to; ++ms) {
        const std::string value = std::to_string(ms);
        TRY(stream.Append({ms, 0}, Fields{"n", value}));
        ids_.insert(ms);
      }
      return Ok();
    });
  }

  uint64_t Trim(const StreamTrim& trim) {
    uint64_t deleted = 0;
    With([&](Stream& stream) -> Status {
      deleted = TRY(stream.Trim(trim));
      return Ok();
    });
    return deleted;
  }

  // The entries in the range equal those in `ids_`, in both directions, and so do the ends.
  void ExpectRange(uint64_t from, uint64_t to) {
    With([&](Stream& stream) -> Status {
      std::vector<uint64_t> seen;
      const auto visit = [&](const StreamEntry& entry) -> Result<bool> {
        EXPECT_EQ(entry.fields.at(0).second.ToString(), std::to_string(entry.id.ms));
        seen.push_back(entry.id.ms);
        return true;
      };
      TRY(stream.ForEach({from, 0}, {to, 0}, /*reverse=*/false, visit));
      std::vector<uint64_t> wanted(ids_.lower_bound(from), ids_.upper_bound(to));
      EXPECT_EQ(seen, wanted);
      seen.clear();
      TRY(stream.ForEach({from, 0}, {to, 0}, /*reverse=*/true, visit));
      std::reverse(wanted.begin(), wanted.end());
      EXPECT_EQ(seen, wanted);
      EXPECT_EQ(stream.size(), ids_.size());
      EXPECT_EQ(stream.state().first_id.ms, ids_.empty() ? 0 : *ids_.begin());
      EXPECT_EQ(TRY(stream.LastEntryId()).ms, ids_.empty() ? 0 : *ids_.rbegin());
      return Ok();
    });
  }

  std::set<uint64_t> ids_;
};

TEST_F(StreamTest, ReadsRangesAcrossChunks) {
  Add(1, 500);
  for (const auto& [from, to] :
       {std::pair<uint64_t, uint64_t>{0, 1000}, {1, 1}, {100, 101}, {250, 499}, {500, 500}, {501, 600}}) {
    ExpectRange(from, to);
  }
}

// The filler writes full chunks behind the existing ones, and the stream can be appended to afterwards.
TEST_F(StreamTest, IsFilledInWholeChunks) {
  Add(1, 3);
  With([&](Stream& stream) -> Status {
    StreamFiller filler(stream);
    for (uint64_t ms = 4; ms <= 1003; ++ms) {
      const std::string value = std::to_string(ms);
      filler.Add({ms, 0}, Fields{"n", value});
      ids_.insert(ms);
    }
    filler.Finish();
    EXPECT_EQ(stream.state().chunks, 11u);
    EXPECT_EQ(stream.state().tail.ms, 904u);
    EXPECT_EQ(stream.state().last_id.ms, 1003u);
    EXPECT_EQ(stream.state().entries_added, 1003u);
    return Ok();
  });
  ExpectRange(0, 2000);
  Add(1004, 1010);
  ExpectRange(0, 2000);
}

TEST_F(StreamTest, DeletingAnywhereKeepsTheEnds) {
  Add(1, 400);
  for (const uint64_t ms : {1, 2, 400, 399, 200, 150, 3}) {
    With([&](Stream& stream) -> Status {
      EXPECT_TRUE(TRY(stream.Delete({ms, 0})));
      EXPECT_FALSE(TRY(stream.Delete({ms, 0})));
      return Ok();
    });
    ids_.erase(ms);
    ExpectRange(0, 1000);
  }
  Add(401, 420);
  ExpectRange(0, 1000);
}

TEST_F(StreamTest, DeletingAllOfItLeavesAnEmptyStream) {
  Add(1, 250);
  for (uint64_t ms = 250; ms >= 1; --ms) {
    With([&](Stream& stream) -> Status {
      EXPECT_TRUE(TRY(stream.Delete({ms, 0})));
      return Ok();
    });
    ids_.erase(ms);
  }
  ExpectRange(0, 1000);
  EXPECT_TRUE(Exists("k"));
  Add(251, 260);
  ExpectRange(0, 1000);
}

TEST_F(StreamTest, TrimsByLengthAndById) {
  Add(1, 450);
  EXPECT_EQ(Trim({.max_length = 340}), 110u);
  ids_.erase(ids_.begin(), ids_.find(111));
  ExpectRange(0, 1000);
  EXPECT_EQ(Trim({.min_id = {250, 0}}), 139u);
  ids_.erase(ids_.begin(), ids_.find(250));
  ExpectRange(0, 1000);
  EXPECT_EQ(Trim({.max_length = 0}), 201u);
  ids_.clear();
  ExpectRange(0, 1000);
}

TEST_F(StreamTest, ApproximateTrimmingDeletesWholeChunksOnly) {
  Add(1, 350);
  EXPECT_EQ(Trim({.max_length = 140, .whole_chunks = true}), 200u);
  EXPECT_EQ(Trim({.max_length = 0, .whole_chunks = true, .limit = 99}), 0u);
  ids_.erase(ids_.begin(), ids_.find(201));
  ExpectRange(0, 1000);
}

TEST_F(StreamTest, PendingEntriesMoveToAnotherConsumer) {
  Add(1, 10);
  With([&](Stream& stream) -> Status {
    StreamGroup group = StreamGroup::Create(stream, "g", {}, 0);
    StreamConsumer& a = *TRY(group.ConsumerOrNew("a", 5));
    StreamConsumer& b = *TRY(group.ConsumerOrNew("b", 5));
    for (uint64_t ms = 1; ms <= 4; ++ms) {
      TRY(group.Assign(a, {.id = {ms, 0}, .delivered_ms = 9, .deliveries = 1}));
    }
    TRY(group.Assign(b, {.id = {2, 0}, .delivered_ms = 9, .deliveries = 2}));
    EXPECT_TRUE(TRY(group.Release({1, 0})));
    EXPECT_FALSE(TRY(group.Release({1, 0})));
    group.Save();
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    StreamGroup group = *TRY(StreamGroup::Find(stream, "g"));
    EXPECT_EQ(group.pending(), 3u);
    StreamConsumer& a = *TRY(group.Consumer("a"));
    EXPECT_EQ(a.pending, 2u);
    EXPECT_EQ(TRY(group.Pending({2, 0}))->consumer, "b");
    EXPECT_EQ(TRY(group.LastPending()), (StreamId{4, 0}));
    TRY(group.DeleteConsumer(a));
    EXPECT_EQ(group.pending(), 1u);
    EXPECT_EQ(group.consumers(), 1u);
    group.Save();
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    StreamGroup group = *TRY(StreamGroup::Find(stream, "g"));
    TRY(group.Destroy(stream));
    EXPECT_EQ(stream.state().groups, 0u);
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    Cursor left = stream.txn().Scan(MakeCollectionStart(Space::kScores, stream.rows().id, stream.rows().stripe),
                                    MakeCollectionEnd(Space::kScores, stream.rows().id, stream.rows().stripe));
    EXPECT_FALSE(left.Valid());
    return left.TakeStatus();
  });
}

// The rows by time exist from the first KeepTimes() on, and follow every change of a pending entry.
TEST_F(StreamTest, PendingEntriesAreVisitedByTime) {
  Add(1, 10);
  const auto times = [](const StreamGroup& group) -> Result<std::string> {
    std::string text;
    TRY(group.ForEachPendingByTime([&](const PendingEntry& entry) -> Result<bool> {
      text += std::to_string(entry.delivered_ms) + ":" + std::to_string(entry.id.ms) + entry.consumer + " ";
      return true;
    }));
    return text;
  };
  With([&](Stream& stream) -> Status {
    StreamGroup group = StreamGroup::Create(stream, "g", {}, 0);
    StreamConsumer& a = *TRY(group.ConsumerOrNew("a", 5));
    TRY(group.Assign(a, {.id = {1, 0}, .delivered_ms = 30, .deliveries = 1}));
    TRY(group.Assign(a, {.id = {2, 0}, .delivered_ms = 20, .deliveries = 1}));
    EXPECT_TRUE(TRY(group.KeepTimes()));
    EXPECT_FALSE(TRY(group.KeepTimes()));
    TRY(group.Assign(a, {.id = {3, 0}, .delivered_ms = 20, .deliveries = 1}));
    EXPECT_EQ(TRY(times(group)), "20:2a 20:3a 30:1a ");
    group.Save();
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    StreamGroup group = *TRY(StreamGroup::Find(stream, "g"));
    EXPECT_FALSE(TRY(group.KeepTimes()));
    StreamConsumer& b = *TRY(group.ConsumerOrNew("b", 5));
    TRY(group.Assign(b, {.id = {2, 0}, .delivered_ms = 40, .deliveries = 2}));
    EXPECT_EQ(TRY(times(group)), "20:3a 30:1a 40:2b ");
    EXPECT_TRUE(TRY(group.Release({3, 0})));
    TRY(group.DeleteConsumer(b));
    EXPECT_EQ(TRY(times(group)), "30:1a ");
    TRY(group.Destroy(stream));
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    Cursor left = stream.txn().Scan(MakeCollectionStart(Space::kScores, stream.rows().id, stream.rows().stripe),
                                    MakeCollectionEnd(Space::kScores, stream.rows().id, stream.rows().stripe));
    EXPECT_FALSE(left.Valid());
    return left.TakeStatus();
  });
}

// Released entries come before all others, in the order of their release, and belong to no consumer.
TEST_F(StreamTest, ReleasedEntriesHaveNoConsumer) {
  Add(1, 10);
  With([&](Stream& stream) -> Status {
    StreamGroup group = StreamGroup::Create(stream, "g", {}, 0);
    StreamConsumer& a = *TRY(group.ConsumerOrNew("", 5));  // a consumer may have an empty name
    for (uint64_t ms = 1; ms <= 3; ++ms) {
      TRY(group.Assign(a, {.id = {ms, 0}, .delivered_ms = 9, .deliveries = 1}));
    }
    TRY(group.Nack({.id = {3, 0}, .deliveries = 7}));
    TRY(group.Nack({.id = {2, 0}, .deliveries = 1}));
    TRY(group.Nack({.id = {5, 0}, .deliveries = 0}));
    EXPECT_EQ(a.pending, 1u);
    group.Save();
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    StreamGroup group = *TRY(StreamGroup::Find(stream, "g"));
    EXPECT_EQ(group.pending(), 4u);
    EXPECT_EQ(group.nacked(), 3u);
    EXPECT_FALSE(TRY(group.Pending({1, 0}))->nacked);
    EXPECT_TRUE(TRY(group.Pending({2, 0}))->nacked);
    EXPECT_TRUE(TRY(group.KeepTimes()));
    std::vector<uint64_t> order;
    TRY(group.ForEachPendingByTime([&](const PendingEntry& entry) -> Result<bool> {
      order.push_back(entry.id.ms);
      return true;
    }));
    EXPECT_EQ(order, (std::vector<uint64_t>{3, 2, 5, 1}));
    EXPECT_TRUE(TRY(group.Release({2, 0})));
    StreamConsumer& a = *TRY(group.Consumer(""));
    TRY(group.Assign(a, {.id = {3, 0}, .delivered_ms = 9, .deliveries = 8}));
    EXPECT_EQ(group.nacked(), 1u);
    EXPECT_EQ(a.pending, 2u);
    return Ok();
  });
}

TEST_F(StreamTest, ARecordKeepsHowProducersAreRecognized) {
  StreamState state{.count = 2, .last_id = {1000, 2}, .idempotence = {.most_ids = 50, .added = 3, .duplicates = 1}};
  std::string payload;
  AppendStreamState(payload, 7, state);
  EXPECT_EQ(DecodeStreamState(*DecodeSpreadPayload(payload))->idempotence, state.idempotence);
  std::string plain;
  state.idempotence = {};
  AppendStreamState(plain, 7, state);
  EXPECT_EQ(plain.size() + 7, payload.size());
  payload.pop_back();
  EXPECT_FALSE(DecodeStreamState(*DecodeSpreadPayload(payload)).ok());
}

TEST_F(StreamTest, IdsOfProducersExpireAndAreLimited) {
  With([&](Stream& stream) -> Status {
    StreamIdempotence& kept = stream.state().idempotence;
    kept.most_ids = 2;
    StreamProducers producers(stream.txn(), stream.rows(), kept);
    for (uint64_t ms = 1; ms <= 3; ++ms) TRY(producers.Add("p", std::to_string(ms), {ms, 0}, 1000));
    EXPECT_FALSE(TRY(producers.Find("p", "1", 1000)));
    EXPECT_EQ(TRY(producers.Find("p", "2", 1000)), (StreamId{2, 0}));
    EXPECT_FALSE(TRY(producers.Find("q", "2", 1000)));
    EXPECT_EQ(TRY(producers.Find("p", "2", 100'001)), (StreamId{2, 0}));
    EXPECT_FALSE(TRY(producers.Find("p", "2", 100'002)));
    for (int n = 0; n < 20; ++n) TRY(producers.Add("q" + std::to_string(n), "1", {10, 0}, 1000));
    EXPECT_EQ(kept.producers, 21u);
    // When there are twice as many as at the last look, the expired ones are deleted.
    for (int n = 0; n < 20; ++n) TRY(producers.Add("r" + std::to_string(n), "1", {200'000, 0}, 200'000));
    EXPECT_EQ(kept.producers, 20u);
    EXPECT_EQ(TRY(producers.Find("r0", "1", 200'000)), (StreamId{200'000, 0}));
    TRY(producers.Clear());
    EXPECT_FALSE(TRY(producers.Find("r0", "1", 200'000)));
    return Ok();
  });
  With([&](Stream& stream) -> Status {
    Cursor left = stream.txn().Scan(MakeCollectionStart(Space::kScores, stream.rows().id, stream.rows().stripe),
                                    MakeCollectionEnd(Space::kScores, stream.rows().id, stream.rows().stripe));
    EXPECT_FALSE(left.Valid());
    return left.TakeStatus();
  });
}

TEST_F(StreamTest, ATruncatedRecordIsCorruption) {
  std::string payload;
  AppendSpreadPayload(payload, 7, 1);
  WriteRaw("broken", Type::kStream, Encoding::kSpread, payload);
  Run("broken", [&](Keyspace& keys, const Key& key) -> Status {
    Stream stream(keys, key);
    EXPECT_TRUE(stream.Open().Is(Code::kCorruption));
    return Ok();
  });
}

}  // namespace
}  // namespace cairn
