// SPDX-License-Identifier: BSD-3-Clause
//
// ProgressBar: shows the progress of a long operation on the standard error stream: a moving bar on a terminal,
// otherwise a line every few seconds.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <string>

namespace cairn {

class ProgressBar {
 public:
  // `total` is the final value of `done`; 0: not known. The unit "B" shows bytes.
  ProgressBar(std::string title, uint64_t total, std::string unit);
  // Redraws, unless it has just done so. `note` is shown after the numbers.
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
