// SPDX-License-Identifier: BSD-3-Clause
//
// Glob patterns as Redis matches them (KEYS, the MATCH of the SCAN family, COMMAND LIST, CONFIG
// GET).
//
//   *       any bytes, also none
//   ?       any one byte
//   [a-c]   one byte of a class; a first ^ negates; a range may be written backwards; a missing ]
//   is taken
//           to stand at the pattern's end
//   \x      the byte x itself, also within a class
//
// A pattern is matched against the whole text, byte by byte. One oddity is Redis's and kept: text
// of no bytes is matched by the empty pattern only, not by stars.
//
// The matcher goes back to the last star only, so a hostile pattern costs at most the product of
// both lengths, never more: whatever an earlier star could have taken instead, the last one can
// take as well.
//
// Thread: any; pure functions.
#pragma once

#include <string_view>

namespace cairn {

enum class LetterCase : unsigned char { kExact, kIgnore };

// Whether `pattern` matches all of `text`.
bool GlobMatches(std::string_view pattern, std::string_view text, LetterCase letters = LetterCase::kExact);

}  // namespace cairn
