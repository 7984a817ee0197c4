// SPDX-License-Identifier: BSD-3-Clause
//
// Zset: the sorted set at one key: members with scores, ordered by score and then by the member's bytes.
//
// A small one is packed into one record; a larger one is spread over rows (types/zset_spread.h). Add spreads the set
// when it has more bytes than MostPackedBytes (types/limits.h). Only a write of the whole value (Replace) makes it
// packed again. Callers need not know which form it has.
//
//   Zset zset(keys, key);
//   TRY(zset.Open());                         // WRONGTYPE if the key holds something else
//   TRY(zset.Add("member", 1.5, {}));
//   TRY(zset.Save());                         // once, after all changes; an empty set's key goes
//
// A Zset refers to its keyspace and key, which must outlive it. Visitors must not change the set during a walk. Thread:
// that of the transaction.
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

  // The order of the set.
  bool operator<(const ScoredMember& other) const {
    return score != other.score ? score < other.score : member < other.member;
  }
};

// The memory of a member that a command collects with its score (CommandMemory).
inline uint64_t BytesOfScored(std::string_view member) { return 2 * sizeof(ScoredMember) + member.size(); }

// ZADD's options: what Add may do.
struct AddRules {
  bool only_new = false;       // NX
  bool only_existing = false;  // XX
  bool only_greater = false;   // GT: update only to a higher score; new members are still added
  bool only_less = false;      // LT
  bool increment = false;      // INCR: add to the current score
};

struct Added {
  enum class Outcome : uint8_t {
    kRefused,     // by the options
    kNotANumber,  // the increment would make the score NaN; nothing was changed
    kUnchanged,
    kUpdated,
    kAdded,
  };
  Outcome outcome = Outcome::kRefused;
  double score = 0;  // the score now, in the last three cases
};

class Zset {
 public:
  struct Ranked {
    uint64_t rank;
    double score;
  };

  Zset(Keyspace& keys, const Key& key) : keys_(&keys), key_(&key) {}

  // Looks the key up. Call it once, before all else.
  Status Open();
  // The same for an entry that was already looked up. REQUIRES: it is a sorted set or does not exist.
  Status Open(KeyEntry entry);

  // Stores `elements`, in any order and each member once, in place of what `entry` saw, without an expiry. Removes the
  // key if `elements` is empty.
  static Status Replace(Keyspace& keys, const Key& key, const KeyEntry& entry, std::vector<ScoredMember> elements,
                        PackRule rule = PackRule::kAllLimits);

  bool exists() const { return size() > 0; }
  uint64_t size() const { return spread_ ? spread_->count() : packed_count_; }
  bool spread() const { return spread_.has_value(); }
  // Whether Redis would use its large encoding, a skip list.
  bool is_large() const { return spread() || is_large_; }

  // ---- one element
  Result<std::optional<double>> Score(std::string_view member);
  // The rank counts from the lowest score, or from the highest if `reverse`.
  Result<std::optional<Ranked>> RankOf(std::string_view member, bool reverse);
  Result<Added> Add(std::string_view member, double score, const AddRules& rules);
  Result<bool> Remove(std::string_view member);

  // ---- many
  Status ForEach(ScoredVisitor visit, bool reverse = false);
  Status ForEach(const ZsetRange& range, ScoredVisitor visit);
  Result<uint64_t> Count(const ScoreRange& range);
  Result<uint64_t> Count(const LexRange& range);
  // Removes the elements that ForEach would visit and returns their number. REQUIRES: no offset, no limit, not reverse.
  Result<uint64_t> RemoveRange(const ZsetRange& range);
  // Removes and visits the `n` lowest or highest elements, the outermost first.
  Status Pop(uint64_t n, bool highest, ScoredVisitor visit);
  // Visits the elements at these ranks, in the order given. REQUIRES: ranks are below size().
  Status ForEachRank(const std::vector<uint64_t>& ranks, ScoredVisitor visit);
  // Like SpreadZset::Scan; a packed set is visited as a whole.
  Result<uint64_t> Scan(uint64_t position, uint64_t n, ScoredVisitor visit);

  // ---- the value as a whole
  // Writes the record if needed. REQUIRES: this object is not used afterwards.
  Status Save();

 private:
  Result<std::optional<PackedZset::Found>> FindPacked(std::string_view member) const;
  Result<Added> AddPacked(std::string_view member, double score, const AddRules& rules);
  Result<Added> AddSpread(std::string_view member, double score, const AddRules& rules);
  bool StaysPacked(std::string_view member, bool is_new, double score);
  void SetPacked(std::string payload, uint64_t count);
  Status Spread();
  void Clear();

  Status RemoveEntries(const std::vector<PackedZset::Entry>& entries, size_t begin, size_t end);
  Status ForEachSpread(const ZsetRange& range, ScoredVisitor visit);
  Result<uint64_t> RemoveSpread(const ZsetRange& range);

  std::string_view packed() const { return changed_ ? *changed_ : entry_.payload(); }

  Keyspace* keys_;
  const Key* key_;
  KeyEntry entry_;                      // as Open found it
  std::optional<SpreadZset> spread_;    // none: packed
  std::optional<std::string> changed_;  // the changed packed payload; none: entry_'s
  uint64_t packed_count_ = 0;
  bool is_large_ = false;  // packed: see MostPackedBytes
};

}  // namespace cairn
