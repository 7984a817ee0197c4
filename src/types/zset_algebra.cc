// SPDX-License-Identifier: BSD-3-Clause
#include "types/zset_algebra.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cairn {
namespace {

constexpr uint64_t kFewQuestions = 4;  // too few to read even a small source into memory

double ZeroIfNan(double score) { return std::isnan(score) ? 0 : score; }

void Combine(double& score, double other, Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kSum:
    case Aggregate::kCount: score = ZeroIfNan(score + other); return;
    case Aggregate::kMin:
      if (other < score) score = other;
      return;
    case Aggregate::kMax:
      if (other > score) score = other;
      return;
  }
}

// What a source contributes to the score of a member that it has with `score`.
double PartOf(const ZsetSource& source, double score, Aggregate aggregate) {
  return aggregate == Aggregate::kCount ? source.weight : score * source.weight;
}

void SortBySize(std::vector<ZsetSource>& sources) {
  std::stable_sort(sources.begin(), sources.end(),
                   [](const ZsetSource& a, const ZsetSource& b) { return a.size() < b.size(); });
}

// Returns the elements of a union or a difference in order. Consumes the map.
std::vector<ScoredMember> Sorted(ScoresByMember& scores) {
  std::vector<ScoredMember> elements;
  elements.reserve(scores.size());
  while (!scores.empty()) {
    auto node = scores.extract(scores.begin());
    elements.push_back({std::move(node.key()), node.mapped()});
  }
  std::sort(elements.begin(), elements.end());
  return elements;
}

// Reads `first` as a whole and removes the members of the others: for others that are small beside it.
Result<std::vector<ScoredMember>> SubtractByWalking(CommandMemory& memory, std::vector<ZsetSource>& sources) {
  ScoresByMember left;
  TRY(sources[0].ForEach([&](std::string_view member, double score) {
    memory.Use(BytesOfScored(member));
    left.emplace(member, score);
    return true;
  }));
  for (size_t i = 1; i < sources.size() && !left.empty(); ++i) {
    TRY(sources[i].ForEach([&](std::string_view member, double) {
      const auto found = left.find(member);
      if (found != left.end()) left.erase(found);
      return !left.empty();
    }));
  }
  return Sorted(left);
}

// Prepares all sources but the first for this many questions each.
Status ExpectOfOthers(CommandMemory& memory, std::vector<ZsetSource>& sources, uint64_t questions) {
  LoadRoom room(memory);
  for (size_t i = 1; i < sources.size(); ++i) TRY(sources[i].Expect(questions, room));
  return Ok();
}

}  // namespace

Result<ZsetSource> ZsetSource::Find(Keyspace& keys, const Key& key) {
  ZsetSource source;
  KeyEntry entry = TRY(keys.Find(key));
  if (entry.type() == Type::kSet) {
    source.set_.emplace(keys, key);
    TRY(source.set_->Open(std::move(entry)));
  } else if (!entry.exists() || entry.type() == Type::kZset) {
    source.zset_.emplace(keys, key);
    TRY(source.zset_->Open(std::move(entry)));
  } else {
    return Status::Reply(kWrongType);
  }
  if (!source.is_spread()) TRY(keys.txn().command().Spend(source.size() / kPackedPerStep));
  return source;
}

Status ZsetSource::ForEach(ScoredVisitor visit) {
  if (zset_) return zset_->ForEach(visit);
  return set_->ForEach([&](std::string_view member) { return visit(member, 1); });
}

Status ZsetSource::Expect(uint64_t questions, LoadRoom& room) {
  if (is_spread() ? size() > questions : questions <= kFewQuestions) return Ok();
  if (!room.TakeMembers(size())) return Ok();
  loaded_.emplace();
  bool fits = true;
  TRY(ForEach([&](std::string_view member, double score) {
    fits = room.TakeBytes(member);
    if (fits) loaded_->emplace(member, score);
    return fits;
  }));
  if (!fits) loaded_.reset();
  return Ok();
}

Result<std::optional<double>> ZsetSource::Score(std::string_view member) {
  if (loaded_) {
    const auto found = loaded_->find(member);
    return found == loaded_->end() ? std::nullopt : std::optional<double>(found->second);
  }
  if (zset_) return zset_->Score(member);
  return TRY(set_->Contains(member)) ? std::optional<double>(1) : std::nullopt;
}

Result<std::vector<ScoredMember>> UniteZsets(CommandMemory& memory, std::vector<ZsetSource> sources,
                                             Aggregate aggregate) {
  SortBySize(sources);
  ScoresByMember scores;
  for (ZsetSource& source : sources) {
    TRY(source.ForEach([&](std::string_view member, double score) {
      score = ZeroIfNan(PartOf(source, score, aggregate));
      const auto found = scores.find(member);
      if (found == scores.end()) {
        memory.Use(BytesOfScored(member));
        scores.emplace(member, score);
      } else {
        Combine(found->second, score, aggregate);
      }
      return true;
    }));
  }
  return Sorted(scores);
}

Status IntersectZsets(CommandMemory& memory, std::vector<ZsetSource> sources, Aggregate aggregate,
                      ScoredVisitor visit) {
  SortBySize(sources);
  if (sources[0].size() == 0) return Ok();
  TRY(ExpectOfOthers(memory, sources, sources[0].size()));
  return sources[0].ForEach([&](std::string_view member, double score) -> Result<bool> {
    score = ZeroIfNan(PartOf(sources[0], score, aggregate));
    for (size_t i = 1; i < sources.size(); ++i) {
      const std::optional<double> other = TRY(sources[i].Score(member));
      if (!other) return true;
      Combine(score, PartOf(sources[i], *other, aggregate), aggregate);
    }
    return visit(member, score);
  });
}

Result<std::vector<ScoredMember>> SubtractZsets(CommandMemory& memory, std::vector<ZsetSource> sources) {
  std::vector<ScoredMember> elements;
  ZsetSource& first = sources[0];
  if (first.size() == 0) return elements;
  uint64_t others_size = 0;
  for (size_t i = 1; i < sources.size(); ++i) others_size += sources[i].size();
  if (others_size <= first.size() && first.size() <= kMaxLoadedMembers) {
    return SubtractByWalking(memory, sources);
  }

  TRY(ExpectOfOthers(memory, sources, first.size()));
  TRY(first.ForEach([&](std::string_view member, double score) -> Result<bool> {
    for (size_t i = 1; i < sources.size(); ++i) {
      if (TRY(sources[i].Score(member))) return true;
    }
    memory.Use(BytesOfScored(member));
    elements.push_back({std::string(member), score});
    return true;
  }));
  std::sort(elements.begin(), elements.end());
  return elements;
}

}  // namespace cairn
