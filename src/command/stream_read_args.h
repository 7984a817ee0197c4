// SPDX-License-Identifier: BSD-3-Clause
//
// Shared parts of XREAD and XREADGROUP: their options, and the reply with the entries of each stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "resp/reply.h"

namespace cairn {

struct ReadRequest {
  bool blocks = false;
  uint64_t count = 0;                  // of each stream; 0: all
  std::optional<uint64_t> most_count;  // MAXCOUNT: of all streams together
  std::optional<uint64_t> most_bytes;  // MAXSIZE: of the reply
  bool no_ack = false;
  std::optional<int64_t> min_idle_ms;  // CLAIM: also deliver entries that have been pending as long
  std::optional<std::string_view> group;
  std::string_view consumer;
  size_t first_key = 0;  // position of the first key
  size_t streams = 0;    // as many keys, then as many ids

  std::string_view KeyName(const Args& args, size_t i) const { return args[first_key + i]; }
  std::string_view IdText(const Args& args, size_t i) const { return args[first_key + streams + i]; }
};

// [GROUP group consumer] [COUNT count] [MAXCOUNT count] [MAXSIZE bytes] [BLOCK ms] [CLAIM ms] [NOACK]
// STREAMS key [key ...] id [id ...]
Result<ReadRequest> ReadStreamOptions(CommandContext& ctx, Args& args, bool as_group);

// Writes the reply: name and entries of each stream that has new entries, as many as the request allows. COUNT limits
// the entries of a stream, MAXCOUNT those of all streams. MAXSIZE ends the reply with the entry that reaches it.
class StreamsReply {
 public:
  StreamsReply(Reply& reply, const ReadRequest& request)
      : reply_(reply), request_(request), start_(reply.size()), mark_(reply.Later()) {}

  // Begins and ends the entries of a stream. Between them the caller writes entries and calls Added() after each.
  void Begin(std::string_view name);
  void End();
  void Added() {
    ++of_stream_;
    ++of_all_;
  }
  // Whether the current stream may have another entry.
  bool HasRoom() const { return most() > 0; }
  // Whether another stream may have an entry.
  bool HasRoomInAll() const;
  // How many more entries the current stream may have, apart from MAXSIZE.
  uint64_t most() const;
  // Returns false if no stream had entries; then nothing was written.
  bool Finish();

 private:
  Reply& reply_;
  const ReadRequest& request_;
  const size_t start_;
  const size_t mark_;
  size_t stream_mark_ = 0;
  uint64_t of_stream_ = 0;  // entries
  uint64_t of_all_ = 0;
  size_t streams_ = 0;
};

// The keys of XREAD and XREADGROUP, whose options begin at argument `from`. A group or a consumer may be called
// "streams", which the specs cannot express: FindStreamKeys finds the keys of a call.
constexpr KeySpec KeysAfterStreams(int16_t from) {
  return {.flags = kRO | kAccess, .begin = from, .keyword = "STREAMS", .last = -1, .limit = 2};
}
bool FindStreamKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses);

}  // namespace cairn
