// SPDX-License-Identifier: BSD-3-Clause
#include "types/filter_rdb.h"

#include <string>

#include "encoding/varint.h"

namespace cairn {

Status SaveFilter(FilterBytes& bytes, RdbType type, std::string_view header, RdbWriter& writer) {
  writer.Type(type);
  writer.Text(header);
  uint64_t parts = 0;
  TRY(bytes.ForEachPart([&parts](uint64_t, std::string_view) {
    ++parts;
    return Ok();
  }));
  writer.Length(parts);
  return bytes.ForEachPart([&writer](uint64_t offset, std::string_view part) {
    writer.Length(offset);
    writer.Text(part);
    return Ok();
  });
}

Status ReadFilterHeader(RdbReader& reader, RdbValue& value) {
  RdbItems items;
  TRY(reader.Text(items));
  value.head = items[0].ToString();
  return Ok();
}

Status ReadFilterPart(RdbReader& reader, RdbValue& value) {
  const uint64_t offset = TRY(reader.Length());
  if (offset > value.length) return Status::Corruption("rdb: a part beyond the end of the filter");
  value.items.AddInteger(static_cast<int64_t>(offset));
  TRY(reader.Text(value.items));
  std::string scratch;
  const std::string_view part = value.items.all().back().Text(scratch);
  if (part.size() > value.length - offset) return Status::Corruption("rdb: a part beyond the end of the filter");
  return Ok();
}

Status WriteFilterParts(const RdbValue& value, FilterBytes& bytes) {
  std::string scratch;
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
    const auto offset = static_cast<uint64_t>(value.items[i].integer());
    TRY(bytes.Write(offset, value.items[i + 1].Text(scratch)));
  }
  return Ok();
}

Status AddFilterToDigest(FilterBytes& bytes, std::string_view header, Digest& digest) {
  digest.Mix(header);
  return bytes.ForEachPart([&digest](uint64_t offset, std::string_view part) {
    std::string numbered;
    AppendVarint(numbered, offset);
    digest.Mix(numbered.append(part));
    return Ok();
  });
}

}  // namespace cairn
