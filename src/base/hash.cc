// SPDX-License-Identifier: BSD-3-Clause
#include "base/hash.h"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cairn {
namespace {

// CRC-16/XMODEM: polynomial 0x1021, eight bytes at a time with eight tables ("slicing by 8").
constexpr std::array<std::array<uint16_t, 256>, 8> MakeCrcTables() {
  std::array<std::array<uint16_t, 256>, 8> tables{};
  for (int i = 0; i < 256; ++i) {
    uint16_t crc = static_cast<uint16_t>(i << 8);
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<uint16_t>(crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    tables[0][i] = crc;
  }
  for (int i = 0; i < 256; ++i) {
    for (int t = 1; t < 8; ++t) {
      const uint16_t previous = tables[t - 1][i];
      tables[t][i] = static_cast<uint16_t>((previous << 8) ^ tables[0][previous >> 8]);
    }
  }
  return tables;
}
constexpr auto kCrc = MakeCrcTables();

uint16_t Crc16(std::string_view bytes) {
  uint16_t crc = 0;
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    crc = static_cast<uint16_t>(kCrc[7][p[0] ^ (crc >> 8)] ^ kCrc[6][p[1] ^ (crc & 0xff)] ^ kCrc[5][p[2]] ^
                                kCrc[4][p[3]] ^ kCrc[3][p[4]] ^ kCrc[2][p[5]] ^ kCrc[1][p[6]] ^ kCrc[0][p[7]]);
  }
  for (; left > 0; --left, ++p) crc = static_cast<uint16_t>((crc << 8) ^ kCrc[0][(crc >> 8) ^ *p]);
  return crc;
}

}  // namespace

uint64_t Hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Hash64Stream::State {
  XXH3_state_t xxh;
};

Hash64Stream::Hash64Stream() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh); }
Hash64Stream::~Hash64Stream() = default;

void Hash64Stream::Add(std::string_view bytes) { XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size()); }

uint64_t Hash64Stream::Value() const { return XXH3_64bits_digest(&state_->xxh); }

uint16_t KeySlot(std::string_view key) {
  const size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return Crc16(key) & 0x3fff;
}

}  // namespace cairn
