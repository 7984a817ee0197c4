// SPDX-License-Identifier: BSD-3-Clause
//
// What the type rows of Bloom and cuckoo filters share: their functions for digests and RDB, which differ only in the
// class of the filter and in that of its header.
//
//   using Row = FilterRow<Bloom, BloomChain, &Bloom::chain, RdbType::kCairnBloom>;
//
// Thread: that of the transaction.
#pragma once

#include <string_view>
#include <utility>

#include "types/filter_rdb.h"
#include "types/value_types.h"

namespace cairn {

// `kHeaderOf` is the member function of `Filter` that returns its `Header`.
template <typename Filter, typename Header, auto kHeaderOf, RdbType kRdbType>
struct FilterRow {
  static std::string_view EncodingName(const KeyEntry&) { return "raw"; }

  // The header in a record.
  static Result<Header> HeaderOf(const KeyEntry& entry) {
    std::string_view rest = TRY(DecodeStoredFilter(entry.encoding(), entry.payload())).rest;
    return Header::Decode(rest);
  }

  static Status AddToDigest(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
    Filter filter(keys, key);
    TRY(filter.Open(std::move(entry)));
    return AddFilterToDigest(filter.bytes(), (filter.*kHeaderOf)().Encode(), digest);
  }

  static Status Save(Keyspace& keys, const Key& key, KeyEntry entry, RdbWriter& writer) {
    Filter filter(keys, key);
    TRY(filter.Open(std::move(entry)));
    return SaveFilter(filter.bytes(), kRdbType, (filter.*kHeaderOf)().Encode(), writer);
  }

  static Status BeginRead(RdbReader& reader, RdbValue& value) {
    TRY(ReadFilterHeader(reader, value));
    value.length = TRY(HeaderOf(value)).bytes();
    return Ok();
  }

  static Status AddPiece(Keyspace& keys, const Key& key, const RdbValue& value) {
    Filter filter(keys, key);
    TRY(filter.Open());
    if (!filter.exists()) TRY(filter.Create(TRY(HeaderOf(value))));
    TRY(WriteFilterParts(value, filter.bytes()));
    return filter.Save();
  }

  static Status Load(Keyspace& keys, const Key& key, const KeyEntry& entry, const RdbValue& value) {
    if (entry.exists()) TRY(keys.Remove(key, entry));
    return AddPiece(keys, key, value);
  }

  static constexpr RdbForm kForms[] = {{kRdbType, ReadFilterPart, kLeastFilterPartBytes, {}, BeginRead}};

 private:
  static Result<Header> HeaderOf(const RdbValue& value) {
    std::string_view rest = value.head;
    Header header = TRY(Header::Decode(rest));
    if (!rest.empty()) return Status::Corruption("rdb: bytes behind the header of a filter");
    return header;
  }
};

}  // namespace cairn
