// SPDX-License-Identifier: BSD-3-Clause
//
// Meta: the rows of the meta space and the files of the data directory. The target encodes each accepted value again
// and decodes that: both values must be equal.
//
// Input: the kind of value, then its bytes. The checksum of the file `key-cache` is not part of the input.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "base/hash.h"
#include "cluster/unserved_slots.h"
#include "encoding/varint.h"
#include "fuzz/recoded.h"
#include "fuzz/scratch_key.h"
#include "fuzz/targets/target.h"
#include "replication/history.h"
#include "storage/format.h"
#include "storage/hot_rows_file.h"
#include "storage/record_ends.h"
#include "topology/nodes_conf.h"

namespace cairn {
namespace {

void CheckHistory(ScratchKey&, std::string_view input) {
  CheckRecoded(input, DecodeHistory, EncodeHistory, [](const History& history) {
    std::vector<std::tuple<std::string, uint64_t>> former;
    for (const FormerStream& stream : history.former) former.emplace_back(stream.id, stream.end);
    std::vector<std::tuple<uint64_t, uint64_t, int>> anchors;
    for (const Anchor& anchor : history.anchors) anchors.emplace_back(anchor.offset, anchor.sequence, anchor.db);
    return std::tuple(history.id, former, history.logs, history.is_replica, anchors);
  });
}

void CheckApplied(ScratchKey&, std::string_view input) {
  CheckRecoded(input, DecodeApplied, EncodeApplied,
               [](const Applied& applied) { return std::pair(applied.offset, applied.db); });
}

void CheckDatabases(ScratchKey&, std::string_view input) {
  using Databases = std::pair<std::vector<KeyspaceId>, KeyspaceId>;
  const auto decode = [](std::string_view bytes) -> Result<Databases> {
    Databases databases;
    TRY(DecodeDatabases(bytes, databases.first, databases.second));
    return databases;
  };
  const auto encode = [](const Databases& databases) { return EncodeDatabases(databases.first, databases.second); };
  CheckRecoded(input, decode, encode, [](const Databases& databases) { return databases; });
}

void CheckCount(ScratchKey&, std::string_view input) {
  CheckRecoded(input, DecodeCount, EncodeCount, [](int64_t count) { return count; });
  uint32_t worker;
  KeyspaceId keyspace;
  if (!ParseCountRow(input, worker, keyspace)) return;
  ASSERT(MakeCountRow(worker, keyspace).row() == input, "a row of a count is made again");
}

void CheckFormatRow(ScratchKey&, std::string_view input) {
  uint64_t version;
  const bool is_valid = CheckFormat(input).ok();
  ASSERT(!is_valid || (ReadVarint(input, version) && version >= kOldestFormatVersion && version <= kFormatVersion),
         "a format that is read is known");
}

void CheckHotRows(ScratchKey&, std::string_view input) {
  constexpr uint64_t kMostBytes = 1 << 20;
  std::string bytes(input);
  AppendU64(bytes, Hash64(input));
  const auto decode = [](std::string_view file) { return DecodeHotRows(file, kMostBytes); };
  const auto rows = decode(bytes);
  if (!rows.ok()) return;
  // The encoder may need more bytes than the limit: the first version of the file had none.
  const std::string encoded = EncodeHotRows(*rows);
  const auto again = DecodeHotRows(encoded, UINT64_MAX);
  ASSERT(again.ok(), "the encoded rows can be decoded");
  ASSERT(again->kept.size() == rows->kept.size() && again->young.size() == rows->young.size(), "they are as many");
  // A row of the input may be one that no key has: its position is not that of its key.
  ASSERT(EncodeHotRows(*again) == encoded, "they are the same");
}

void CheckRecordEnds(ScratchKey&, std::string_view input) {
  constexpr size_t kPiece = 5;
  RecordEnds whole;
  whole.Read(input);
  RecordEnds pieces;
  for (size_t at = 0; at < input.size(); at += kPiece) {
    const uint64_t before = pieces.end();
    pieces.Read(input.substr(at, kPiece));
    ASSERT(pieces.end() >= before, "the end of the last record does not go back");
  }
  ASSERT(whole.end() <= input.size() && pieces.end() == whole.end(), "the end does not depend on the pieces");
}

void CheckNodesConf(ScratchKey&, std::string_view input) {
  const NodesConfPort old_port = TakeChoice(input) % 2 == 1 ? NodesConfPort::kTls : NodesConfPort::kPlain;
  const auto decode = [old_port](std::string_view text) { return ParseNodesConf(text, old_port); };
  CheckRecoded(input, decode, WriteNodesConf, WriteNodesConf);
}

// The row of the slots whose keys a node hides.
void CheckUnservedSlots(ScratchKey& scratch, std::string_view input) {
  const Status stored = [&]() -> Status {
    Transaction txn(scratch.store(), 1);
    txn.BeginCommand(Lane::kSlow, ScratchKey::kNowMs, false);
    txn.on_commit().PutNote(kUnservedRow, std::string(input));
    TRY(txn.FinishCommand());
    return txn.Commit(CommitMode::kNoLog);
  }();
  ASSERT(stored.ok(), "a note can be stored");
  const auto slots = ReadUnservedSlots(scratch.store(), "/nonexistent/nodes.conf");
  ASSERT(!slots.ok() || slots->Ranges().empty(), "a program without a topology hides no slots");
}

constexpr void (*kChecks[])(ScratchKey& scratch, std::string_view input) = {
    CheckHistory, CheckApplied,    CheckDatabases, CheckCount,        CheckFormatRow,
    CheckHotRows, CheckRecordEnds, CheckNodesConf, CheckUnservedSlots};
enum Choice : uint8_t {
  kHistory,
  kApplied,
  kDatabases,
  kCount,
  kFormat,
  kHotRows,
  kRecordEnds,
  kNodesConf,
  kUnservedSlots,
};

std::function<void(std::string_view)> Make() { return ChosenCheck(kChecks); }

std::string HotRowsSeed() {
  HotRows rows;
  rows.kept.Add(MakeKeyRow(1, "foo").tagged());
  rows.kept.Add(MakeKeyRow(1, "fop").tagged());
  rows.young.Add(MakeElementRow(1000, "m", 0).tagged());
  rows.young.Add(MakeChunkRow(1000, 7, 0).tagged());
  const std::string bytes = EncodeHotRows(rows);
  return Chosen(kHotRows, bytes.substr(0, bytes.size() - sizeof(uint64_t)));
}

// The files that redis-servers wrote.
void AddNodesConfs(std::vector<std::string>& seeds) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_SOURCE_DIR "/tests/topology/golden")) {
    if (entry.path().extension() == ".conf") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    seeds.push_back(Chosen(kNodesConf, Chosen(seeds.size() % 2, text)));
  }
}

std::vector<std::string> Seeds() {
  using namespace std::string_literals;
  const std::string id(kNoReplicationId);
  const History history{.id = id, .former = {{id, 7}}, .logs = true, .anchors = {{1, 2, 3}, {9, 10, kNoDb}}};
  std::vector<std::string> seeds = {Chosen(kHistory, EncodeHistory(history)),
                                    Chosen(kHistory, "\x01" + id + id + "\x0e\x03\x02xy\x01\x05\x06\x07"),
                                    Chosen(kApplied, EncodeApplied({.offset = 300, .db = 5})),
                                    Chosen(kDatabases, EncodeDatabases({0, 3, 70}, 71)),
                                    Chosen(kCount, EncodeCount(-300)),
                                    Chosen(kCount, MakeCountRow(3, 70).row()),
                                    Chosen(kFormat, EncodeFormat()),
                                    Chosen(kFormat, EncodeUnfinishedFormat()),
                                    HotRowsSeed(),
                                    Chosen(kHotRows, "cairnkc1\2\0\3abc\2\1d\1\0\1x"s),
                                    Chosen(kRecordEnds,
                                           "crc_\x03\0\x02"
                                           "abccrc_\x02\0\x04"
                                           "decrc_\x01\0\x01"
                                           "f"s),
                                    Chosen(kUnservedSlots, "import 0-99 16383-16383\nname\n")};
  AddNodesConfs(seeds);
  return seeds;
}

}  // namespace

const FuzzTarget kMetaTarget = {
    .name = "meta",
    .make = Make,
    .seeds = Seeds,
    .covers =
        "src/replication/history src/storage/format src/storage/hot_rows_file src/storage/record_ends "
        "src/topology/nodes_conf src/cluster/unserved_slots"};

}  // namespace cairn
