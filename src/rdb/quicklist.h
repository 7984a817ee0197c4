// SPDX-License-Identifier: BSD-3-Clause
//
// QuicklistWriter: writes the nodes of a list in RDB payloads (rdb/rdb_format.h, type 18). An item goes into the last
// node while list-max-listpack-size allows, so the nodes equal those of a list that Redis built by RPUSH.
//
// Thread: that of its user.
#pragma once

#include <cstdint>
#include <string>

#include "encoding/packed.h"
#include "rdb/listpack.h"
#include "rdb/rdb_writer.h"

namespace cairn {

class QuicklistWriter {
 public:
  // `limit` is list-max-listpack-size: items per node, or -1 to -5 for the node's size.
  explicit QuicklistWriter(int64_t limit) : limit_(limit), nodes_writer_(nodes_) {}
  QuicklistWriter(const QuicklistWriter&) = delete;
  QuicklistWriter& operator=(const QuicklistWriter&) = delete;

  void Add(const Item& item);
  // The bytes buffered so far.
  size_t size_bytes() const { return nodes_.size() + node_.size_bytes(); }
  // Writes the number of nodes and the nodes. Call it once, at the end.
  void Finish(RdbWriter& writer);

 private:
  bool HasRoomFor(size_t text_size) const;
  void EndNode();

  const int64_t limit_;
  ListpackWriter node_;
  uint64_t node_count_ = 0;
  std::string nodes_;
  RdbWriter nodes_writer_;
  std::string scratch_;
};

}  // namespace cairn
