// SPDX-License-Identifier: BSD-3-Clause
#include "command/stream_read_args.h"

#include <algorithm>

#include "base/number.h"
#include "command/key_options.h"
#include "command/stream_args.h"
#include "resp/errors.h"

namespace cairn {
namespace {

constexpr std::string_view kTimeoutNumber = "ERR timeout is not an integer or out of range";
constexpr std::string_view kTimeoutNegative = "ERR timeout is negative";
constexpr std::string_view kTimeoutRange = "ERR timeout is out of range";
constexpr std::string_view kGroupOfXRead =
    "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.";
constexpr std::string_view kNoAckOfXRead =
    "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.";
constexpr std::string_view kClaimOfXRead =
    "ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.";
constexpr std::string_view kMinIdleNumber = "ERR min-idle-time is not an integer or out of range";
constexpr std::string_view kMinIdleNegative = "ERR min-idle-time must be a positive integer";
constexpr std::string_view kMostCount = "ERR MAXCOUNT must be a positive integer";
constexpr std::string_view kMostSize = "ERR MAXSIZE must be a positive integer";
constexpr std::string_view kMostBelowCount = "ERR MAXCOUNT must be greater than or equal to COUNT";
constexpr std::string_view kNoGroup = "ERR Missing GROUP option for XREADGROUP";

constexpr std::string_view kStreams = "STREAMS";
constexpr OptionWord kOptions[] = {{"BLOCK", 1}, {"COUNT", 1}, {"MAXCOUNT", 1}, {"MAXSIZE", 1},
                                   {"CLAIM", 1}, {"GROUP", 2}, {"NOACK", 0},    {kStreams, 0}};

Status ReadTimeout(CommandContext& ctx, std::string_view text) {
  const auto ms = ParseInt64(text);
  if (!ms) return Status::Reply(kTimeoutNumber);
  if (*ms < 0) return Status::Reply(kTimeoutNegative);
  if (*ms > INT64_MAX - ctx.now_ms()) return Status::Reply(kTimeoutRange);
  ctx.wait().timeout_ms = *ms;
  return Ok();
}

Status Unbalanced(bool as_group) {
  return Status::Reply(as_group ? "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must "
                                  "be specified."
                                : "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must "
                                  "be specified.");
}

Result<uint64_t> ReadPositive(std::string_view text, std::string_view error) {
  const auto number = ParseInt64(text);
  if (!number || *number < 1) return Status::Reply(error);
  return static_cast<uint64_t>(*number);
}

Result<int64_t> ReadMinIdle(std::string_view text) {
  const auto ms = ParseInt64(text);
  if (!ms) return Status::Reply(kMinIdleNumber);
  if (*ms < 0) return Status::Reply(kMinIdleNegative);
  return *ms;
}

}  // namespace

Result<ReadRequest> ReadStreamOptions(CommandContext& ctx, Args& args, bool as_group) {
  ReadRequest request;
  while (args.More() && request.first_key == 0) {
    const std::string_view word = args.Bytes();
    if (args.More() && EqualsIgnoreCase(word, "block")) {
      TRY(ReadTimeout(ctx, args.Bytes()));
      request.blocks = true;
    } else if (args.More() && EqualsIgnoreCase(word, "count")) {
      request.count = static_cast<uint64_t>(TRY(ReadStreamCount(args.Bytes())));
    } else if (args.More() && EqualsIgnoreCase(word, "maxcount")) {
      request.most_count = TRY(ReadPositive(args.Bytes(), kMostCount));
    } else if (args.More() && EqualsIgnoreCase(word, "maxsize")) {
      request.most_bytes = TRY(ReadPositive(args.Bytes(), kMostSize));
    } else if (args.More() && EqualsIgnoreCase(word, "claim")) {
      if (!as_group) return Status::Reply(kClaimOfXRead);
      request.min_idle_ms = TRY(ReadMinIdle(args.Bytes()));
    } else if (args.More() && EqualsIgnoreCase(word, kStreams)) {
      request.first_key = args.position();
      if (args.left() % 2 != 0) return Unbalanced(as_group);
      request.streams = args.left() / 2;
    } else if (args.left() >= 2 && EqualsIgnoreCase(word, "group")) {
      if (!as_group) return Status::Reply(kGroupOfXRead);
      request.group = args.Bytes();
      request.consumer = args.Bytes();
    } else if (EqualsIgnoreCase(word, "noack")) {
      if (!as_group) return Status::Reply(kNoAckOfXRead);
      request.no_ack = true;
    } else {
      return Status::Reply(errors::kSyntax);
    }
  }
  if (request.first_key == 0) return Status::Reply(errors::kSyntax);
  if (as_group && !request.group) return Status::Reply(kNoGroup);
  if (request.most_count && *request.most_count < request.count) return Status::Reply(kMostBelowCount);
  return request;
}

bool FindStreamKeys(std::span<const std::string_view> argv, std::vector<KeyUse>& uses) {
  size_t first = 0;
  WalkOptions(argv, 1, kOptions, [&first](std::string_view word, size_t at) {
    if (word == kStreams) first = at + 1;
    return first == 0;
  });
  if (first == 0 || first == argv.size()) return false;
  const size_t streams = (argv.size() - first) / 2;
  for (size_t i = 0; i < streams; ++i) uses.push_back({static_cast<uint32_t>(first + i), kRO | kAccess});
  return streams > 0;
}

void StreamsReply::Begin(std::string_view name) {
  if (reply_.protocol() == 2) reply_.Array(2);
  reply_.Bulk(name);
  stream_mark_ = reply_.Later();
  ++streams_;
}

void StreamsReply::End() {
  reply_.FinishArray(stream_mark_, of_stream_);
  of_stream_ = 0;
}

bool StreamsReply::HasRoomInAll() const {
  if (request_.most_count && of_all_ >= *request_.most_count) return false;
  return !request_.most_bytes || of_all_ == 0 || reply_.size() - start_ < *request_.most_bytes;
}

uint64_t StreamsReply::most() const {
  if (!HasRoomInAll()) return 0;
  const uint64_t of_stream = request_.count == 0 ? UINT64_MAX : request_.count - of_stream_;
  const uint64_t of_all = request_.most_count ? *request_.most_count - of_all_ : UINT64_MAX;
  return std::min(of_stream, of_all);
}

bool StreamsReply::Finish() {
  if (streams_ == 0) return false;
  if (reply_.protocol() == 2) {
    reply_.FinishArray(mark_, streams_);
  } else {
    reply_.FinishMap(mark_, streams_);
  }
  return true;
}

}  // namespace cairn
