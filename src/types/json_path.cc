// SPDX-License-Identifier: BSD-3-Clause
#include "types/json_path.h"

#include <algorithm>

#include "types/json_filter.h"

namespace cairn {
namespace {

constexpr size_t kNamesPerVisit = 16;
constexpr size_t kIndexesPerVisit = 16;

class Matcher {
 public:
  Matcher(const JsonPath& path, const JsonValue& root, JsonWork& work) : path_(path), root_(root), work_(work) {}

  Result<std::vector<JsonMatch>> Run() {
    TRY(Visit(0, root_));
    return std::move(matches_);
  }

 private:
  // Matches the steps from `at` on at this value.
  Status Visit(size_t at, const JsonValue& value) {
    TRY(work_.Visit(1));
    if (at == path_.steps().size()) {
      TRY(work_.AddMatch(location_));
      matches_.push_back({&value, location_});
      return Ok();
    }
    const JsonStep& step = path_.steps()[at];
    switch (step.kind) {
      case JsonStep::Kind::kNames: return VisitNames(step, at, value);
      case JsonStep::Kind::kIndexes: return VisitIndexes(step, at, value);
      case JsonStep::Kind::kRange: return VisitRange(step, at, value);
      case JsonStep::Kind::kAll:
        return ForEachChild(value, [&](size_t i, const JsonValue& child) { return VisitChild(at + 1, i, child); });
      case JsonStep::Kind::kDescend:
        TRY(Visit(at + 1, value));
        return ForEachChild(value, [&](size_t i, const JsonValue& child) { return VisitChild(at, i, child); });
      case JsonStep::Kind::kFilter:
        return ForEachChild(value, [&](size_t i, const JsonValue& child) -> Status {
          if (!TRY(FilterHolds(*step.filter, root_, child, work_))) return Ok();
          return VisitChild(at + 1, i, child);
        });
    }
    return Ok();
  }

  Status VisitChild(size_t at, size_t position, const JsonValue& child) {
    location_.push_back(position);
    Status status = Visit(at, child);
    location_.pop_back();
    return status;
  }

  template <typename Each>
  static Status ForEachChild(const JsonValue& value, const Each& each) {
    if (value.Is(JsonKind::kArray)) {
      for (size_t i = 0; i < value.array().size(); ++i) TRY(each(i, value.array()[i]));
    } else if (value.Is(JsonKind::kObject)) {
      for (size_t i = 0; i < value.object().size(); ++i) TRY(each(i, value.object()[i].value));
    }
    return Ok();
  }

  Status VisitNames(const JsonStep& step, size_t at, const JsonValue& value) {
    if (!value.Is(JsonKind::kObject)) return Ok();
    const JsonValue::Object& members = value.object();
    for (const std::string& name : step.names) {
      TRY(work_.Visit(1 + members.size() / kNamesPerVisit));
      for (size_t i = 0; i < members.size(); ++i) {
        if (members[i].name == name) TRY(VisitChild(at + 1, i, members[i].value));
      }
    }
    return Ok();
  }

  Status VisitIndexes(const JsonStep& step, size_t at, const JsonValue& value) {
    if (!value.Is(JsonKind::kArray)) return Ok();
    TRY(work_.Visit(step.indexes.size() / kIndexesPerVisit));
    const auto size = static_cast<int64_t>(value.array().size());
    for (const int64_t index : step.indexes) {
      const int64_t i = index < 0 ? index + size : index;
      if (i >= 0 && i < size) TRY(VisitChild(at + 1, static_cast<size_t>(i), value.array()[static_cast<size_t>(i)]));
    }
    return Ok();
  }

  Status VisitRange(const JsonStep& step, size_t at, const JsonValue& value) {
    if (!value.Is(JsonKind::kArray)) return Ok();
    const auto size = static_cast<int64_t>(value.array().size());
    const auto clamp = [size](int64_t i) {
      return static_cast<uint64_t>(std::clamp<int64_t>(i < 0 ? i + size : i, 0, size));
    };
    const uint64_t end = clamp(step.indexes[1]);
    for (uint64_t i = clamp(step.indexes[0]); i < end; i += std::min(step.stride, end)) {
      TRY(VisitChild(at + 1, i, value.array()[i]));
    }
    return Ok();
  }

  const JsonPath& path_;
  const JsonValue& root_;
  JsonLocation location_;
  std::vector<JsonMatch> matches_;
  JsonWork& work_;
};

}  // namespace

bool JsonPath::IsStatic() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const JsonStep& step) { return step.IsSingle(); });
}

JsonPath JsonPath::Parent() const {
  JsonPath parent = *this;
  parent.steps_.pop_back();
  return parent;
}

Result<std::vector<JsonMatch>> JsonPath::Match(const JsonValue& root, JsonWork& work) const {
  return Matcher(*this, root, work).Run();
}

JsonValue& ValueAt(JsonValue& root, const JsonLocation& location) {
  JsonValue* value = &root;
  for (const size_t i : location) value = value->Is(JsonKind::kArray) ? &value->array()[i] : &value->object()[i].value;
  return *value;
}

}  // namespace cairn
