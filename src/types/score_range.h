// SPDX-License-Identifier: BSD-3-Clause
//
// The intervals for queries of sorted sets: of scores, of members (lexicographic), of ranks.
//
// A bound is inclusive unless marked exclusive. Bounds of members have two special values, below and above every
// member. Lexicographic intervals are meant for sets whose scores are all equal; for other sets the result is
// unspecified but never an error.
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
  std::string_view member;  // for kInclusive and kExclusive
};

struct LexRange {
  LexBound min{.kind = LexBound::Kind::kLowest};
  LexBound max{.kind = LexBound::Kind::kHighest};

  bool ReachesMin(std::string_view member) const;
  bool ReachesMax(std::string_view member) const;
  // Returns true if no possible member is within the interval.
  bool IsEmpty() const;
};

// An interval of one of the three kinds, with the direction of the walk and the part to return.
struct ZsetRange {
  enum class By : uint8_t { kRank, kScore, kLex };
  By by = By::kRank;
  int64_t first_rank = 0;  // by rank: both inclusive; negative ranks count from the end of the walk
  int64_t last_rank = -1;
  ScoreRange scores;     // by score
  LexRange members;      // by member
  bool reverse = false;  // walk from the highest down; ranks count in that direction
  int64_t offset = 0;    // by score and by member: skip this many; a negative offset skips all
  int64_t limit = -1;    // then take this many; a negative limit takes all
};

// Parses "5", "(5", "-inf", "+inf" ...; returns nullopt if either text is not a number as a whole.
std::optional<ScoreRange> ParseScoreRange(std::string_view min, std::string_view max);

// Parses "-", "+", "[member", "(member"; returns nullopt for any other text.
std::optional<LexRange> ParseLexRange(std::string_view min, std::string_view max);

}  // namespace cairn
