// SPDX-License-Identifier: BSD-3-Clause
//
// StreamFiller: adds many entries behind those of a stream and writes every chunk once, when it is full. Stream::Append
// instead rewrites the last chunk for each entry, so that the stream is complete after each.
//
//   StreamFiller filler(stream);
//   filler.Add(id, fields);
//   filler.Finish();
//   TRY(stream.Save());
//
// Thread: that of the transaction. The stream must outlive the filler and must not be used otherwise until Finish.
#pragma once

#include <span>
#include <string_view>

#include "types/stream.h"

namespace cairn {

class StreamFiller {
 public:
  explicit StreamFiller(Stream& stream) : stream_(stream) {}

  // `fields`: field, value, field, value ... REQUIRES: `id` is above those of the stream and those added before.
  void Add(StreamId id, std::span<const std::string_view> fields) {
    if (chunk_.count() > 0 && !stream_.HasRoom(chunk_.size_bytes(), chunk_.count(), fields)) stream_.AddChunk(chunk_);
    chunk_.Add(id, fields);
  }
  // Writes the last chunk. Call it once, at the end.
  void Finish() {
    if (chunk_.count() > 0) stream_.AddChunk(chunk_);
  }

 private:
  Stream& stream_;
  StreamChunkBuilder chunk_;
};

}  // namespace cairn
