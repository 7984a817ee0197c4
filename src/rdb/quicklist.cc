// SPDX-License-Identifier: BSD-3-Clause
#include "rdb/quicklist.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace cairn {
namespace {

constexpr size_t kNodeBytes[] = {4096, 8192, 16384, 32768, 65536};  // for the limits -1 to -5
constexpr size_t kCountedNodeBytes = 8192;                          // if the limit counts items
constexpr size_t kEntryOverhead = 8;                                // Redis's estimate per entry
constexpr size_t kPlainBytes = size_t{1} << 30;                     // a larger item is a plain node, not a listpack

}  // namespace

bool QuicklistWriter::HasRoomFor(size_t text_size) const {
  if (node_.count() == 0) return true;
  const size_t size = node_.size_bytes() + text_size + kEntryOverhead;
  if (limit_ >= 0) return size <= kCountedNodeBytes && node_.count() < static_cast<uint64_t>(limit_);
  return size <= kNodeBytes[std::min<int64_t>(-limit_, std::size(kNodeBytes)) - 1];
}

void QuicklistWriter::Add(const Item& item) {
  const std::string_view text = item.Text(scratch_);
  const bool plain = text.size() >= kPlainBytes;
  if (plain || !HasRoomFor(text.size())) EndNode();
  if (!plain) {
    node_.Add(item);
    return;
  }
  nodes_writer_.Length(kQuicklistPlain);
  nodes_writer_.Text(text);
  ++node_count_;
}

void QuicklistWriter::EndNode() {
  if (node_.count() == 0) return;
  nodes_writer_.Length(kQuicklistPacked);
  nodes_writer_.Text(std::exchange(node_, ListpackWriter()).Take());
  ++node_count_;
}

void QuicklistWriter::Finish(RdbWriter& writer) {
  EndNode();
  writer.Length(node_count_);
  writer.Raw(nodes_);
}

}  // namespace cairn
