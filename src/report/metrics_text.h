// SPDX-License-Identifier: BSD-3-Clause
//
// MetricsText: writes Prometheus's text format. Samples may be added in any order: Take groups them by family, below
// the family's help and type, and sorts the families by name.
//
// Thread: the owner's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cairn {

class MetricsText {
 public:
  struct Family {
    std::string_view name;  // without cairn_
    std::string_view type;  // counter, gauge or histogram
    std::string_view help;
  };

  // Adds a sample. `labels` come from Label, without braces; histograms use `suffix`.
  template <typename Number>
  void Add(const Family& family, Number value, std::string_view labels = {}, std::string_view suffix = {}) {
    AddText(family, NumberText(value), labels, suffix);
  }

  // name="value", escaped.
  static std::string Label(std::string_view name, std::string_view value);
  static std::string Label(std::string_view name, uint64_t value) { return Label(name, std::to_string(value)); }

  std::string Take() const;

 private:
  static std::string NumberText(double value);
  template <typename Integer>
  static std::string NumberText(Integer value) {
    return std::to_string(value);
  }
  void AddText(const Family& family, std::string_view number, std::string_view labels, std::string_view suffix);

  std::map<std::string, std::string, std::less<>> families_;  // the lines of each, by name
};

}  // namespace cairn
