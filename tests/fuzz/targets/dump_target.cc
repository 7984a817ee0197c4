// SPDX-License-Identifier: BSD-3-Clause
//
// Dump: payloads of RESTORE. A value that is accepted can be stored, and is saved as the same value. FUNCTION RESTORE
// reads the same bytes, too.
//
// Input: the dialect, then a type and its value, without the footer.
#include "base/assert.h"
#include "fuzz/restorer.h"
#include "fuzz/targets/target.h"
#include "rdb/cairn_corpus.h"
#include "rdb/dump_payload.h"
#include "rdb/rdb_corpus.h"
#include "script/function_payload.h"

namespace cairn {
namespace {

enum Choice : uint8_t { kOfRedis, kOfValkey, kFunctions, kChoiceCount };

void CheckValue(std::string_view bytes, RdbDialect dialect, Restorer& restorer) {
  RdbReader reader(bytes, Restorer::kMostTextBytes, dialect);
  const Result<RdbValue> value = ReadRdbValue(reader);
  if (!value.ok() || reader.left() > 0) return;
  const std::string error = restorer.ErrorOf(*value);
  ASSERT(error.empty(), error.c_str());
}

void CheckFunctions(std::string_view bytes) {
  constexpr uint64_t kMostBytes = 1 << 20;
  std::string payload(bytes);
  AppendDumpFooter(payload);
  const auto codes = ReadFunctionPayload(payload, kMostBytes);
  if (!codes.ok()) return;
  size_t size = 0;
  for (const std::string& code : *codes) size += code.size();
  ASSERT(!codes->empty() || bytes.empty(), "bytes of a payload are libraries");
  ASSERT(codes->size() <= bytes.size(), "a library has bytes");
  ASSERT(size <= kMostBytes, "the codes do not exceed their limit");
}

std::function<void(std::string_view)> Make() {
  return [restorer = std::make_shared<Restorer>()](std::string_view input) {
    const auto choice = static_cast<Choice>(TakeChoice(input) % kChoiceCount);
    if (choice == kFunctions) return CheckFunctions(input);
    CheckValue(input, choice == kOfValkey ? RdbDialect::kValkey : RdbDialect::kRedis, *restorer);
  };
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const CorpusPayload& each : RdbCorpus()) {
    seeds.push_back(Chosen(each.dialect == RdbDialect::kValkey ? kOfValkey : kOfRedis, each.bytes));
  }
  for (const CorpusPayload& each : CairnCorpus()) seeds.push_back(Chosen(kOfRedis, each.bytes));
  seeds.push_back(Chosen(kFunctions, "\xf5\x0b#!lua name=a\xf5\x01x"));
  return seeds;
}

}  // namespace

const FuzzTarget kDumpTarget = {
    .name = "dump", .make = Make, .seeds = Seeds, .covers = "src/rdb/ src/types/", .most_bytes = 32768};

}  // namespace cairn
