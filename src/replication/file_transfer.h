// SPDX-License-Identifier: BSD-3-Clause
//
// The messages between two Cairns in a first transfer by row files (storage/row_files.h; docs/format.md, section 9, has
// the bytes):
//
//   offer   a word after REPLCONF capa, which Redis ignores: the format the replica reads, the numbers it has free, and
//           what it received of an interrupted transfer
//   head    the line in place of `$<size>` or `$EOF:<mark>` after +FULLRESYNC: the transfer's id, and where it resumes
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

// How much of a transfer was received.
struct FilesPlace {
  std::string transfer = std::string(kNoTransfer);  // the transfer's id
  uint64_t files = 0;                               // number of complete files
  uint64_t bytes = 0;                               // bytes of the next file
};

struct FilesOffer {
  uint64_t format = 0;     // version of the row format (storage/format.h)
  uint64_t databases = 0;  // number of databases of the replica
  RowNumbers free;
  FilesPlace has;
};
std::string EncodeFilesOffer(const FilesOffer& offer);
// None if the word is no offer, or an offer of another version.
std::optional<FilesOffer> ParseFilesOffer(std::string_view word);

struct FilesHead {
  RowNumbers first;  // the first keyspace and collection ids that the rows use
  FilesPlace from;
};
// These functions take and return lines without line ends.
std::string EncodeFilesHead(const FilesHead& head);
bool IsFilesHead(std::string_view line);
Result<FilesHead> ParseFilesHead(std::string_view line);

struct FileLine {
  bool is_end = false;  // the line announces the content, not a file
  Space space = Space::kKeys;
  uint64_t size = 0;
  uint64_t checksum = 0;
  uint64_t total = 0;  // bytes of all files; 0: not known yet
};
std::string EncodeFileLine(const FileLine& line);
Result<FileLine> ParseFileLine(std::string_view line);

// How the rows make a data set, and the parts of the data set that are not rows.
struct FilesContent {
  RowFilesContent rows;
  int selected_db = 0;  // the database selected at the transfer's offset
  std::vector<std::string> functions;
};
std::string EncodeFilesContent(const FilesContent& content);
Result<FilesContent> DecodeFilesContent(std::string_view bytes);

}  // namespace cairn
