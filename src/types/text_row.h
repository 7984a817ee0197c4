// SPDX-License-Identifier: BSD-3-Clause
//
// What the type rows of JSON documents and t-digests share: a value is the payload of its record, and in RDB it is that
// payload under a type number of Cairn's own.
//
//   using Row = TextRow<Type::kJson, RdbType::kCairnJson>;
//
// Thread: that of the transaction.
#pragma once

#include <string>
#include <string_view>

#include "types/value_types.h"

namespace cairn {

template <Type kType, RdbType kRdbType>
struct TextRow {
  static std::string_view EncodingName(const KeyEntry&) { return "raw"; }

  static Status AddToDigest(Digest& digest, Keyspace&, const Key&, KeyEntry entry) {
    digest.Mix(entry.payload());
    return Ok();
  }

  static Status Save(Keyspace&, const Key&, KeyEntry entry, RdbWriter& writer) {
    writer.Type(kRdbType);
    writer.Text(entry.payload());
    return Ok();
  }

  static Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
    std::string scratch;
    return keys.Write(key, entry, {.type = kType, .encoding = Encoding::kRaw}, value.items[0].Text(scratch));
  }
};

}  // namespace cairn
