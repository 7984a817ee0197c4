// SPDX-License-Identifier: BSD-3-Clause
//
// An RDB file for each encoding of rdb_corpus.h and cairn_corpus.h, without a checksum: the head of a file and the
// bytes behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/rdb/cairn_corpus.h"

namespace cairn {

inline constexpr std::string_view kRedisFileHead = "REDIS0015";
inline constexpr std::string_view kValkeyFileHead = "VALKEY080";

struct RdbFileParts {
  std::string_view head;
  std::string body;  // up to the end mark
};

inline std::vector<RdbFileParts> RdbFileCorpus() {
  // As written by Redis 7.4 and later in a cluster.
  constexpr std::string_view kSlotSizes{"\xf4\x5c\xc5\x01\x00", 5};
  // A file of Redis 8.10: the names of two fields, and two hashes that have values for them.
  constexpr std::string_view kTemplates =
      "f2 05 02 0166 0167 fe00 fb0200 1e 0161 0d 0d000000 0300 0501 0101 0201 ff 20 0162 05 c001 c002 ff";
  std::vector<RdbFileParts> files;
  std::vector<CorpusPayload> corpus = RdbCorpus();
  for (CorpusPayload& each : CairnCorpus()) corpus.push_back(std::move(each));
  for (const CorpusPayload& each : corpus) {
    std::string body(kSlotSizes);
    body.append(each.bytes, 0, 1);  // the type
    body.push_back(static_cast<char>(each.name.size()));
    body.append(each.name).append(each.bytes, 1, std::string::npos).push_back('\xff');
    files.push_back({each.dialect == RdbDialect::kValkey ? kValkeyFileHead : kRedisFileHead, std::move(body)});
  }
  files.push_back({kRedisFileHead, FromHex(kTemplates)});
  return files;
}

}  // namespace cairn
