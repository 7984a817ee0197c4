// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged messages of the cluster bus: whatever a peer sends, decoding ends with a message or with an error that names
// a field, and reads no byte outside of it (tests/sanitize/run address).
#include "fuzz/damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bus/checked_decoding.h"
#include "bus/message_file.h"
#include "bus/message_layout.h"
#include "bus/message_reader.h"

namespace cairn {
namespace {

constexpr size_t kSlotsStart = 80;  // of the header's bitmap, which has most of the bytes and no meaning to damage
constexpr size_t kSlotsEnd = kSlotsStart + SlotSet::kBytes;
constexpr size_t kLimit = 1 << 20;
constexpr int kRounds = 40000;

// Writes the size of the message into its header, so that the decoder reads further.
void FixLength(std::string& bytes) {
  for (size_t i = 0; i < 4 && bytes.size() >= 8; ++i) bytes[4 + i] = static_cast<char>(bytes.size() >> 8 * (3 - i));
}

// Returns whether the message decoded.
bool CheckDecoding(std::string_view bytes) {
  const Decoding decoding = DecodeAndCheck(bytes);
  EXPECT_EQ(decoding.error, "") << ToHex(bytes);
  return decoding.is_message;
}

TEST(DamagedMessageTest, DecodesOrNamesTheField) {
  const std::vector<std::string> corpus = GoldenBytes();
  ASSERT_FALSE(corpus.empty());
  std::vector<std::string> without_slots = corpus;
  for (std::string& bytes : without_slots) bytes.erase(kSlotsStart, SlotSet::kBytes);
  Random random(20261127);
  Damage damage(random, without_slots);
  int decoded = 0;
  for (int round = 0; round < kRounds; ++round) {
    const size_t chosen = random.Below(corpus.size());
    std::string bytes = without_slots[chosen];
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) damage.Apply(bytes);
    if (bytes.size() >= kSlotsStart) {
      bytes.insert(kSlotsStart, corpus[chosen], kSlotsStart, kSlotsEnd - kSlotsStart);
    }
    if (random.Below(4) != 0) FixLength(bytes);
    decoded += CheckDecoding(bytes) ? 1 : 0;
  }
  // Both outcomes are frequent: neither does nearly all damage fail at the first field, nor is it mostly harmless.
  EXPECT_GT(decoded, kRounds / 20);
  EXPECT_LT(decoded, kRounds / 2);
}

TEST(DamagedMessageTest, RandomBytesBehindAHeaderDecodeOrNameTheField) {
  Random random(20261128);
  const std::vector<std::string> corpus = GoldenBytes();
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = corpus[random.Below(corpus.size())].substr(0, kMessageHeaderSize);
    bytes[13] = static_cast<char>(random.Below(kMessageTypeCount));
    for (uint64_t left = random.Below(400); left > 0; --left) bytes.push_back(static_cast<char>(random.Next()));
    FixLength(bytes);
    CheckDecoding(bytes);
  }
}

TEST(DamagedMessageTest, AStreamIsCutIntoMessagesOrRefused) {
  const std::vector<std::string> corpus = GoldenBytes();
  Random random(20261129);
  Damage damage(random, corpus);
  for (int round = 0; round < kRounds / 10; ++round) {
    std::string stream;
    for (int i = 0; i < 3; ++i) stream += corpus[random.Below(corpus.size())];
    damage.Apply(stream);
    std::string_view buffer = stream;
    for (;;) {
      const size_t before = buffer.size();
      const Result<std::optional<std::string_view>> message = TakeMessage(buffer, kLimit);
      if (!message.ok() || !message->has_value()) {
        EXPECT_EQ(buffer.size(), before);
        break;
      }
      EXPECT_GE((*message)->size(), kMessageHeaderSize);
      EXPECT_EQ((*message)->size() + buffer.size(), before);
      CheckDecoding(**message);
    }
  }
}

}  // namespace
}  // namespace cairn
