// SPDX-License-Identifier: BSD-3-Clause
//
// Zset: the sorted set at one key: members with scores, in order of score and then of the member's bytes.
//
// A small one is packed, one record and nothing else; a larger one is spread over rows
// (types/zset_spread.h). It spreads when an element passes one of the limits, on the way through
// Add, and is packed again only where a whole value is written (Replace). Which of the two it is,
// nobody outside has to know.
//
//   Zset zset(keys, key);
//   TRY(zset.Open());                         // WRONGTYPE if the key holds something else
//   TRY(zset.Add("member", 1.5, {}));
//   TRY(zset.Save());                         // once, after all changes; an empty set's key goes
//
// A Zset refers to the keyspace and the key it was found with; both must outlive it. Walks must not
// change the set they walk. Thread: the transaction's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/keyspace.h"
#include "types/score_range.h"
#include "types/zset_packed.h"
#include "types/zset_spread.h"

namespace cairn {

struct ScoredMember {
  std::string member;
  double score = 0;

  // The set's order.
  bool operator<(const ScoredMember& other) const {
    return score != other.score ? score < other.score : member < other.member;
  }
};

// What Add may do, ZADD's options.
struct AddRules {
  bool only_new = false;       // NX
  bool only_existing = false;  // XX
  bool only_greater = false;   // GT: update when the score grows; new members are added all the same
  bool only_less = false;      // LT
  bool increment = false;      // the score is added to the one there is
};

struct Added {
  enum class Outcome : uint8_t {
    kRefused,     // by the rules
    kNotANumber,  // the increment would leave no score; nothing was changed
    kUnchanged,
    kUpdated,
    kAdded,
  };
  Outcome outcome = Outcome::kRefused;
  double score = 0;  // as it is now, in the last three cases
};

class Zset {
 public:
  struct Ranked {
    uint64_t rank;
    double score;
  };

  Zset(Keyspace& keys, const Key& key) : keys_(&keys), key_(&key) {}

  // Looks the key up. Once, before all else.
  Status Open();
  // The same for an entry that was looked up already. REQUIRES: it is a sorted set or does not exist.
  Status Open(KeyEntry entry);

  // Stores `elements`, in any order, each member once, in place of whatever `entry` saw, without
  // expiry. Without elements the key is removed.
  static Status Replace(Keyspace& keys, const Key& key, const KeyEntry& entry, std::vector<ScoredMember> elements,
                        PackRule rule = PackRule::kAllLimits);

  bool exists() const { return size() > 0; }
  uint64_t size() const { return spread_ ? spread_->count() : packed_count_; }
  bool spread() const { return spread_.has_value(); }

  // ---- one element
  Result<std::optional<double>> Score(std::string_view member);
  // The rank counts from the lowest score, from the highest when `reverse`.
  Result<std::optional<Ranked>> RankOf(std::string_view member, bool reverse);
  Result<Added> Add(std::string_view member, double score, const AddRules& rules);
  Result<bool> Remove(std::string_view member);

  // ---- many
  Status ForEach(ScoredVisitor visit, bool reverse = false);
  Status ForEach(const ZsetRange& range, ScoredVisitor visit);
  Result<uint64_t> Count(const ScoreRange& range);
  Result<uint64_t> Count(const LexRange& range);
  // Removes what ForEach would visit and returns how many that were. REQUIRES: no offset, no limit, not reverse.
  Result<uint64_t> RemoveRange(const ZsetRange& range);
  // Removes the `n` lowest or highest elements and visits them, the outermost first.
  Status Pop(uint64_t n, bool highest, ScoredVisitor visit);
  // The elements of these ranks, each visited in turn. REQUIRES: ranks are below size().
  Status ForEachRank(const std::vector<uint64_t>& ranks, ScoredVisitor visit);
  // As SpreadZset::Scan; a packed set is visited whole and ends at once.
  Result<uint64_t> Scan(uint64_t position, uint64_t n, ScoredVisitor visit);

  // ---- the value as a whole
  // Writes the record if that is needed. REQUIRES: nothing is asked of this object afterwards.
  Status Save();

 private:
  Result<Added> AddPacked(std::string_view member, double score, const AddRules& rules);
  Result<Added> AddSpread(std::string_view member, double score, const AddRules& rules);
  bool HasRoomFor(std::string_view member) const;
  void SetPacked(std::string payload, uint64_t count);
  Status Spread();
  void Clear();

  Status RemoveEntries(const std::vector<PackedZset::Entry>& entries, size_t begin, size_t end);
  Status ForEachSpread(const ZsetRange& range, ScoredVisitor visit);
  Result<uint64_t> RemoveSpread(const ZsetRange& range);

  std::string_view packed() const { return changed_ ? *changed_ : entry_.payload(); }

  Keyspace* keys_;
  const Key* key_;
  KeyEntry entry_;                      // as it was found
  std::optional<SpreadZset> spread_;    // none: packed
  std::optional<std::string> changed_;  // the packed payload when it is not entry_'s any more
  uint64_t packed_count_ = 0;
};

}  // namespace cairn
