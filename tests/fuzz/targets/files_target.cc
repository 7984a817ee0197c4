// SPDX-License-Identifier: BSD-3-Clause
//
// Files: the lines and the content of a transfer in files between two servers.
//
// Input: the kind of frame, then its bytes.
#include "base/assert.h"
#include "fuzz/targets/target.h"
#include "replication/file_transfer.h"

namespace cairn {
namespace {

enum Frame : uint8_t { kOffer, kHead, kLine, kContent, kFrameCount };

// The frame as it is encoded after it was decoded; empty: it is not valid.
std::string Recoded(Frame frame, std::string_view bytes) {
  switch (frame) {
    case kOffer: {
      const auto offer = ParseFilesOffer(bytes);
      return offer ? EncodeFilesOffer(*offer) : "";
    }
    case kHead: {
      const auto head = ParseFilesHead(bytes);
      return head.ok() ? EncodeFilesHead(*head) : "";
    }
    case kLine: {
      const auto line = ParseFileLine(bytes);
      return line.ok() ? EncodeFileLine(*line) : "";
    }
    default: {
      const auto content = DecodeFilesContent(bytes);
      return content.ok() ? EncodeFilesContent(*content) : "";
    }
  }
}

void Run(std::string_view input) {
  const auto frame = static_cast<Frame>(TakeChoice(input) % kFrameCount);
  const std::string encoded = Recoded(frame, input);
  if (encoded.empty()) return;
  ASSERT(Recoded(frame, encoded) == encoded, "an encoded frame is decoded to the same");
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  const std::string id = "0123456789abcdef0123456789abcdef01234567";
  FilesContent content;
  content.rows.databases = {{256, 300}, {257, 0}};
  content.rows.collections_end = 5;
  content.selected_db = 1;
  content.functions = {"#!lua"};
  return {Chosen(kOffer, EncodeFilesOffer({.format = 2, .databases = 16, .free = {17, 1048577}, .has = {id, 3, 4096}})),
          Chosen(kHead, EncodeFilesHead({.first = {256, 16777216}, .from = {id, 1, 2}})),
          Chosen(kLine, EncodeFileLine({.space = Space::kScores, .size = 123, .checksum = 0xabc, .total = 9})),
          Chosen(kLine, EncodeFileLine({.is_end = true, .size = 9, .checksum = ~uint64_t{0}, .total = 1000})),
          Chosen(kContent, EncodeFilesContent(content))};
}

}  // namespace

const FuzzTarget kFilesTarget = {
    .name = "files", .make = Make, .seeds = Seeds, .covers = "src/replication/file_transfer"};

}  // namespace cairn
