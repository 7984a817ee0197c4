// SPDX-License-Identifier: BSD-3-Clause
//
// JsonSettings: the settings that a script can choose for `cjson`.
#pragma once

namespace cairn {

enum class InvalidNumbers : int { kRefused, kAsTheyAre, kAsNull };

struct JsonSettings {
  int sparse_convert = 0;  // encode a sparse array as an object instead of an error
  int sparse_ratio = 2;    // an array is sparse if its largest index is more than this many times its size; 0: never
  int sparse_safe = 10;    // an array with no larger index is never sparse
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int number_precision = 14;  // digits
  int keep_buffer = 1;        // accepted, without effect
  int encode_invalid_numbers = static_cast<int>(InvalidNumbers::kRefused);
  int decode_invalid_numbers = 1;
};

}  // namespace cairn
