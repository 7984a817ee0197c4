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

std::vector<GoldenDecoder> Decoders() {
  std::vector<GoldenDecoder> decoders;
  for (const auto& [format, decoder] : GoldenDecoders()) decoders.push_back(decoder);
  decoders.emplace_back(DecodeStreamId);
  return decoders;
}

void Run(const GoldenDecoder& decode, std::string_view bytes) {
  const Result<Meaning> meaning = decode(bytes);
  if (!meaning.ok()) return;
  // A row contains a hash of its key, which damage may have changed: the encoder writes the right one.
  const Result<Meaning> again = decode(meaning->encoded);
  ASSERT(again.ok(), "encoded bytes are valid");
  const Result<Meaning> twice = decode(again->encoded);
  ASSERT(again->encoded == meaning->encoded && twice.ok() && twice->text == again->text, "encoded bytes are the same");
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
