// SPDX-License-Identifier: BSD-3-Clause
#include "script/function_payload.h"

#include <algorithm>

#include "rdb/dump_payload.h"
#include "rdb/rdb_format.h"
#include "rdb/rdb_reader.h"
#include "rdb/rdb_writer.h"

namespace cairn {
namespace {

constexpr uint8_t kFunction2 = 245;
constexpr uint64_t kMostCodeBytes = 512ull << 20;
constexpr std::string_view kBadFooter = "ERR DUMP payload version or checksum are wrong";

// Returns the decompressed size of the text at the start of the bytes; 0 if there is none.
uint64_t SizeOfText(std::string_view bytes) {
  constexpr char kCompressed = static_cast<char>(kRdbSpecial | kRdbLzf);
  RdbReader reader(bytes, 0);
  if (bytes.starts_with(kCompressed) && !(reader.Byte().ok() && reader.Length().ok())) return 0;
  const Result<uint64_t> size = reader.Length();
  return size.ok() ? *size : 0;
}

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

Result<std::vector<std::string>> ReadFunctionPayload(std::string_view payload, uint64_t most_bytes) {
  const auto libraries = StripDumpFooter(payload);
  if (!libraries) return Status::Reply(kBadFooter);
  RdbReader reader(libraries->bytes, kMostCodeBytes);
  std::vector<std::string> codes;
  uint64_t bytes = 0;
  while (reader.left() > 0) {
    const Result<uint8_t> type = reader.Byte();
    if (!type.ok() || *type != kFunction2) return Status::Reply("ERR given type is not a function");
    const std::string_view rest = libraries->bytes.substr(libraries->bytes.size() - reader.left());
    const uint64_t size = sizeof(Library) + std::min(SizeOfText(rest), kMostCodeBytes);
    if (size > most_bytes - bytes) return Status::Reply(kLibrariesTooLarge);
    RdbItems items;
    const Result<std::string_view> code = reader.Blob(items);
    if (!code.ok()) return Status::Reply("ERR Failed loading library code");
    codes.emplace_back(*code);
    bytes += size;
  }
  return codes;
}

}  // namespace cairn
