// SPDX-License-Identifier: BSD-3-Clause
#include "check/findings.h"

#include <cinttypes>
#include <cstdio>

namespace cairn {

void Findings::Damage(const std::string& kind, const std::string& sentence) {
  const uint64_t count = ++counts_[kind];
  ++total_;
  if (count <= most_of_a_kind_) Note(sentence);
  if (count == most_of_a_kind_) Note("Further " + kind + " are counted only.");
}

void Findings::Note(const std::string& sentence) { std::printf("%s\n", sentence.c_str()); }

uint64_t Findings::Summarize() const {
  for (const auto& [kind, count] : counts_) std::printf("Damage: %" PRIu64 " %s.\n", count, kind.c_str());
  return total_;
}

}  // namespace cairn
