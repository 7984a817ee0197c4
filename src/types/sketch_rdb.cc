// SPDX-License-Identifier: BSD-3-Clause
#include "types/sketch_rdb.h"

#include <algorithm>
#include <string>

#include "types/fragments.h"

namespace cairn {

Status SaveSketch(RdbType type, std::string_view fields, const SketchCells& cells, RdbWriter& writer) {
  uint64_t pages = 0;
  TRY(cells.ForEachPage([&pages](uint64_t, std::string_view) {
    ++pages;
    return Ok();
  }));
  writer.Type(type);
  writer.Text(fields);
  writer.Length(pages);
  return cells.ForEachPage([&writer](uint64_t index, std::string_view bytes) {
    writer.Length(index);
    writer.Text(bytes);
    return Ok();
  });
}

Status ReadSketchPage(RdbReader& reader, RdbValue& value) {
  constexpr uint64_t kPage = SketchCells::kPageBytes;
  const uint64_t index = TRY(reader.Length());
  const uint64_t pages = (value.cells_bytes + kPage - 1) / kPage;
  if (index >= pages) return Status::Corruption("rdb: a page behind the end of the sketch");
  value.items.AddInteger(static_cast<int64_t>(index));
  TRY(reader.Text(value.items));
  std::string scratch;
  const size_t size = value.items[value.items.size() - 1].Text(scratch).size();
  if (size > std::min(kPage, value.cells_bytes - index * kPage)) {
    return Status::Corruption("rdb: a page of a sketch is too long");
  }
  return Ok();
}

Status LoadSketchPages(const RdbValue& value, size_t from, SketchCells& cells) {
  std::string scratch;
  for (size_t i = from; i + 1 < value.items.size(); i += 2) {
    const auto index = static_cast<uint64_t>(value.items[i].integer());
    TRY(cells.Write(index * SketchCells::kPageBytes, value.items[i + 1].Text(scratch)));
  }
  return Ok();
}

Status MixSketch(std::string_view fields, const SketchCells& cells, Digest& digest) {
  digest.Mix(fields);
  return cells.ForEachPage([&digest](uint64_t index, std::string_view bytes) {
    digest.MixNumber(static_cast<uint32_t>(index));
    digest.Mix(bytes);
    return Ok();
  });
}

Result<uint64_t> SketchRowBytes(Transaction&, const Key&, const KeyEntry& entry, uint64_t) {
  const uint64_t size = TRY(DecodeSpreadPayload(entry.payload())).count;
  return size + (size / Fragments::kFragmentBytes + 1) * kRowOverheadBytes;
}

}  // namespace cairn
