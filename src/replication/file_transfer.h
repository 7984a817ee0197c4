// SPDX-License-Identifier: BSD-3-Clause
//
// What two Cairns say to one another for a first transfer in row files (storage/row_files.h; docs/format.md, section 9,
// has the bytes):
//
//   offer   a word behind REPLCONF capa, which Redis passes over: what the replica reads, which numbers are free there,
//           what it has of a transfer that broke off
//   head    the line in place of `$<size>` or `$EOF:<mark>` after +FULLRESYNC: which transfer it is, where it goes on
//   file    the line before each file's bytes
//   end     the line before the content: how the rows make a data set
//
// Thread: any; values. A decoder never trusts its input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "storage/row_files.h"

namespace cairn {

inline constexpr uint64_t kFileTransferVersion = 1;
inline constexpr std::string_view kNoTransfer = "-";

// How much of a transfer is there.
struct FilesPlace {
  std::string transfer = std::string(kNoTransfer);  // its id
  uint64_t files = 0;                               // whole ones
  uint64_t bytes = 0;                               // of the next
};

struct FilesOffer {
  uint64_t format = 0;     // of rows (storage/format.h)
  uint64_t databases = 0;  // of the replica
  RowNumbers free;
  FilesPlace has;
};
std::string EncodeFilesOffer(const FilesOffer& offer);
// None: it is no offer, or one of another version.
std::optional<FilesOffer> ParseFilesOffer(std::string_view word);

struct FilesHead {
  RowNumbers first;  // numbers of the rows
  FilesPlace from;
};
// Lines are without their ends.
std::string EncodeFilesHead(const FilesHead& head);
bool IsFilesHead(std::string_view line);
Result<FilesHead> ParseFilesHead(std::string_view line);

struct FileLine {
  bool is_end = false;  // of the content and not of a file
  Space space = Space::kKeys;
  uint64_t size = 0;
  uint64_t checksum = 0;
  uint64_t total = 0;  // bytes of all files; 0: not known yet
};
std::string EncodeFileLine(const FileLine& line);
Result<FileLine> ParseFileLine(std::string_view line);

// How the rows make a data set, and what of it is in no rows.
struct FilesContent {
  RowFilesContent rows;
  int selected_db = 0;  // at the offset of the transfer
  std::vector<std::string> functions;
};
std::string EncodeFilesContent(const FilesContent& content);
Result<FilesContent> DecodeFilesContent(std::string_view bytes);

}  // namespace cairn
