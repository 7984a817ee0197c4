// SPDX-License-Identifier: BSD-3-Clause
//
// The decoders of the formats in tests/golden/, each with the encoder of the same format.
//
// Thread: any; pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// The meaning of some bytes, and the bytes that encoding it gives.
struct Meaning {
  std::string text;
  std::string encoded;
};

using GoldenDecoder = std::function<Result<Meaning>(std::string_view)>;

// By the name of the golden file.
const std::map<std::string, GoldenDecoder>& GoldenDecoders();

}  // namespace cairn
