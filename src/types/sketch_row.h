// SPDX-License-Identifier: BSD-3-Clause
//
// What the type rows of count-min and Top-K sketches share: their functions for digests and RDB, which differ only in
// the class of the sketch and in how its fields are decoded.
//
//   const ValueType kCountMinType =
//       SketchRow<CountMin, CountMin::TakeShape, RdbType::kCairnCountMin>::Row(Type::kCountMin, "CMSk-TYPE");
//
// Thread: that of the transaction.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "types/sketch_rdb.h"
#include "types/value_types.h"

namespace cairn {

// TakeFields removes the fields of a sketch from the front of some bytes and decodes them.
template <typename Sketch, auto TakeFields, RdbType kRdbType>
struct SketchRow {
  static std::string_view EncodingName(const KeyEntry&) { return "raw"; }

  static Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
    Sketch sketch(keys, key);
    TRY(sketch.Open(std::move(entry)));
    return MixSketch(sketch.Fields(), sketch.cells(), digest);
  }

  static Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
    Sketch sketch(keys, key);
    TRY(sketch.Open(std::move(entry)));
    return SaveSketch(kRdbType, sketch.Fields(), sketch.cells(), writer);
  }

  static Status BeginRead(RdbReader& reader, RdbValue& value) {
    TRY(ReadRdbText(reader, value));
    value.cells_bytes = TRY(FieldsOf(value)).bytes();
    return Ok();
  }

  static Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
    Sketch sketch(keys, key);
    TRY(sketch.Open());
    const bool is_first = !sketch.exists();
    if (is_first) sketch.Create(TRY(FieldsOf(value)));
    TRY(LoadSketchPages(value, is_first ? 1 : 0, sketch.cells()));
    TRY(sketch.Save());
    return Ok();
  }

  static Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
    if (entry.exists()) TRY(keys.Remove(key, entry));
    return AddPiece(keys, key, value);
  }

  static constexpr RdbForm kForms[] = {{kRdbType, ReadSketchPage, kLeastSketchPageBytes, {}, BeginRead}};

  static constexpr ValueType Row(Type type, std::string_view name) {
    return {
        .type = type,
        .name = name,
        .redis_number = static_cast<uint32_t>(kRdbType),
        .encoding_name = EncodingName,
        .row_bytes = SketchRowBytes,
        .add_to_digest = AddToDigest,
        .save = Save,
        .load = Load,
        .add_piece = AddPiece,
        .rdb_forms = kForms,
    };
  }

 private:
  // The first item of a value has the fields.
  static auto FieldsOf(const RdbValue& value) -> decltype(TakeFields(std::declval<std::string_view&>())) {
    std::string scratch;
    std::string_view bytes = value.items[0].Text(scratch);
    auto fields = TRY(TakeFields(bytes));
    if (!bytes.empty()) return Status::Corruption("rdb: bytes after the fields of a sketch");
    return fields;
  }
};

}  // namespace cairn
