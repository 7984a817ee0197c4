// SPDX-License-Identifier: BSD-3-Clause
#include "script/function_payload.h"

#include <cstdint>

#include "rdb/dump_payload.h"
#include "rdb/rdb_reader.h"
#include "rdb/rdb_writer.h"

namespace cairn {
namespace {

constexpr uint8_t kFunction2 = 245;
constexpr uint64_t kMostCodeBytes = 512ull << 20;
constexpr std::string_view kBadFooter = "ERR DUMP payload version or checksum are wrong";

}  // namespace

std::string WriteFunctionPayload(const Libraries& libraries) {
  std::string payload;
  RdbWriter writer(payload);
  for (const auto& [name, library] : libraries.all()) {
    payload.push_back(static_cast<char>(kFunction2));
    writer.Text(library->code);
  }
  AppendDumpFooter(payload);
  return payload;
}

Result<std::vector<std::string>> ReadFunctionPayload(std::string_view payload) {
  const auto libraries = StripDumpFooter(payload);
  if (!libraries) return Status::Reply(kBadFooter);
  RdbReader reader(libraries->bytes, kMostCodeBytes);
  std::vector<std::string> codes;
  while (reader.left() > 0) {
    const Result<uint8_t> type = reader.Byte();
    if (!type.ok() || *type != kFunction2) return Status::Reply("ERR given type is not a function");
    RdbItems items;
    const Result<std::string_view> code = reader.Blob(items);
    if (!code.ok()) return Status::Reply("ERR Failed loading library code");
    codes.emplace_back(*code);
  }
  return codes;
}

}  // namespace cairn
