// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged DUMP payloads: for any bytes, RESTORE's reader returns an error or a value that can be stored, and it makes
// no invalid memory access. AddressSanitizer checks the latter, so tests/fuzz/run builds this program with it.
//
//   cairn_fuzz_dump [--count N] [--seed S] [--corpus FILE]     FILE: whole payloads in hexadecimal, one per line
//
// A payload is a valid one that was changed in one to four places. One in five keeps the valid one's footer and must be
// refused for it. The others get the right checksum. If the reader accepts such a payload, the value is stored, saved
// and read again, and must be the same. The printed seed reproduces a run.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "isal.h"
#include "rdb/dump_payload.h"
#include "rdb/little_endian.h"
#include "tests/fuzz/damage.h"
#include "tests/fuzz/restorer.h"
#include "tests/rdb/cairn_corpus.h"
#include "tests/rdb/hex.h"
#include "tests/rdb/rdb_corpus.h"
#include "types/rdb_value.h"

namespace cairn {
namespace {

constexpr size_t kMostPayloadBytes = 64 << 10;

struct Totals {
  uint64_t by_footer = 0;  // refused
  uint64_t as_no_value = 0;
  uint64_t accepted = 0;
  uint64_t failed = 0;
};

// The error in the reader's result for a payload, or nothing.
std::optional<std::string> Try(std::string_view payload, Restorer& restorer, Totals& totals) {
  const auto bytes = StripDumpFooter(payload);
  if (!bytes) {
    ++totals.by_footer;
    return std::nullopt;
  }
  RdbReader reader(bytes->bytes, Restorer::kMostTextBytes, bytes->dialect);
  const Result<RdbValue> value = ReadRdbValue(reader);
  if (!value.ok() || reader.left() > 0) {
    ++totals.as_no_value;
    return std::nullopt;
  }
  ++totals.accepted;
  std::string error = restorer.ErrorOf(*value);
  return error.empty() ? std::nullopt : std::optional(std::move(error));
}

// Valid payloads without their footers, and the version of each.
struct Corpus {
  void Add(std::string value, RdbDialect dialect) {
    values.push_back(std::move(value));
    versions.push_back(dialect == RdbDialect::kValkey ? kValkeyVersion : kRdbVersionRead);
  }
  // The payload of `bytes` with the version of value `at`.
  std::string Payload(std::string bytes, size_t at) const {
    AppendLittle(bytes, versions[at], 2);
    AppendLittle(bytes, isal::Crc64Jones(bytes), 8);
    return bytes;
  }

  static constexpr uint64_t kValkeyVersion = 80;
  std::vector<std::string> values;
  std::vector<uint64_t> versions;
};

// Our own collection and the payloads of the file.
Corpus ReadCorpus(const char* path) {
  Corpus corpus;
  for (const CorpusPayload& each : RdbCorpus()) corpus.Add(each.bytes, each.dialect);
  for (const CorpusPayload& each : CairnCorpus()) corpus.Add(each.bytes, each.dialect);
  if (path == nullptr) return corpus;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::string payload = FromHex(line);
    const auto value = StripDumpFooter(payload);
    if (value && value->bytes.size() <= kMostPayloadBytes) corpus.Add(std::string(value->bytes), value->dialect);
  }
  return corpus;
}

Totals Run(uint64_t count, uint64_t seed, const Corpus& corpus) {
  Restorer restorer;
  Random random(seed);
  Damage damage(random, corpus.values);
  Totals totals;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = random.Below(corpus.values.size());
    const std::string& good = corpus.values[at];
    std::string bytes = good;
    for (uint64_t left = 1 + random.Below(4); left > 0; --left) damage.Apply(bytes);
    std::string payload = corpus.Payload(bytes, at);
    bool keeps_footer = random.Below(5) == 0;
    if (keeps_footer) {
      const std::string footer = corpus.Payload(good, at).substr(good.size());
      keeps_footer = !payload.ends_with(footer);  // leading zeros do not change the checksum
      payload = bytes + footer;
    }
    const uint64_t refused_by_footer = totals.by_footer;
    auto wrong = Try(payload, restorer, totals);
    if (keeps_footer && totals.by_footer == refused_by_footer) wrong = "was taken with a wrong checksum";
    if (!wrong) continue;
    ++totals.failed;
    std::printf("payload %llu %s: %s\n", static_cast<unsigned long long>(i), wrong->c_str(), HexOf(payload).c_str());
  }
  return totals;
}

int Main(int argc, char** argv) {
  uint64_t count = 200000;
  uint64_t seed = static_cast<uint64_t>(WallMs());
  const char* path = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--count") count = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--corpus") path = argv[i + 1];
  }
  const Corpus corpus = ReadCorpus(path);
  std::printf("%zu payloads to damage, seed %llu\n", corpus.values.size(), static_cast<unsigned long long>(seed));
  const Totals totals = Run(count, seed, corpus);
  std::printf("%llu damaged: %llu refused for the footer, %llu as no value; %llu are values\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(totals.by_footer),
              static_cast<unsigned long long>(totals.as_no_value), static_cast<unsigned long long>(totals.accepted));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(count - totals.failed),
              static_cast<unsigned long long>(totals.failed));
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) { return cairn::Main(argc, argv); }
