// SPDX-License-Identifier: BSD-3-Clause
//
// The intervals by which sorted sets are asked: of scores, of members (lexicographic), of ranks.
//
// A bound is closed unless it says exclusive. Bounds of members have two values of their own, below
// and above every member. Lexicographic intervals are meant for sets whose scores are all the same;
// what they answer for others is nobody's promise, though it never is an error.
//
// Thread: any; plain values. A LexBound views the request's bytes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace cairn {

struct ScoreRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_exclusive = false;
  bool max_exclusive = false;

  bool ReachesMin(double score) const { return min_exclusive ? score > min : score >= min; }
  bool ReachesMax(double score) const { return max_exclusive ? score < max : score <= max; }
};

struct LexBound {
  enum class Kind : uint8_t { kLowest, kInclusive, kExclusive, kHighest };
  Kind kind = Kind::kLowest;
  std::string_view member;  // of the two in the middle
};

struct LexRange {
  LexBound min{.kind = LexBound::Kind::kLowest};
  LexBound max{.kind = LexBound::Kind::kHighest};

  bool ReachesMin(std::string_view member) const;
  bool ReachesMax(std::string_view member) const;
  // True when no member whatever can be within.
  bool IsEmpty() const;
};

// An interval of one of the three kinds, the direction it is walked in and the part of it that is wanted.
struct ZsetRange {
  enum class By : uint8_t { kRank, kScore, kLex };
  By by = By::kRank;
  int64_t first_rank = 0;  // by rank: both included, negative ones count from the end of the walk
  int64_t last_rank = -1;
  ScoreRange scores;     // by score
  LexRange members;      // by member
  bool reverse = false;  // walk from the highest down; ranks count in that direction
  int64_t offset = 0;    // by score and by member: skip so many; a negative one skips all
  int64_t limit = -1;    // then take so many; a negative one takes all
};

// "5", "(5", "-inf", "+inf" ...; none when either is not a number or not all number.
std::optional<ScoreRange> ParseScoreRange(std::string_view min, std::string_view max);

// "-", "+", "[member", "(member"; none when either is something else.
std::optional<LexRange> ParseLexRange(std::string_view min, std::string_view max);

}  // namespace cairn
