// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressBar: how far a long piece of work is, on the standard error stream: a bar that moves on a
// terminal, a line every few seconds elsewhere.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <string>

namespace cairn {

class ProgressBar {
 public:
  // `total` is what `done` will come to; 0: not known. `unit` "B" shows bytes.
  ProgressBar(std::string title, uint64_t total, std::string unit);
  // Draws, unless it has done so just now. `note` stands behind the numbers.
  void Show(uint64_t done, const std::string& note);
  void Finish(uint64_t done, const std::string& note);

 private:
  void Draw(uint64_t done, const std::string& note, const char* end);
  std::string Amount(double amount) const;

  const std::string title_;
  const uint64_t total_;
  const std::string unit_;
  const bool is_terminal_;
  const int64_t started_us_;
  int64_t drawn_us_ = 0;
};

}  // namespace cairn
