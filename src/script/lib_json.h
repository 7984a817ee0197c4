// SPDX-License-Identifier: BSD-3-Clause
//
// JsonSettings: what a script may choose of how `cjson` encodes and decodes.
#pragma once

namespace cairn {

enum class InvalidNumbers : int { kRefused, kAsTheyAre, kAsNull };

struct JsonSettings {
  int sparse_convert = 0;  // sparse arrays are objects; else an error
  int sparse_ratio = 2;    // how many times its elements the largest index of a sparse array is; 0: none is sparse
  int sparse_safe = 10;    // up to this index none is
  int encode_max_depth = 1000;
  int decode_max_depth = 1000;
  int number_precision = 14;  // digits
  int keep_buffer = 1;        // means nothing here
  int encode_invalid_numbers = static_cast<int>(InvalidNumbers::kRefused);
  int decode_invalid_numbers = 1;
};

}  // namespace cairn
