// SPDX-License-Identifier: BSD-3-Clause
//
// Findings: counts and prints what cairn-check finds, one sentence a line. Of each kind it prints the first ones only.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cairn {

class Findings {
 public:
  // The most sentences that are printed of each kind.
  explicit Findings(uint64_t most_of_a_kind) : most_of_a_kind_(most_of_a_kind) {}

  // Prints the sentence. `kind` names the damage in the summary: "damaged tables".
  void Damage(const std::string& kind, const std::string& sentence);
  // Prints a sentence that is not about damage.
  static void Note(const std::string& sentence);
  uint64_t total() const { return total_; }
  // Prints the number of each kind of damage; returns total().
  uint64_t Summarize() const;

 private:
  const uint64_t most_of_a_kind_;
  std::map<std::string, uint64_t> counts_;
  uint64_t total_ = 0;
};

}  // namespace cairn
