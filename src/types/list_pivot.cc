// SPDX-License-Identifier: BSD-3-Clause
#include "types/list_pivot.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/hash.h"
#include "storage/store.h"
#include "types/list_items.h"

namespace cairn {
namespace {

// Chunks at the head that are read before the signatures are asked: a list of no more than these has none.
constexpr int kReadChunks = 32;

// Integers and bytes never are the same item, and need not have different hashes.
uint64_t HashOf(const Item& item) {
  if (!item.is_integer()) return Hash64(item.bytes());
  const int64_t integer = item.integer();
  return Hash64({reinterpret_cast<const char*>(&integer), sizeof integer});
}

Result<std::vector<uint64_t>> HashesOf(const ListChunk& chunk) {
  std::vector<uint64_t> hashes;
  hashes.reserve(chunk.count);
  TRY(VisitItems(chunk.items, 0, chunk.count, false, [&hashes](const Item& item) { hashes.push_back(HashOf(item)); }));
  return hashes;
}

Result<bool> Holds(const ListChunk& chunk, const Item& wanted) {
  return TRY(FindItem(chunk.items, wanted)).has_value();
}

// One look for one item.
class Search {
 public:
  Search(Transaction& txn, const ListRows& rows, const Item& wanted)
      : txn_(txn), rows_(rows), wanted_(wanted), aids_(txn.store().rank_indexes()) {}

  Result<std::optional<int64_t>> Run();

 private:
  // The chunk, if it is among those the signatures name.
  Result<std::optional<int64_t>> AmongCovered(ChunkSignatures& signatures);
  // The chunk, if it is from where the walk stands on; what is passed is noted, as long as there is room.
  Result<std::optional<int64_t>> Onward(ChunkWalk& walk, ChunkSignatures* signatures);
  Result<bool> Cover(ChunkSignatures& signatures, const ListChunk& chunk);

  Transaction& txn_;
  const ListRows& rows_;
  const Item& wanted_;
  RankIndexes& aids_;
};

Result<std::optional<int64_t>> Search::Run() {
  ChunkWalk walk(txn_, rows_, rows_.first, Direction::kForward);
  for (int passed = 0; passed < kReadChunks && walk.Valid(); ++passed, walk.Next()) {
    if (TRY(Holds(walk.chunk(), wanted_))) return std::optional(walk.chunk().seq);
  }
  if (!walk.Valid()) {
    TRY(walk.TakeStatus());
    return std::optional<int64_t>();
  }
  if (ChunkSignatures* const signatures = aids_.FindSignatures(rows_.stripe, rows_.id)) {
    if (const auto found = TRY(AmongCovered(*signatures))) return found;
    if (signatures->Covers(rows_.last)) return std::optional<int64_t>();
    if (const RowRef last = TRY(txn_.Get(rows_.Row(signatures->covered())))) {
      ChunkWalk rest(txn_, rows_, signatures->covered(), Direction::kForward);
      if (rest.Valid()) rest.Next();
      return Onward(rest, signatures);
    }
    aids_.DropSignatures(rows_.stripe, rows_.id);  // the last chunk they cover is gone, and with it where to go on
  }
  ChunkWalk all(txn_, rows_, rows_.first, Direction::kForward);
  return Onward(all, &aids_.CreateSignatures(rows_.stripe, rows_.id));
}

Result<std::optional<int64_t>> Search::AmongCovered(ChunkSignatures& signatures) {
  std::vector<int64_t> named = signatures.Candidates(HashOf(wanted_), rows_.first);
  std::make_heap(named.begin(), named.end(), std::greater<>());
  for (; !named.empty(); named.pop_back()) {
    std::pop_heap(named.begin(), named.end(), std::greater<>());
    const int64_t seq = named.back();
    const RowRef row = TRY(txn_.Get(rows_.Row(seq)));
    if (!row) continue;
    const ListChunk chunk = TRY(DecodeChunk(seq, row.bytes()));
    if (TRY(Holds(chunk, wanted_))) return std::optional(seq);
    // What the tick has written may yet be taken back, and then the chunk holds what it did before.
    if (!txn_.dirty() && signatures.IsTouched(seq)) signatures.Settle(seq, TRY(HashesOf(chunk)));
    TRY(txn_.Spend(1));
  }
  return std::optional<int64_t>();
}

Result<std::optional<int64_t>> Search::Onward(ChunkWalk& walk, ChunkSignatures* signatures) {
  txn_.NoteAidMade(rows_.id, rows_.stripe);
  for (; walk.Valid(); walk.Next()) {
    if (signatures != nullptr && !TRY(Cover(*signatures, walk.chunk()))) signatures = nullptr;
    if (TRY(Holds(walk.chunk(), wanted_))) return std::optional(walk.chunk().seq);
  }
  TRY(walk.TakeStatus());
  return std::optional<int64_t>();
}

// False: there is no room.
Result<bool> Search::Cover(ChunkSignatures& signatures, const ListChunk& chunk) {
  const std::vector<uint64_t> hashes = TRY(HashesOf(chunk));
  if (!aids_.ChargeSignatures(signatures.next_bytes(), &txn_)) return false;
  signatures.Cover(chunk.seq, hashes, !txn_.dirty());
  return true;
}

}  // namespace

Result<std::optional<int64_t>> FindChunkWith(Transaction& txn, const ListRows& rows, const Item& wanted) {
  const uint32_t stripes[] = {rows.stripe};
  TRY(txn.Lock(stripes));
  return Search(txn, rows, wanted).Run();
}

void NoteChunkWritten(Transaction& txn, const ListRows& rows, int64_t seq) {
  RankIndexes& aids = txn.store().rank_indexes();
  ChunkSignatures* const signatures = aids.FindSignatures(rows.stripe, rows.id);
  if (signatures == nullptr || !signatures->Covers(seq)) return;
  const bool has_room = signatures->Knows(seq) || aids.ChargeSignatures(signatures->next_bytes(), &txn);
  if (has_room) signatures->Touch(seq);
  if (!has_room || signatures->is_stale()) aids.DropSignatures(rows.stripe, rows.id);
}

}  // namespace cairn
