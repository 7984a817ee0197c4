// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/dump_payload.h"

#include "isal.h"
#include "rdb/byte_reader.h"
#include "rdb/little_endian.h"
#include "rdb/rdb_format.h"

namespace cairn {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kCrcBytes = 8;
// Since this version, Redis omits the CRC in the RESTORE commands that it sends to replicas.
constexpr uint64_t kFirstVersionWithoutCrc = 13;

// The version that introduced the type.
uint16_t VersionOf(char type) {
  switch (static_cast<RdbType>(static_cast<unsigned char>(type))) {
    case RdbType::kHashWithTimes: return kRdbVersionWithTimes;
    case RdbType::kStreamListpacks4: return kRdbVersionWithProducers;
    case RdbType::kStreamListpacks5: return kRdbVersionWithNacked;
    default: return kRdbVersionWritten;
  }
}

}  // namespace

void AppendDumpFooter(std::string& payload) {
  AppendLittle(payload, payload.empty() ? kRdbVersionWritten : VersionOf(payload[0]), kVersionBytes);
  AppendLittle(payload, isal::Crc64Jones(payload), kCrcBytes);
}

std::optional<DumpValue> StripDumpFooter(std::string_view payload, bool skips_checksum) {
  if (payload.size() < kVersionBytes + kCrcBytes) return std::nullopt;
  const size_t value_bytes = payload.size() - kVersionBytes - kCrcBytes;
  ByteReader footer(payload.substr(value_bytes));
  const uint64_t version = footer.Little(kVersionBytes);
  const uint64_t crc = footer.Little(kCrcBytes);
  if (!IsReadRdbVersion(version)) return std::nullopt;
  const RdbDialect dialect = RdbDialectOf(version);
  const bool is_omitted = crc == 0 && version >= kFirstVersionWithoutCrc && dialect == RdbDialect::kRedis;
  const bool is_checked = !skips_checksum && !is_omitted;
  if (is_checked && crc != isal::Crc64Jones(payload.substr(0, payload.size() - kCrcBytes))) return std::nullopt;
  return DumpValue{payload.substr(0, value_bytes), dialect};
}

}  // namespace cairn
