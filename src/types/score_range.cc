// SPDX-License-Identifier: BSD-3-Clause
#include "types/score_range.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace cairn {
namespace {

using Kind = LexBound::Kind;

// Redis parses these bounds with strtod alone: an empty text is 0, and a number that is too large is infinite.
bool ParseScoreBound(std::string_view text, double& score, bool& exclusive) {
  exclusive = !text.empty() && text[0] == '(';
  if (exclusive) text.remove_prefix(1);
  const std::string copy(text);
  char* end = nullptr;
  score = std::strtod(copy.c_str(), &end);
  return *end == '\0' && !std::isnan(score);
}

bool ParseLexBound(std::string_view text, LexBound& bound) {
  if (text.empty()) return false;
  const bool alone = text.size() == 1;
  switch (text[0]) {
    case '-': bound.kind = Kind::kLowest; return alone;
    case '+': bound.kind = Kind::kHighest; return alone;
    case '(':
    case '[':
      bound.kind = text[0] == '(' ? Kind::kExclusive : Kind::kInclusive;
      bound.member = text.substr(1);
      return true;
    default: return false;
  }
}

}  // namespace

bool LexRange::ReachesMin(std::string_view member) const {
  switch (min.kind) {
    case Kind::kLowest: return true;
    case Kind::kInclusive: return member >= min.member;
    case Kind::kExclusive: return member > min.member;
    case Kind::kHighest: return false;
  }
  return false;
}

bool LexRange::ReachesMax(std::string_view member) const {
  switch (max.kind) {
    case Kind::kLowest: return false;
    case Kind::kInclusive: return member <= max.member;
    case Kind::kExclusive: return member < max.member;
    case Kind::kHighest: return true;
  }
  return false;
}

bool LexRange::IsEmpty() const {
  if (min.kind == Kind::kHighest || max.kind == Kind::kLowest) return true;
  if (min.kind == Kind::kLowest || max.kind == Kind::kHighest) return false;
  if (min.member != max.member) return min.member > max.member;
  return min.kind == Kind::kExclusive || max.kind == Kind::kExclusive;
}

std::optional<ScoreRange> ParseScoreRange(std::string_view min, std::string_view max) {
  ScoreRange range;
  if (!ParseScoreBound(min, range.min, range.min_exclusive)) return std::nullopt;
  if (!ParseScoreBound(max, range.max, range.max_exclusive)) return std::nullopt;
  return range;
}

std::optional<LexRange> ParseLexRange(std::string_view min, std::string_view max) {
  LexRange range;
  if (!ParseLexBound(min, range.min) || !ParseLexBound(max, range.max)) return std::nullopt;
  return range;
}

}  // namespace cairn
