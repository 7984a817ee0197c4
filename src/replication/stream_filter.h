// SPDX-License-Identifier: BSD-3-Clause
//
// StreamFilter: what a replica that keeps what its primary lets go of carries out of the stream (`replica-ignore-del`,
// `replica-ignore-expire`).
//
// Thread: its owner's.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace cairn {

class StreamFilter {
 public:
  // The words to be carried out for `argv`, which has one at least; empty: none. Valid until the next call, and as long
  // as `argv`. Of times to live those of keys are left out, not those of a hash's fields.
  std::span<const std::string_view> Apply(std::span<const std::string_view> argv, bool ignores_del,
                                          bool ignores_expire);

 private:
  std::span<const std::string_view> WithoutExpiry(std::span<const std::string_view> argv);

  std::vector<std::string_view> words_;
};

// Whether these are the words of a command of this name, in any case.
bool IsCommand(std::span<const std::string_view> argv, std::string_view name);

}  // namespace cairn
