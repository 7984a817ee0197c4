// SPDX-License-Identifier: BSD-3-Clause
//
// Stream nodes: the listpacks with the entries of a stream in RDB payloads. A node's key is its base, the id of the
// first entry ever in it. Its items are
//
//   node    count deleted n, n fields, 0, then count + deleted entries
//   entry   flags ms seq fields size
//             flags   1: it was deleted, 2: its fields are the node's
//             ms seq  the entry's id less the base, each number by itself, modulo 2^64
//             fields  n, then n times field and value; with the node's fields only the values
//             size    how many items the entry has, this one not counted
//
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "encoding/stream_entry.h"
#include "rdb/listpack.h"
#include "rdb/rdb_stream.h"
#include "rdb/rdb_writer.h"

namespace cairn {

// Appends the entries of a node, without the deleted ones, to `stream`. `items` must be empty; it keeps their texts.
Status ReadStreamNode(StreamId base, std::string_view listpack, RdbItems& items, RdbStream& stream);

// Writes entries as nodes. The nodes end where Redis ends them for a stream without deletions.
class StreamNodesWriter {
 public:
  // The limits are stream-node-max-entries and stream-node-max-bytes; 0: none. With `direct`, full nodes are written
  // there at once, without their number.
  StreamNodesWriter(int64_t most_entries, int64_t most_bytes, RdbWriter* direct = nullptr)
      : most_entries_(most_entries), most_bytes_(most_bytes), direct_(direct) {}

  // REQUIRES: the entry's id is above the earlier ones.
  void Add(const StreamEntry& entry);
  // The bytes buffered so far.
  size_t size_bytes() const { return nodes_.size() + entries_.size_bytes(); }
  // Writes the number of nodes and the nodes. REQUIRES: nothing is added afterwards.
  void Finish(RdbWriter& writer);
  // Writes the last node and returns the number of nodes. REQUIRES: the same, and made with `direct`.
  uint64_t FinishDirect();

 private:
  bool HasRoom(const StreamEntry& entry) const;
  bool SharesFields(const StreamEntry& entry) const;
  // The part of the current node before its entries.
  ListpackWriter Head() const;
  void Begin(const StreamEntry& entry);
  void End();

  const int64_t most_entries_;
  const int64_t most_bytes_;
  RdbWriter* const direct_;
  std::string nodes_;  // complete nodes, unless direct
  uint64_t node_count_ = 0;
  // The current node:
  StreamId base_;
  std::vector<std::string> fields_;
  int64_t count_ = 0;
  ListpackWriter entries_;
};

}  // namespace cairn
