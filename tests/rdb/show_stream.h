// SPDX-License-Identifier: BSD-3-Clause
//
// A stream from a payload as a line of text for comparisons, with the properties that every version of the encoding
// has. Groups and consumers are in the order of their names, in which they are stored.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "rdb/rdb_stream.h"

namespace cairn {

inline std::string ShowConsumer(const RdbStream::Consumer& consumer) {
  std::string line = " consumer " + consumer.name + " " + std::to_string(consumer.seen_ms);
  for (const PendingEntry& entry : consumer.pending) {
    line +=
        " " + entry.id.ToString() + " " + std::to_string(entry.delivered_ms) + " " + std::to_string(entry.deliveries);
  }
  return line;
}

inline std::string ShowGroup(const RdbStream::Group& group) {
  std::vector<std::string> consumers;
  for (const RdbStream::Consumer& consumer : group.consumers) consumers.push_back(ShowConsumer(consumer));
  std::sort(consumers.begin(), consumers.end());
  std::string line = " | group " + group.name + " " + group.last_id.ToString();
  for (const std::string& consumer : consumers) line += consumer;
  return line;
}

inline std::string ShowStream(const RdbStream& stream) {
  std::string line = "last " + stream.last_id().ToString();
  for (size_t i = 0; i < stream.size(); ++i) {
    line += " | " + stream.id(i).ToString();
    for (const Item& text : stream.fields(i)) line += " " + text.ToString();
  }
  std::vector<std::string> groups;
  for (const RdbStream::Group& group : stream.groups()) groups.push_back(ShowGroup(group));
  std::sort(groups.begin(), groups.end());
  for (const std::string& group : groups) line += group;
  return line;
}

}  // namespace cairn
