// SPDX-License-Identifier: BSD-3-Clause
//
// A payload for each of Cairn's own types of RDB (rdb/rdb_format.h), without footers: small values, which a record
// holds, and large ones, which are spread over rows. They are as DUMP writes them: a test saves each to the same bytes.
#pragma once

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "encoding/varint.h"
#include "rdb/rdb_writer.h"
#include "tests/rdb/rdb_corpus.h"
#include "types/bloom_chain.h"
#include "types/cuckoo_shape.h"
#include "types/tdigest.h"

namespace cairn {

// A part of a filter, or a page of a sketch.
struct CorpusPart {
  uint64_t place;
  std::string_view bytes;
};

inline CorpusPayload CairnPayload(std::string name, RdbType type, std::string_view head,
                                  const std::vector<CorpusPart>& parts) {
  CorpusPayload payload{.name = std::move(name)};
  RdbWriter writer(payload.bytes);
  writer.Type(type);
  writer.Text(head);
  writer.Length(parts.size());
  for (const CorpusPart& part : parts) {
    writer.Length(part.place);
    writer.Text(part.bytes);
  }
  return payload;
}

inline CorpusPayload CairnText(std::string name, RdbType type, std::string_view text) {
  CorpusPayload payload{.name = std::move(name)};
  RdbWriter writer(payload.bytes);
  writer.Type(type);
  writer.Text(text);
  return payload;
}

// The header of a Bloom filter that has room for `entries`.
inline std::string BloomHead(uint64_t entries) {
  return BloomChain{.growth = 2, .links = {*MakeBloomLink(entries, 0.01, kBloomDefaultOptions)}}.Encode();
}

// The fields of a sketch of 2 rows: `before`, the width, the depth, `after`.
inline std::string SketchHead(std::string_view before, uint64_t width, std::string_view after) {
  std::string fields(before);
  AppendVarint(fields, width);
  AppendVarint(fields, 2);
  return fields.append(after);
}

inline std::string TopKHead(uint64_t width) {
  std::string rest;
  AppendU64(rest, std::bit_cast<uint64_t>(0.9));
  AppendU64(rest, 12345);                // the state of the generator
  rest.append("\0\2a\7", 4);             // a free slot, and the item "a" with the count 7
  return SketchHead("\2", width, rest);  // k
}

inline std::string DigestOf(int numbers) {
  TDigest digest(20);
  for (int i = 0; i < numbers; ++i) digest.Add(i * 1.25 - 7);
  return digest.Encode();
}

inline std::vector<CorpusPayload> CairnCorpus() {
  constexpr std::string_view kBits("\1\0\x80", 3);
  constexpr std::string_view kCell("\0\0\0\3\0\0\0\7", 8);
  const std::string cuckoo = CuckooShape::Make(64, 2, 20, 1).Encode();
  const std::string large_cuckoo = CuckooShape::Make(40'000, 2, 20, 1).Encode();
  return {
      CairnText("json", RdbType::kCairnJson, R"({"a":[1,-2.5,"x",null,true,{}]})"),
      CairnPayload("bloom", RdbType::kCairnBloom, BloomHead(100), {{0, kBits}}),
      CairnPayload("bloom of nothing", RdbType::kCairnBloom, BloomHead(100), {}),
      CairnPayload("bloom in rows", RdbType::kCairnBloom, BloomHead(20'000), {{0, kBits}, {16 << 10, kBits}}),
      CairnPayload("cuckoo", RdbType::kCairnCuckoo, cuckoo, {{0, kBits}}),
      CairnPayload("cuckoo in rows", RdbType::kCairnCuckoo, large_cuckoo, {{0, kBits}, {16 << 10, kBits}}),
      CairnPayload("count-min", RdbType::kCairnCountMin, SketchHead("", 5, "\7"), {{0, kCell}}),
      CairnPayload("count-min in rows", RdbType::kCairnCountMin, SketchHead("", 2000, "\7"), {{0, kCell}, {9, kCell}}),
      CairnPayload("top-k", RdbType::kCairnTopK, TopKHead(7), {{0, kCell}}),
      CairnPayload("top-k in rows", RdbType::kCairnTopK, TopKHead(2000), {{0, kCell}, {9, kCell}}),
      CairnText("t-digest", RdbType::kCairnTDigest, DigestOf(3)),
      CairnText("t-digest with merged nodes", RdbType::kCairnTDigest, DigestOf(300)),
  };
}

}  // namespace cairn
