// SPDX-License-Identifier: BSD-3-Clause
#include "encoding/golden_decoders.h"

#include <algorithm>
#include <vector>

#include "base/number.h"
#include "encoding/golden_file.h"
#include "encoding/log_entry.h"
#include "encoding/ordered.h"
#include "encoding/packed.h"
#include "encoding/record.h"
#include "encoding/row_key.h"
#include "encoding/varint.h"
#include "resp/request_parser.h"

namespace cairn {
namespace {

std::string Quote(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\' || c < 0x20 || c > 0x7e) {
      text += "\\x" + ToHex({&c, 1});
    } else {
      text.push_back(c);
    }
  }
  return text + '"';
}

std::string Show(const Item& item) { return item.is_integer() ? item.ToString() : Quote(item.bytes()); }

Status TooShort() { return Status::Corruption("too short"); }

Result<Meaning> DecodeVarint(std::string_view bytes) {
  uint64_t value;
  if (!ReadVarint(bytes, value) || !bytes.empty()) return TooShort();
  Meaning meaning{.text = "varint " + std::to_string(value)};
  AppendVarint(meaning.encoded, value);
  return meaning;
}

Result<Meaning> DecodeZigZag(std::string_view bytes) {
  uint64_t value;
  if (!ReadVarint(bytes, value) || !bytes.empty()) return TooShort();
  Meaning meaning{.text = "zigzag " + std::to_string(UnZigZag(value))};
  AppendVarint(meaning.encoded, ZigZag(UnZigZag(value)));
  return meaning;
}

Result<Meaning> DecodeOrderedDouble(std::string_view bytes) {
  uint64_t ordered;
  if (!ReadU64(bytes, ordered)) return TooShort();
  const double value = DoubleFromOrdered(ordered);
  Meaning meaning{.text = "ordered_double " + FormatDouble(value)};
  AppendU64(meaning.encoded, OrderedFromDouble(value));
  return meaning;
}

Result<Meaning> DecodeOrderedInteger(std::string_view bytes) {
  uint64_t ordered;
  if (!ReadU64(bytes, ordered)) return TooShort();
  const int64_t value = Int64FromOrdered(ordered);
  Meaning meaning{.text = "ordered_integer " + std::to_string(value)};
  AppendU64(meaning.encoded, OrderedFromInt64(value));
  return meaning;
}

// Decodes lists, sets and, with `pairs`, hashes.
Result<Meaning> DecodeItems(std::string_view bytes, bool pairs) {
  PackedReader reader(bytes);
  Meaning meaning;
  AppendVarint(meaning.encoded, reader.count());
  Item item;
  while (reader.Next(item)) {
    meaning.text += ' ' + Show(item);
    AppendItem(meaning.encoded, item.ToString());
    if (!pairs || !reader.Next(item)) continue;
    meaning.text += '=' + Show(item);
    AppendItem(meaning.encoded, item.ToString());
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  return meaning;
}

Result<Meaning> DecodeList(std::string_view bytes) {
  Meaning meaning = TRY(DecodeItems(bytes, false));
  meaning.text.insert(0, "packed_list");
  return meaning;
}

Result<Meaning> DecodeSet(std::string_view bytes) {
  Meaning meaning = TRY(DecodeItems(bytes, false));
  meaning.text.insert(0, "packed_set");
  return meaning;
}

Result<Meaning> DecodeHash(std::string_view bytes) {
  Meaning meaning = TRY(DecodeItems(bytes, true));
  meaning.text.insert(0, "packed_hash");
  return meaning;
}

Result<Meaning> DecodeZset(std::string_view bytes) {
  PackedReader reader(bytes);
  Meaning meaning{.text = "packed_zset"};
  AppendVarint(meaning.encoded, reader.count());
  Item item;
  double score;
  while (reader.Next(item) && reader.NextScore(score)) {
    meaning.text += ' ' + Show(item) + '=' + FormatDouble(score);
    AppendItem(meaning.encoded, item.ToString());
    AppendScore(meaning.encoded, score);
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  return meaning;
}

Result<Meaning> DecodeIntegers(std::string_view bytes) {
  PackedIntegersReader reader(bytes);
  PackedIntegersWriter writer(reader.count());
  Meaning meaning{.text = "packed_integers"};
  int64_t value;
  while (reader.Next(value)) {
    meaning.text += ' ' + std::to_string(value);
    writer.Add(value);
  }
  if (!reader.status().ok()) return Status::Corruption(reader.status().text());
  meaning.encoded = writer.Take();
  return meaning;
}

Result<Meaning> DecodeRecordHeader(std::string_view bytes) {
  static constexpr const char* kTypes[] = {"none", "string", "list",   "set", "zset", "hash",   "stream",
                                           "json", "bloom",  "cuckoo", "cms", "topk", "tdigest"};
  static constexpr const char* kEncodings[] = {"raw", "integer", "packed", "integers", "spread"};
  const Record record = TRY(DecodeRecord(bytes));
  const RecordHeader& header = record.header;
  Meaning meaning{.text = std::string("record ") + kTypes[static_cast<int>(header.type)] + ' ' +
                          kEncodings[static_cast<int>(header.encoding)]};
  if (header.grown) meaning.text += " grown";
  if (header.expire_ms != kNoExpiry) meaning.text += " expire_ms=" + std::to_string(header.expire_ms);
  if (header.fields_expire_ms != kNoExpiry)
    meaning.text += " fields_expire_ms=" + std::to_string(header.fields_expire_ms);
  AppendRecordHeader(meaning.encoded, header);
  if (header.encoding == Encoding::kSpread) {
    const SpreadPayload spread = TRY(DecodeSpreadPayload(record.payload));
    meaning.text +=
        " id=" + std::to_string(spread.id) + " count=" + std::to_string(spread.count) + " rest=" + ToHex(spread.rest);
    AppendSpreadPayload(meaning.encoded, spread.id, spread.count);
    meaning.encoded.append(spread.rest);
  } else {
    meaning.text += " payload=" + ToHex(record.payload);
    meaning.encoded.append(record.payload);
  }
  return meaning;
}

Result<Meaning> DecodeKeyRow(std::string_view bytes) {
  KeyRowParts parts;
  if (!ParseKeyRow(bytes, parts)) return TooShort();
  Meaning meaning{.text = "key_row keyspace=" + std::to_string(parts.keyspace) +
                          " slot=" + std::to_string(parts.position >> 32) + " key=" + Quote(parts.key)};
  meaning.encoded = MakeKeyRow(parts.keyspace, parts.key).row();
  return meaning;
}

Result<Meaning> DecodeElementRow(std::string_view bytes) {
  CollectionId id;
  uint32_t hash;
  std::string_view member;
  if (!ParseElementRow(bytes, id, hash, member)) return TooShort();
  Meaning meaning{.text = "element_row id=" + std::to_string(id) + " member=" + Quote(member)};
  meaning.encoded = MakeElementRow(id, member, 0).row();
  return meaning;
}

Result<Meaning> DecodeChunkRow(std::string_view bytes) {
  CollectionId id;
  int64_t seq;
  if (!ParseChunkRow(bytes, id, seq)) return TooShort();
  Meaning meaning{.text = "chunk_row id=" + std::to_string(id) + " seq=" + std::to_string(seq)};
  meaning.encoded = MakeChunkRow(id, seq, 0).row();
  return meaning;
}

Result<Meaning> DecodeScoreRow(std::string_view bytes) {
  CollectionId id;
  double score;
  std::string_view member;
  if (!ParseScoreRow(bytes, id, score, member)) return TooShort();
  Meaning meaning{.text = "score_row id=" + std::to_string(id) + " score=" + FormatDouble(score) +
                          " member=" + Quote(member)};
  meaning.encoded = MakeScoreRow(id, score, member, 0).row();
  return meaning;
}

Result<Meaning> DecodeExpiryRow(std::string_view bytes) {
  int64_t when_ms;
  std::string_view key_row;
  if (!ParseExpiryRow(bytes, when_ms, key_row)) return TooShort();
  Meaning meaning{.text = "expiry_row when_ms=" + std::to_string(when_ms) + " key_row=" + ToHex(key_row)};
  meaning.encoded = MakeExpiryRow(when_ms, key_row, 0).row();
  return meaning;
}

// Splits a RESP array of bulk strings.
Result<std::vector<std::string>> ReadCommand(std::string_view resp) {
  RequestParser parser;
  std::copy(resp.begin(), resp.end(), parser.Reserve(resp.size()));
  parser.Filled(resp.size());
  if (parser.Next({}) != RequestParser::Outcome::kRequest || parser.pending_bytes() > 0 || parser.argv().empty()) {
    return Status::Corruption("not one command");
  }
  return std::vector<std::string>(parser.argv().begin(), parser.argv().end());
}

Result<Meaning> DecodeLogEntries(std::string_view bytes) {
  LogEntryReader reader(bytes);
  Meaning meaning{.text = "log_entry"};
  LogEntry entry;
  while (TRY(reader.Next(entry))) {
    if (entry.kind == LogEntryKind::kStream) {
      meaning.text += " stream " + Quote(entry.command);
      AppendLogStream(meaning.encoded, entry.command);
      continue;
    }
    if (entry.kind != LogEntryKind::kCommand) {
      meaning.text += entry.kind == LogEntryKind::kBegin ? " begin" : " end";
      AppendLogMark(meaning.encoded, entry.kind);
      continue;
    }
    const std::vector<std::string> words = TRY(ReadCommand(entry.command));
    meaning.text += ' ' + std::to_string(entry.db) + ':';
    for (const std::string& word : words) meaning.text += (&word == &words[0] ? "" : ",") + Quote(word);
    const std::vector<std::string_view> argv(words.begin(), words.end());
    AppendLogCommand(meaning.encoded, static_cast<int>(entry.db), argv);
  }
  return meaning;
}

}  // namespace

const std::map<std::string, GoldenDecoder>& GoldenDecoders() {
  static const std::map<std::string, GoldenDecoder> kDecoders = {
      {"varint", DecodeVarint},
      {"zigzag", DecodeZigZag},
      {"ordered_double", DecodeOrderedDouble},
      {"ordered_integer", DecodeOrderedInteger},
      {"packed_list", DecodeList},
      {"packed_set", DecodeSet},
      {"packed_hash", DecodeHash},
      {"packed_zset", DecodeZset},
      {"packed_integers", DecodeIntegers},
      {"record", DecodeRecordHeader},
      {"key_row", DecodeKeyRow},
      {"element_row", DecodeElementRow},
      {"chunk_row", DecodeChunkRow},
      {"score_row", DecodeScoreRow},
      {"expiry_row", DecodeExpiryRow},
      {"log_entry", DecodeLogEntries},
  };
  return kDecoders;
}

}  // namespace cairn
