// SPDX-License-Identifier: BSD-3-Clause
//
// Which commands of a stream are taken at once, and that none is lost or read twice.
#include "replication/stream_prefetcher.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "storage/store_fixture.h"

namespace cairn {
namespace {

class StreamAheadTest : public StoreFixture {
 protected:
  void Feed(const std::string& bytes) {
    std::memcpy(parser_.Reserve(bytes.size()), bytes.data(), bytes.size());
    parser_.Filled(bytes.size());
  }
  // What comes until it does not go on, by rounds.
  std::vector<size_t> ReadAll(std::string& raw, RequestParser::Outcome& outcome) {
    std::vector<size_t> counts;
    do {
      outcome = ahead_.Read(parser_, txn(), 0);
      counts.push_back(ahead_.requests().size());
      for (const StreamPrefetcher::Request& request : ahead_.requests()) {
        raw += request.raw;
        EXPECT_EQ(request.argv, (std::vector<std::string_view>{"SET", "key", "value"}));
      }
    } while (outcome == RequestParser::Outcome::kRequest);
    return counts;
  }

  RequestParser parser_;
  StreamPrefetcher ahead_;
};

const std::string kSet = "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n";

std::string Repeated(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += kSet;
  return all;
}

TEST_F(StreamAheadTest, TakesSixteenAtOnceAndThenTheRest) {
  Begin();
  std::string raw;
  RequestParser::Outcome outcome;
  Feed(Repeated(37) + kSet.substr(0, 20));
  EXPECT_EQ(ReadAll(raw, outcome), (std::vector<size_t>{16, 16, 5}));
  EXPECT_EQ(outcome, RequestParser::Outcome::kIncomplete);
  Feed(kSet.substr(20) + Repeated(15));
  EXPECT_EQ(ReadAll(raw, outcome), (std::vector<size_t>{16, 0}));
  EXPECT_EQ(raw, Repeated(53));
}

TEST_F(StreamAheadTest, WhatStandsBeforeDamageIsSaid) {
  Begin();
  std::string raw;
  RequestParser::Outcome outcome;
  Feed(Repeated(3) + "*x\r\n");
  EXPECT_EQ(ReadAll(raw, outcome), (std::vector<size_t>{3}));
  EXPECT_EQ(outcome, RequestParser::Outcome::kError);
  EXPECT_EQ(raw, Repeated(3));
}

}  // namespace
}  // namespace cairn
