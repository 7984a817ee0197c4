// SPDX-License-Identifier: BSD-3-Clause
//
// Finds the keys of commands that have them behind options. Options are skipped together with their arguments, as the
// command reads them, so an argument that looks like an option is not taken for one.
//
// Thread: any; pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/words.h"

namespace cairn {

struct OptionWord {
  std::string_view word;
  size_t arguments = 0;  // that follow it
};

// Calls `visit` with the word of each option from argument `from` on and with its index, until it returns false. An
// option without all of its arguments and an unknown word are errors of the command; they count as one argument.
template <typename Visit>
void WalkOptions(std::span<const std::string_view> argv, size_t from, std::span<const OptionWord> options,
                 Visit visit) {
  for (size_t i = from; i < argv.size(); ++i) {
    const auto option =
        std::ranges::find_if(options, [&](const OptionWord& known) { return EqualsIgnoreCase(argv[i], known.word); });
    if (option == options.end() || argv.size() - i - 1 < option->arguments) continue;
    if (!visit(option->word, i)) return;
    i += option->arguments;
  }
}

}  // namespace cairn
