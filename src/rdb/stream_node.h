// SPDX-License-Identifier: BSD-3-Clause
//
// Stream nodes: the listpacks that the entries of a stream are in, as they stand in RDB payloads.
// A node is filed under its base, the id of the first entry ever in it. Its items are
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

// Appends the entries of a node that were not deleted to `stream`. `items`, which has none, keeps what they view.
Status ReadStreamNode(StreamId base, std::string_view listpack, RdbItems& items, RdbStream& stream);

// Writes entries as nodes, which end where Redis ends them for a stream that only grew.
class StreamNodesWriter {
 public:
  // The limits are stream-node-max-entries and stream-node-max-bytes; 0: none. With `direct` the
  // nodes go there as they fill up, and nothing else does.
  StreamNodesWriter(int64_t most_entries, int64_t most_bytes, RdbWriter* direct = nullptr)
      : most_entries_(most_entries), most_bytes_(most_bytes), direct_(direct) {}

  // REQUIRES: the entry's id is beyond those before.
  void Add(const StreamEntry& entry);
  // What is held of the nodes.
  size_t size_bytes() const { return nodes_.size() + entries_.size_bytes(); }
  // Writes the number of nodes and the nodes. REQUIRES: nothing is added afterwards.
  void Finish(RdbWriter& writer);
  // Ends the last node and answers how many there were. REQUIRES: the same; made with `direct`.
  uint64_t FinishDirect();

 private:
  bool HasRoom(const StreamEntry& entry) const;
  bool SharesFields(const StreamEntry& entry) const;
  // What stands before the entries of the node being written.
  ListpackWriter Head() const;
  void Begin(const StreamEntry& entry);
  void End();

  const int64_t most_entries_;
  const int64_t most_bytes_;
  RdbWriter* const direct_;
  std::string nodes_;  // finished ones, when not direct
  uint64_t node_count_ = 0;
  // Of the node being written:
  StreamId base_;
  std::vector<std::string> fields_;
  int64_t count_ = 0;
  ListpackWriter entries_;
};

}  // namespace cairn
