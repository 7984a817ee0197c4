// SPDX-License-Identifier: BSD-3-Clause
//
// Bus: the messages of a Redis Cluster's bus.
//
// Input: the bytes of a connection. The length of its last message is corrected, so that damage reaches the decoder.
#include "base/assert.h"
#include "bus/checked_decoding.h"
#include "fuzz/targets/target.h"

namespace cairn {
namespace {

constexpr size_t kLimit = 1 << 20;
constexpr size_t kLengthAt = 4;  // u32 be

void CheckMessage(std::string_view bytes) {
  const Decoding decoding = DecodeAndCheck(bytes);
  ASSERT(decoding.error.empty(), decoding.error.c_str());
}

void Run(std::string_view input) {
  for (;;) {
    const size_t before = input.size();
    const auto message = TakeMessage(input, kLimit);
    if (!message.ok() || !message->has_value()) {
      ASSERT(input.size() == before, "no bytes are taken without a message");
      break;
    }
    ASSERT((*message)->size() + input.size() == before, "a message is taken from the front");
    CheckMessage(**message);
  }
  if (input.size() < kLengthAt + 4) return;
  std::string last(input);
  for (size_t i = 0; i < 4; ++i) last[kLengthAt + i] = static_cast<char>(last.size() >> 8 * (3 - i));
  CheckMessage(last);
}

std::function<void(std::string_view)> Make() { return Run; }

}  // namespace

const FuzzTarget kBusTarget = {
    .name = "bus", .make = Make, .seeds = GoldenBytes, .covers = "src/bus/", .most_bytes = 16384};

}  // namespace cairn
