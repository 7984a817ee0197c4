// SPDX-License-Identifier: BSD-3-Clause
//
// CheckRecoded: what a decoder accepts is encoded again to bytes that decode to the same value.
//
// Thread: any; a pure function.
#pragma once

#include <string>
#include <string_view>

#include "base/assert.h"

namespace cairn {

// `decode` takes bytes and returns a Result, `encode` takes its value and returns bytes, `parts` takes the value and
// returns what of it can be compared. Returns the encoded bytes; empty: the decoder refused `bytes`.
template <typename Decode, typename Encode, typename Parts>
std::string CheckRecoded(std::string_view bytes, Decode decode, Encode encode, Parts parts) {
  const auto value = decode(bytes);
  if (!value.ok()) return {};
  const std::string encoded = encode(*value);
  const auto again = decode(std::string_view(encoded));
  ASSERT(again.ok(), std::string(again.status().text()).c_str());
  ASSERT(parts(*again) == parts(*value), "encoded bytes have the same meaning");
  ASSERT(encode(*again) == encoded, "a value has one encoding");
  return encoded;
}

}  // namespace cairn
