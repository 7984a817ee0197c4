// SPDX-License-Identifier: BSD-3-Clause
//
// Words: splits a line of text into words as Redis does for its configuration and inline commands.
//
//   a b  c         three words
//   "a b\x41\n"    one word; within double quotes \n \r \t \b \a and \xHH stand for a byte; a
//                  backslash before any other character stands for that character
//   'a "b" \''     one word; within single quotes only \' is special
//
// A closing quote must be followed by a blank or the end. A zero byte ends the line. Thread: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// None if a quote is not closed, or if it is closed in the middle of a word.
std::optional<std::vector<std::string>> SplitWords(std::string_view line);

// The word in double quotes, with unprintable bytes escaped, so that SplitWords restores it.
std::string QuoteWord(std::string_view word);

// The word itself if SplitWords would restore it, else quoted.
std::string QuoteWordIfNeeded(std::string_view word);

// The same for the log or a terminal; long words are cut. Keys may contain any bytes.
std::string ShowWord(std::string_view word);

// Whether both are equal, ignoring the case of ASCII letters.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

}  // namespace cairn
