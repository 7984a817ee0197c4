// SPDX-License-Identifier: BSD-3-Clause
//
// Eight bytes a step, each through a table of its own: kTables[n][b] is the checksum of the byte b
// with n zero bytes behind it, and checksums of parts are added by xor.
#include "replication/crc64.h"

#include <array>
#include <cstring>

namespace cairn {
namespace {

constexpr uint64_t kPolynomial = 0x95ac9329ac4bc9b5;  // reflected

using Table = std::array<uint64_t, 256>;

constexpr std::array<Table, 8> MakeTables() {
  std::array<Table, 8> tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ kPolynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t zeros = 1; zeros < 8; ++zeros) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint64_t crc = tables[zeros - 1][byte];
      tables[zeros][byte] = tables[0][crc & 0xff] ^ crc >> 8;
    }
  }
  return tables;
}

constexpr std::array<Table, 8> kTables = MakeTables();

uint64_t StepByWord(uint64_t crc, const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  crc ^= word;
  uint64_t next = 0;
  for (int i = 0; i < 8; ++i) next ^= kTables[7 - i][crc >> (8 * i) & 0xff];
  return next;
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as they lie");

}  // namespace

uint64_t Crc64(std::string_view bytes, uint64_t crc) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) crc = StepByWord(crc, bytes.data());
  for (const char byte : bytes)
    crc = kTables[0][(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ crc >> 8;
  return crc;
}

}  // namespace cairn
