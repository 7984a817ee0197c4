// SPDX-License-Identifier: BSD-3-Clause
//
// Encoding: the formats on disk. What is decoded is encoded to bytes with the same meaning.
//
// Input: the number of the format, then bytes.
#include "base/assert.h"
#include "encoding/golden_decoders.h"
#include "encoding/golden_file.h"
#include "encoding/stream_id.h"
#include "fuzz/targets/target.h"

namespace cairn {
namespace {

// Ids of stream entries are parts of larger formats, so they have no golden bytes.
Result<Meaning> DecodeStreamId(std::string_view bytes) {
  StreamId id;
  if (!ReadStreamId(bytes, id)) return Status::Corruption("too short");
  Meaning meaning{.text = id.ToString()};
  ASSERT(ParseStreamId(meaning.text, 0) == id, "the text of an id is the id");
  const auto next = NextStreamId(id);
  ASSERT(!next || PreviousStreamId(*next) == id, "an id follows the one before it");
  AppendStreamId(meaning.encoded, id);
  return meaning;
}

struct Decoder {
  std::string format;
  GoldenDecoder decode;
};

std::vector<Decoder> Decoders() {
  std::vector<Decoder> decoders;
  for (const auto& [format, decode] : GoldenDecoders()) decoders.push_back({format, decode});
  decoders.push_back({"stream_id", DecodeStreamId});
  return decoders;
}

// What must be the same when the meaning is encoded. Damaged bytes may store an integer as its text, an ordered zero
// with a sign, and a key with the slot of another one: the encoder writes the right form.
std::string KeptPart(const Decoder& decoder, std::string text) {
  constexpr std::string_view kSlot = " slot=";
  std::erase(text, '"');
  for (const std::string_view zero : {"ordered_double -0", "score=-0 "}) {
    for (size_t at = 0; (at = text.find(zero, at)) != std::string::npos;) text.erase(at + zero.find('-'), 1);
  }
  if (decoder.format != "key_row") return text;
  const size_t slot = text.find(kSlot);
  return text.erase(slot, text.find(' ', slot + kSlot.size()) - slot);
}

void Run(const Decoder& decoder, std::string_view bytes) {
  const Result<Meaning> meaning = decoder.decode(bytes);
  if (!meaning.ok()) return;
  const Result<Meaning> again = decoder.decode(meaning->encoded);
  ASSERT(again.ok(), "encoded bytes are valid");
  ASSERT(KeptPart(decoder, again->text) == KeptPart(decoder, meaning->text), "encoded bytes have the same meaning");
  ASSERT(again->encoded == meaning->encoded, "a meaning has one encoding");
}

std::function<void(std::string_view)> Make() {
  return [decoders = Decoders()](std::string_view input) {
    const uint8_t choice = TakeChoice(input);
    Run(decoders[choice % decoders.size()], input);
  };
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const GoldenCase& golden : ReadGoldenFiles()) {
    const auto decoder = GoldenDecoders().find(golden.format);
    if (decoder == GoldenDecoders().end()) continue;
    seeds.push_back(Chosen(static_cast<size_t>(std::distance(GoldenDecoders().begin(), decoder)), golden.bytes));
  }
  seeds.push_back(Chosen(GoldenDecoders().size(), "\x05\x01"));
  return seeds;
}

}  // namespace

const FuzzTarget kEncodingTarget = {.name = "encoding", .make = Make, .seeds = Seeds, .covers = "src/encoding/"};

}  // namespace cairn
