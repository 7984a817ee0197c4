// SPDX-License-Identifier: BSD-3-Clause
//
// Words: a line of text cut into words as Redis cuts lines of its configuration and inline
// commands.
//
//   a b  c         three words
//   "a b\x41\n"    one word; within double quotes \n \r \t \b \a and \xHH stand for a byte; a
//                  backslash before anything else stands for that
//   'a "b" \''     one word; within single quotes only \' is special
//
// A closing quote must be followed by a blank or the end. A zero byte ends the line. Thread: any;
// pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// None when a quote is not closed, or closed in the middle of a word.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// The word in double quotes, with what is not printable escaped: SplitWords reads it back.
std::string QuoteWord(std::string_view word);

// The word as it is where SplitWords would read that back, else quoted.
std::string QuoteWordIfNeeded(std::string_view word);

// The same for the log or a terminal, and of a long word its beginning: keys may have any bytes for names.
std::string ShowWord(std::string_view word);

// True when both are the same but for the case of ASCII letters.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

}  // namespace cairn
