// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/record.h"

#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint8_t kHasExpiry = 1;
constexpr uint8_t kGrown = 2;
constexpr uint8_t kFieldsExpire = 4;

Status ReadTime(std::string_view& bytes, int64_t& when_ms, std::string_view name) {
  uint64_t when;
  if (!ReadU64(bytes, when)) return Status::Corruption("record: " + std::string(name) + " is cut short");
  if (when >> 63) return Status::Corruption("record: " + std::string(name) + " is out of range");
  when_ms = static_cast<int64_t>(when);
  return Ok();
}

}  // namespace

void AppendRecordHeader(std::string& out, const RecordHeader& header) {
  const bool has_expiry = header.expire_ms != kNoExpiry;
  out.push_back(static_cast<char>(static_cast<uint8_t>(header.type) | static_cast<uint8_t>(header.encoding) << 4));
  const bool fields_expire = header.fields_expire_ms != kNoExpiry;
  out.push_back(static_cast<char>((has_expiry ? kHasExpiry : 0) | (header.grown ? kGrown : 0) |
                                  (fields_expire ? kFieldsExpire : 0)));
  if (has_expiry) AppendU64(out, static_cast<uint64_t>(header.expire_ms));
  if (fields_expire) AppendU64(out, static_cast<uint64_t>(header.fields_expire_ms));
}

Result<Record> DecodeRecord(std::string_view bytes) {
  if (bytes.size() < 2) return Status::Corruption("record: shorter than its header");
  const auto kind = static_cast<uint8_t>(bytes[0]);
  const auto flags = static_cast<uint8_t>(bytes[1]);
  const uint8_t type = kind & 0x0f;
  const uint8_t encoding = kind >> 4;
  if (type < 1 || type > kTypeCount) return Status::Corruption("record: unknown type");
  if (encoding > 4) return Status::Corruption("record: unknown encoding");
  if (flags & ~(kHasExpiry | kGrown | kFieldsExpire)) return Status::Corruption("record: unknown flag");
  Record record;
  record.header.type = static_cast<Type>(type);
  record.header.encoding = static_cast<Encoding>(encoding);
  record.header.grown = flags & kGrown;
  record.payload = bytes.substr(2);
  if (flags & kHasExpiry) TRY(ReadTime(record.payload, record.header.expire_ms, "expire_ms"));
  if (flags & kFieldsExpire) {
    if (record.header.type != Type::kHash) return Status::Corruption("record: fields_expire_ms of another type");
    TRY(ReadTime(record.payload, record.header.fields_expire_ms, "fields_expire_ms"));
  }
  return record;
}

void AppendSpreadPayload(std::string& out, CollectionId id, uint64_t count) {
  AppendVarint(out, id);
  AppendVarint(out, count);
}

Result<SpreadPayload> DecodeSpreadPayload(std::string_view payload) {
  SpreadPayload spread;
  if (!ReadVarint(payload, spread.id)) return Status::Corruption("spread record: collection id is cut short");
  if (!ReadVarint(payload, spread.count)) return Status::Corruption("spread record: count is cut short");
  spread.rest = payload;
  return spread;
}

}  // namespace cairn
