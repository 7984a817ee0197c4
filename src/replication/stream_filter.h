// SPDX-License-Identifier: BSD-3-Clause
//
// StreamFilter: changes the stream's commands for a replica that keeps keys which its primary deletes or expires
// (`replica-ignore-del`, `replica-ignore-expire`).
//
// Thread: the owner's.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace cairn {

class StreamFilter {
 public:
  // Returns the command to run in place of `argv`; empty: none. Valid until the next call, and as long as `argv`. It
  // removes expire times of keys, not of fields of hashes. REQUIRES: `argv` is not empty.
  std::span<const std::string_view> Apply(std::span<const std::string_view> argv, bool ignores_del,
                                          bool ignores_expire);

 private:
  std::span<const std::string_view> WithoutExpiry(std::span<const std::string_view> argv);

  std::vector<std::string_view> words_;
};

// Whether this is a command of this name; ignores case.
bool IsCommand(std::span<const std::string_view> argv, std::string_view name);

}  // namespace cairn
