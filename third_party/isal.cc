// SPDX-License-Identifier: BSD-3-Clause
#include "isal.h"

#include <isa-l/crc.h>
#include <isa-l/crc64.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace isal {
namespace {

// ISA-L 2.30's code for AVX-512 does not clear the upper halves of the vector registers, and every later SSE
// instruction, also of other code, waits for them: a SET of 100 bytes cost 1.4 us more (docs/decisions/checksums.md).
void ReleaseUpperHalves() {
#if defined(__x86_64__)
  static const bool has_them = __builtin_cpu_supports("avx");
  if (has_them) asm volatile("vzeroupper");
#endif
}

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  constexpr size_t kMost = std::numeric_limits<int>::max();
  uint32_t inverted = ~crc;  // ISA-L does not invert before and after
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kMost);
    auto* start = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
    inverted = crc32_iscsi(start, static_cast<int>(size), inverted);
    bytes.remove_prefix(size);
  }
  ReleaseUpperHalves();
  return ~inverted;
}

uint64_t Crc64Jones(std::string_view bytes, uint64_t crc) {
  const auto* start = reinterpret_cast<const unsigned char*>(bytes.data());
  const uint64_t inverted = crc64_jones_refl(~crc, start, bytes.size());  // ISA-L inverts before and after
  ReleaseUpperHalves();
  return ~inverted;
}

}  // namespace isal
