// SPDX-License-Identifier: BSD-3-Clause
//
// Glob patterns as in Redis (KEYS, the MATCH of the SCAN family, COMMAND LIST, CONFIG GET).
//
//   *       any bytes, also none
//   ?       any one byte
//   [a-c]   one byte of a class; a first ^ negates; a range may be written backwards; without ] the class
//           ends at the pattern's end
//   \x      the byte x itself, also within a class
//
// A pattern must match the whole text, byte by byte. As in Redis, an empty text is matched by the empty pattern only,
// not by stars.
//
// The matcher backtracks to the last star it met only, because that star can match anything that an earlier one could,
// and compares what follows the pattern's last star only with the end of the text. So a hostile pattern costs at most
// the product of both lengths.
//
// Thread: any; pure functions.
#pragma once

#include <string_view>

namespace cairn {

enum class LetterCase : unsigned char { kExact, kIgnore };

// Whether `pattern` matches all of `text`.
bool GlobMatches(std::string_view pattern, std::string_view text, LetterCase letters = LetterCase::kExact);

}  // namespace cairn
