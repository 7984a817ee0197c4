// SPDX-License-Identifier: BSD-3-Clause
//
// Records: the record of a key, with any bytes, as commands read it: TYPE, DUMP, MEMORY USAGE, DEBUG DIGEST, DEL. A
// damaged record is an error of the command. A value that can be saved is saved to the same bytes again.
//
// Input: the bytes of a record.
#include "base/assert.h"
#include "encoding/record.h"
#include "fuzz/scratch_key.h"
#include "fuzz/targets/target.h"
#include "rdb/cairn_corpus.h"
#include "rdb/rdb_corpus.h"
#include "rdb/rdb_writer.h"
#include "types/digest.h"
#include "types/fragments.h"
#include "types/rdb_value.h"
#include "types/value_memory.h"

namespace cairn {
namespace {

// Whether the value is a string of many zeros, which have no rows. A command that reads it allocates them all.
bool IsLarge(std::string_view input) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const auto record = DecodeRecord(input);
  if (!record.ok() || record->header.encoding != Encoding::kSpread) return false;
  const auto length = Fragments::LengthIn(record->payload);
  return record->header.type == Type::kString && length.ok() && *length > kMostBytes;
}

Result<std::string> Saved(Keyspace& keys, const Key& key) {
  std::string saved;
  RdbWriter writer(saved);
  TRY(SaveRdbValue(keys, key, TRY(keys.Find(key)), writer));
  return saved;
}

Status AddDigest(Keyspace& keys, const Key& key) {
  Digest digest;
  return AddValue(digest, keys, key, TRY(keys.Find(key)));
}

void UseRecord(Keyspace& keys, const Key& key) {
  const auto entry = keys.Find(key);
  if (!entry.ok() || !entry->exists()) return;
  constexpr uint64_t kSamples = 5;
  static_cast<void>(MemoryOf(keys.txn(), key, *entry, kSamples).ok());
  static_cast<void>(AddDigest(keys, key).ok());
  const auto saved = Saved(keys, key);
  if (saved.ok()) {
    const auto again = Saved(keys, key);
    ASSERT(again.ok() && *again == *saved, "a value is saved to the same bytes");
  }
  const Status removed = keys.Remove(key, *entry);
  ASSERT(removed.ok() && !keys.Find(key)->exists(), "a damaged key can be deleted");
}

void Run(ScratchKey& scratch, std::string_view input) {
  if (IsLarge(input)) return;
  scratch.Run([input](Keyspace& keys, const Key& key) {
    keys.txn().Put(key.row(), input);
    UseRecord(keys, key);
  });
}

std::function<void(std::string_view)> Make() {
  return [scratch = std::make_shared<ScratchKey>()](std::string_view input) { Run(*scratch, input); };
}

// The record of a value that was loaded from a payload.
std::string RecordOf(ScratchKey& scratch, const CorpusPayload& payload) {
  std::string record;
  scratch.Run([&](Keyspace& keys, const Key& key) {
    RdbReader reader(payload.bytes, UINT64_MAX, payload.dialect);
    const auto value = ReadRdbValue(reader);
    if (!value.ok() || !LoadRdbValue(keys, key, *keys.Find(key), *value).ok()) return;
    const auto entry = keys.Find(key);
    if (!entry.ok() || !entry->exists()) return;
    AppendRecordHeader(record, entry->header());
    record.append(entry->payload());
  });
  return record;
}

std::vector<std::string> Seeds() {
  ScratchKey scratch;
  std::vector<std::string> seeds;
  for (const CorpusPayload& payload : RdbCorpus()) seeds.push_back(RecordOf(scratch, payload));
  for (const CorpusPayload& payload : CairnCorpus()) seeds.push_back(RecordOf(scratch, payload));
  return seeds;
}

}  // namespace

const FuzzTarget kRecordsTarget = {
    .name = "records", .make = Make, .seeds = Seeds, .covers = "src/types/ src/encoding/record"};

}  // namespace cairn
