// SPDX-License-Identifier: BSD-3-Clause
#include "server/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"

namespace cairn {
namespace {

constexpr int64_t kTerminalPauseUs = 100000;
constexpr int64_t kLinePauseUs = 5000000;
constexpr int kBarWidth = 30;

}  // namespace

ProgressBar::ProgressBar(std::string title, uint64_t total, std::string unit)
    : title_(std::move(title)), total_(total), unit_(std::move(unit)), is_terminal_(isatty(STDERR_FILENO) != 0),
      started_us_(MonotonicUs()) {}

std::string ProgressBar::Amount(double amount) const {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T"};
  int prefix = 0;
  for (; amount >= 1000 && prefix < 4; amount /= 1000) ++prefix;
  return fmt::format("{:.{}f} {}{}", amount, prefix == 0 ? 0 : 1, kPrefixes[prefix], unit_);
}

void ProgressBar::Draw(uint64_t done, const std::string& note, const char* end) {
  const double seconds = static_cast<double>(std::max<int64_t>(MonotonicUs() - started_us_, 1)) / 1e6;
  std::string line = title_ + " ";
  if (total_ > 0) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    const int filled = static_cast<int>(part * kBarWidth);
    line += fmt::format("[{:.<{}}] {:3.0f}% ", std::string(static_cast<size_t>(filled), '#'), kBarWidth, part * 100);
  }
  line += fmt::format("{}, {}/s", Amount(static_cast<double>(done)), Amount(static_cast<double>(done) / seconds));
  if (!note.empty()) line += ", " + note;
  std::fprintf(stderr, "%s%s%s%s", is_terminal_ ? "\r" : "", line.c_str(), is_terminal_ ? "\x1b[K" : "", end);
  std::fflush(stderr);
}

void ProgressBar::Show(uint64_t done, const std::string& note) {
  const int64_t now_us = MonotonicUs();
  if (now_us - drawn_us_ < (is_terminal_ ? kTerminalPauseUs : kLinePauseUs)) return;
  drawn_us_ = now_us;
  Draw(done, note, is_terminal_ ? "" : "\n");
}

void ProgressBar::Finish(uint64_t done, const std::string& note) { Draw(done, note, "\n"); }

}  // namespace cairn
