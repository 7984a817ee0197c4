// SPDX-License-Identifier: BSD-3-Clause
//
// MetricsText: writes Prometheus's text format: families, each with its help text, its type and its samples.
//
// Thread: the owner's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

class MetricsText {
 public:
  // Begins a family; `type` is counter, gauge or histogram.
  void Family(std::string_view name, std::string_view type, std::string_view help);

  // Adds a sample to the last family. `labels` come from Label, without braces; histograms use `suffix`.
  void Sample(uint64_t value, std::string_view labels = {}, std::string_view suffix = {});
  void Sample(double value, std::string_view labels = {}, std::string_view suffix = {});

  // Writes a family with one sample.
  template <typename Number>
  void Single(std::string_view name, std::string_view type, std::string_view help, Number value) {
    Family(name, type, help);
    Sample(value);
  }

  // name="value", escaped.
  static std::string Label(std::string_view name, std::string_view value);

  std::string Take() { return std::move(text_); }

 private:
  void Begin(std::string_view labels, std::string_view suffix);

  std::string text_;
  std::string family_;
};

}  // namespace cairn
