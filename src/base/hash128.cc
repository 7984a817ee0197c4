// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash128.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn {

Hash128 Hash128Of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace cairn
