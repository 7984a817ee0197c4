// SPDX-License-Identifier: BSD-3-Clause
#include "replication/file_transfer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

#include "base/number.h"
#include "encoding/varint.h"
#include "replication/history.h"

namespace cairn {
namespace {

constexpr std::string_view kOfferWord = "cairn-files";
constexpr std::string_view kHeadWord = "$CAIRN-FILES";
constexpr std::array<std::string_view, kSpaceCount> kSpaceNames = {"meta",   "keys",   "elements",
                                                                   "scores", "owners", "expiries"};
constexpr uint64_t kMostDatabases = 1 << 20;
constexpr size_t kChecksumDigits = 16;

// Splits `text` at each `mark`; empty unless there are exactly `count` parts.
std::vector<std::string_view> Split(std::string_view text, char mark, size_t count) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (parts.size() != count) parts.clear();
  return parts;
}

bool ReadNumber(std::string_view text, uint64_t most, uint64_t& number) {
  const auto parsed = ParseUint64(text);
  if (!parsed || *parsed > most) return false;
  number = *parsed;
  return true;
}

bool ReadNumbers(std::string_view keyspace, std::string_view collection, RowNumbers& numbers) {
  uint64_t number = 0;
  if (!ReadNumber(keyspace, std::numeric_limits<KeyspaceId>::max(), number)) return false;
  numbers.keyspace = static_cast<KeyspaceId>(number);
  return ReadNumber(collection, UINT64_MAX, numbers.collection);
}

bool IsTransferId(std::string_view id) {
  return id.size() == kReplicationIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool ReadPlace(std::string_view id, std::string_view files, std::string_view bytes, FilesPlace& place) {
  if (id != kNoTransfer && !IsTransferId(id)) return false;
  place.transfer = id;
  return ReadNumber(files, INT64_MAX, place.files) && ReadNumber(bytes, INT64_MAX, place.bytes);
}

void AddWord(std::string& line, char mark, std::string_view word) {
  line.push_back(mark);
  line.append(word);
}

void AddNumber(std::string& line, char mark, uint64_t number) { AddWord(line, mark, std::to_string(number)); }

Status NoSense(std::string_view line) { return Status::Io("unexpected line: " + std::string(line)); }

Status Damaged() { return Status::Corruption("the content of the transfer cannot be decoded"); }

}  // namespace

std::string EncodeFilesOffer(const FilesOffer& offer) {
  std::string word(kOfferWord);
  for (const uint64_t number :
       {kFileTransferVersion, offer.format, offer.databases, uint64_t{offer.free.keyspace}, offer.free.collection}) {
    AddNumber(word, ':', number);
  }
  AddWord(word, ':', offer.has.transfer);
  AddNumber(word, ':', offer.has.files);
  AddNumber(word, ':', offer.has.bytes);
  return word;
}

std::optional<FilesOffer> ParseFilesOffer(std::string_view word) {
  const std::vector<std::string_view> parts = Split(word, ':', 9);
  uint64_t version = 0;
  FilesOffer offer;
  const bool is_good = !parts.empty() && parts[0] == kOfferWord && ReadNumber(parts[1], UINT64_MAX, version) &&
                       version == kFileTransferVersion && ReadNumber(parts[2], UINT64_MAX, offer.format) &&
                       ReadNumber(parts[3], kMostDatabases, offer.databases) &&
                       ReadNumbers(parts[4], parts[5], offer.free) &&
                       ReadPlace(parts[6], parts[7], parts[8], offer.has);
  return is_good ? std::optional(std::move(offer)) : std::nullopt;
}

std::string EncodeFilesHead(const FilesHead& head) {
  std::string line(kHeadWord);
  AddNumber(line, ' ', kFileTransferVersion);
  AddWord(line, ' ', head.from.transfer);
  for (const uint64_t number :
       {uint64_t{head.first.keyspace}, head.first.collection, head.from.files, head.from.bytes}) {
    AddNumber(line, ' ', number);
  }
  return line;
}

bool IsFilesHead(std::string_view line) { return line.starts_with(kHeadWord); }

Result<FilesHead> ParseFilesHead(std::string_view line) {
  const std::vector<std::string_view> parts = Split(line, ' ', 7);
  uint64_t version = 0;
  FilesHead head;
  const bool is_good = !parts.empty() && parts[0] == kHeadWord && ReadNumber(parts[1], UINT64_MAX, version) &&
                       version == kFileTransferVersion && IsTransferId(parts[2]) &&
                       ReadPlace(parts[2], parts[5], parts[6], head.from) &&
                       ReadNumbers(parts[3], parts[4], head.first);
  if (!is_good) return NoSense(line);
  return head;
}

std::string EncodeFileLine(const FileLine& line) {
  std::string text = line.is_end ? "END" : "FILE";
  if (!line.is_end) AddWord(text, ' ', kSpaceNames[static_cast<size_t>(line.space)]);
  AddNumber(text, ' ', line.size);
  AddWord(text, ' ', fmt::format("{:0{}x}", line.checksum, kChecksumDigits));
  AddNumber(text, ' ', line.total);
  return text;
}

Result<FileLine> ParseFileLine(std::string_view text) {
  FileLine line;
  line.is_end = text.starts_with("END ");
  std::vector<std::string_view> parts = Split(text, ' ', line.is_end ? 4 : 5);
  if (parts.empty()) return NoSense(text);
  bool is_good = line.is_end || parts[0] == "FILE";
  if (!line.is_end) {
    size_t space = 1;  // rows of the space meta are not sent
    while (space < kSpaceCount && kSpaceNames[space] != parts[1]) ++space;
    is_good = is_good && space < kSpaceCount;
    line.space = static_cast<Space>(space);
    parts.erase(parts.begin());
  }
  const std::string_view digits = parts[2];
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line.checksum, 16);
  is_good = is_good && digits.size() == kChecksumDigits && error == std::errc() &&
            end == digits.data() + digits.size() && ReadNumber(parts[1], INT64_MAX, line.size) &&
            ReadNumber(parts[3], INT64_MAX, line.total);
  if (!is_good) return NoSense(text);
  return line;
}

std::string EncodeFilesContent(const FilesContent& content) {
  std::string bytes;
  AppendVarint(bytes, content.rows.databases.size());
  for (const RowFilesContent::Db& db : content.rows.databases) {
    AppendVarint(bytes, db.keyspace);
    AppendVarint(bytes, static_cast<uint64_t>(db.keys));
  }
  AppendVarint(bytes, content.rows.collections_end);
  AppendVarint(bytes, ZigZag(content.selected_db));
  AppendVarint(bytes, content.functions.size());
  for (const std::string& code : content.functions) {
    AppendVarint(bytes, code.size());
    bytes.append(code);
  }
  return bytes;
}

Result<FilesContent> DecodeFilesContent(std::string_view bytes) {
  FilesContent content;
  uint64_t count = 0;
  if (!ReadVarint(bytes, count) || count > kMostDatabases) return Damaged();
  for (uint64_t db = 0; db < count; ++db) {
    uint64_t keyspace = 0;
    uint64_t keys = 0;
    if (!ReadVarint(bytes, keyspace) || !ReadVarint(bytes, keys) || keys > INT64_MAX ||
        keyspace > std::numeric_limits<KeyspaceId>::max()) {
      return Damaged();
    }
    content.rows.databases.push_back({static_cast<KeyspaceId>(keyspace), static_cast<int64_t>(keys)});
  }
  uint64_t selected = 0;
  if (!ReadVarint(bytes, content.rows.collections_end) || !ReadVarint(bytes, selected) || !ReadVarint(bytes, count)) {
    return Damaged();
  }
  content.selected_db = static_cast<int>(UnZigZag(selected));
  for (; count > 0; --count) {
    uint64_t size = 0;
    if (!ReadVarint(bytes, size) || size > bytes.size()) return Damaged();
    content.functions.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  if (!bytes.empty()) return Damaged();
  return content;
}

}  // namespace cairn
