// SPDX-License-Identifier: BSD-3-Clause
#include "replication/stream_filter.h"

#include "command/args.h"

namespace cairn {
namespace {

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view one : words) {
    if (EqualsIgnoreCase(word, one)) return true;
  }
  return false;
}

}  // namespace

bool IsCommand(std::span<const std::string_view> argv, std::string_view name) {
  return EqualsIgnoreCase(argv[0], name);
}

std::span<const std::string_view> StreamFilter::Apply(std::span<const std::string_view> argv, bool ignores_del,
                                                      bool ignores_expire) {
  if (ignores_del && IsOneOf(argv[0], {"del", "unlink"})) return {};
  return ignores_expire ? WithoutExpiry(argv) : argv;
}

std::span<const std::string_view> StreamFilter::WithoutExpiry(std::span<const std::string_view> argv) {
  constexpr size_t kSetWithTime = 5;  // SET key value PXAT time: the command is cut to this length
  if (IsOneOf(argv[0], {"pexpireat", "expireat", "pexpire", "expire"})) return {};
  if (IsCommand(argv, "set") && argv.size() >= kSetWithTime &&
      IsOneOf(argv[argv.size() - 2], {"pxat", "exat", "px", "ex"})) {
    return argv.first(argv.size() - 2);
  }
  // Redis before 6.2 replicates these unchanged: key, time, value.
  if (argv.size() == 4 && IsOneOf(argv[0], {"setex", "psetex"})) {
    words_ = {"SET", argv[1], argv[3]};
    return words_;
  }
  if (argv.size() >= 4 && IsOneOf(argv[0], {"restore", "restore-asking"})) {
    words_ = {argv[0], argv[1], "0", argv[3]};
    for (const std::string_view option : argv.subspan(4)) {
      if (!EqualsIgnoreCase(option, "absttl")) words_.push_back(option);
    }
    return words_;
  }
  return argv;
}

}  // namespace cairn
