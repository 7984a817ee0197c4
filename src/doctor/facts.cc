// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/facts.h"

#include "base/number.h"

namespace cairn {
namespace {

std::string_view Find(const Facts::Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view Facts::Text(std::string_view field) const { return Find(info, field); }

uint64_t Facts::Number(std::string_view field) const { return ParseUint64(Text(field)).value_or(0); }

std::optional<double> Facts::Real(std::string_view field) const { return ParseDouble(Text(field)); }

std::string_view Facts::Directive(std::string_view name) const { return Find(config, name); }

}  // namespace cairn
