// SPDX-License-Identifier: BSD-3-Clause
#include "command/sort_pattern.h"

#include <utility>

#include "types/hash.h"
#include "types/string.h"

namespace cairn {
namespace {

constexpr std::string_view kArrow = "->";

}  // namespace

SortPattern::SortPattern(std::string_view text) {
  if (text == "#") {
    kind_ = Kind::kElement;
    return;
  }
  const size_t star = text.find('*');
  if (star == std::string_view::npos) return;
  kind_ = Kind::kKey;
  before_ = text.substr(0, star);
  behind_ = text.substr(star + 1);
  // An arrow with nothing behind it is part of the name.
  const size_t arrow = behind_.find(kArrow);
  if (arrow == std::string_view::npos || arrow + kArrow.size() == behind_.size()) return;
  field_ = behind_.substr(arrow + kArrow.size());
  behind_ = behind_.substr(0, arrow);
}

Result<std::optional<std::string>> SortPattern::Find(Keyspace& keys, std::string_view element, SizeCheck check) const {
  if (kind_ == Kind::kNothing) return std::optional<std::string>();
  if (kind_ == Kind::kElement) {
    TRY(check(element.size()));
    return std::optional<std::string>(element);
  }
  std::string name;
  name.reserve(before_.size() + element.size() + behind_.size());
  name.append(before_).append(element).append(behind_);
  const Key key = keys.Name(name);
  KeyEntry entry = TRY(keys.Find(key));
  if (entry.type() != (field_.empty() ? Type::kString : Type::kHash)) {
    return std::optional<std::string>();
  }
  if (field_.empty()) {
    TRY(check(TRY(TextSize(entry))));
    return std::optional<std::string>(TRY(ReadText(keys, key, entry)).view());
  }
  Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  FieldValue value = TRY(hash.Get(field_));
  if (!value) return std::optional<std::string>();
  TRY(check(value.text().size()));
  return std::optional<std::string>(value.text());
}

}  // namespace cairn
