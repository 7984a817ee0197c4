// SPDX-License-Identifier: BSD-3-Clause
#include "replication/rdb_file_reader.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/number.h"
#include "base/words.h"
#include "rdb/rdb_file.h"
#include "replication/rdb_pieces.h"
#include "storage/store.h"
#include "types/rdb_value.h"

namespace cairn {
namespace {

constexpr uint64_t kMostTextBytes = std::numeric_limits<uint32_t>::max();
constexpr size_t kCommitRows = 1024;
constexpr size_t kCommitBytes = 1 << 20;
constexpr uint64_t kMostNamed = 10;  // how many empty keys the warnings name

// Opcodes within a module's aux data.
constexpr uint64_t kModuleEnd = 0;
constexpr uint64_t kModuleFloat = 3;
constexpr uint64_t kModuleDouble = 4;
constexpr uint64_t kModuleText = 5;

}  // namespace

RdbFileReader::RdbFileReader(Transaction& txn, RdbTarget target, RdbSource source)
    : txn_(txn), target_(std::move(target)), reader_(std::move(source), kMostTextBytes) {}

Result<std::string> RdbFileReader::ReadText() {
  RdbItems items;
  TRY(reader_.Text(items));
  return items[0].ToString();
}

// The magic names the dialect; the version in its last digits must be one of the dialect's.
Status RdbFileReader::ReadHead() {
  constexpr std::string_view kNotRdb = "it does not start like an RDB file";
  const std::string_view magic = TRY(reader_.Bytes(kRdbMagicBytes));
  const RdbDialect dialect = magic.starts_with(kValkeyMagic) ? RdbDialect::kValkey : RdbDialect::kRedis;
  const std::string_view name = dialect == RdbDialect::kValkey ? kValkeyMagic : kRdbMagic;
  if (!magic.starts_with(name)) return Status::Corruption(kNotRdb);
  const auto version = ParseUint64("1" + std::string(magic.substr(name.size())));  // "1": digits may begin with zeros
  const uint64_t base = dialect == RdbDialect::kValkey ? 1000 : 10000;
  if (!version || *version < base + kOldestRdbVersionRead || *version >= 2 * base) return Status::Corruption(kNotRdb);
  version_ = static_cast<int>(*version - base);
  if (RdbDialectOf(*version - base) != dialect || !IsReadRdbVersion(*version - base)) {
    return Status::Corruption(
        fmt::format("it has RDB version {} of {}; those up to {} of Redis and {} of Valkey are read", version_,
                    dialect == RdbDialect::kValkey ? "Valkey" : "Redis", kRdbVersionRead, kValkeyVersionRead));
  }
  reader_.set_dialect(dialect);
  return Ok();
}

Status RdbFileReader::ReadAux() {
  std::string name = TRY(ReadText());
  aux_[std::move(name)] = TRY(ReadText());
  return Ok();
}

// Reads a function in the form of Redis 7.0's release candidates: name and engine stand beside the code, not in it.
Status RdbFileReader::ReadPreviewFunction() {
  const std::string name = TRY(ReadText());
  const std::string engine = TRY(ReadText());
  if (TRY(reader_.Length()) != 0) TRY(ReadText());
  functions_.push_back("#!" + engine + " name=" + name + "\n" + TRY(ReadText()));
  return Ok();
}

Status RdbFileReader::ReadFieldNames() {
  const uint64_t number = TRY(reader_.Length());
  RdbReader::FieldNames names;
  for (uint64_t left = TRY(reader_.Length()); left > 0; --left) names.push_back(TRY(ReadText()));
  if (names.empty()) return Status::Corruption("a hash template without fields");
  if (!reader_.AddFieldNames(number, std::move(names))) return Status::Corruption("a hash template is there twice");
  return Ok();
}

Status RdbFileReader::PassModuleAux() {
  TRY(reader_.Length());  // the module's id
  TRY(PassModuleData());
  warnings_.emplace_back("module data was skipped: Cairn has no modules");
  return Ok();
}

Status RdbFileReader::PassKeyMetadata() {
  for (uint64_t left = TRY(reader_.Length()); left > 0; --left) {
    TRY(reader_.Bytes(4));  // the class
    TRY(PassModuleData());
  }
  reader_.NoteSkipped("metadata that modules attached to a key");
  return Ok();
}

Status RdbFileReader::PassModuleData() {
  for (;;) {
    const uint64_t opcode = TRY(reader_.Length());
    if (opcode == kModuleEnd) break;
    if (opcode == kModuleFloat) {
      TRY(reader_.Bytes(4));
    } else if (opcode == kModuleDouble) {
      TRY(reader_.Bytes(8));
    } else if (opcode == kModuleText) {
      TRY(ReadText());
    } else if (opcode < kModuleText) {
      TRY(reader_.Length());
    } else {
      return Status::Corruption("a module's data has an unknown opcode");
    }
  }
  return Ok();
}

Status RdbFileReader::PassLengths(int count) {
  for (int i = 0; i < count; ++i) TRY(reader_.Length());
  return Ok();
}

// Locks the stripe of one key at a time, and keeps it until the next commit. If another transaction holds the stripe,
// it commits first, so that two waiting transactions cannot deadlock.
Status RdbFileReader::LockFor(const Key& key) {
  const uint32_t stripes[] = {key.stripe()};
  txn_.BeginCommand(Lane::kSlow, WallMs(), false);
  Status locked = txn_.Lock(stripes);
  if (!locked.Is(Code::kWouldWait)) return locked;
  TRY(txn_.Commit(target_.commit));
  txn_.BeginCommand(Lane::kSlow, WallMs(), false);
  return txn_.Lock(stripes);
}

Status RdbFileReader::CommitIfLarge() {
  TRY(txn_.FinishCommand());
  if (txn_.batch().rows() < kCommitRows && txn_.batch().bytes() < kCommitBytes) return Ok();
  TRY(txn_.Commit(target_.commit));
  if (target_.on_progress) target_.on_progress(reader_.position());
  return Ok();
}

Status RdbFileReader::PassValue(RdbType type, uint64_t& count) {
  TRY(PassPieces(type, reader_));
  ++count;
  return Ok();
}

Status RdbFileReader::StorePieces(RdbType type, Keyspace& keys, const Key& key) {
  TRY(LockFor(key));
  TRY(keys.Remove(key, TRY(keys.Find(key, Access::kPeek))));
  TRY(CommitIfLarge());
  const PieceSteps steps{.begin = [&] { return LockFor(key); }, .end = [&] { return CommitIfLarge(); }};
  TRY(LoadPieces(type, reader_, keys, key, steps));
  return LockFor(key);
}

Result<bool> RdbFileReader::StoreValue(RdbType type, Keyspace& keys, const Key& key) {
  const bool in_pieces = ComesInPieces(type);
  if (in_pieces) {
    TRY(StorePieces(type, keys, key));
  } else {
    const RdbValue value = TRY(ReadRdbValue(type, reader_));
    if (value.IsOfNothing()) return false;
    TRY(LockFor(key));
    TRY(LoadRdbValue(keys, key, TRY(keys.Find(key, Access::kPeek)), value));
  }
  bool exists = true;
  if (in_pieces || ahead_.expire_ms != kNoExpiry) {
    const KeyEntry loaded = TRY(keys.Find(key, Access::kPeek));
    exists = loaded.exists();
    if (exists && ahead_.expire_ms != kNoExpiry) TRY(keys.SetExpiry(key, loaded, ahead_.expire_ms));
  }
  if (ahead_.idle_s >= 0) txn_.uses().SetIdle(key.row(), ahead_.idle_s, txn_.command().now_s());
  if (ahead_.frequency) txn_.uses().SetFrequency(key.row(), *ahead_.frequency, txn_.command().now_s());
  TRY(CommitIfLarge());
  return exists;
}

Status RdbFileReader::LoadKey(RdbType type) {
  const std::string name = TRY(ReadText());
  const bool is_live = target_.keeps_expired || ahead_.expire_ms == kNoExpiry || ahead_.expire_ms > WallMs();
  const bool is_wanted = !target_.wants || TRY(target_.wants(db_));
  Status stored;
  if (!is_wanted) {
    stored = PassValue(type, unwanted_);
  } else if (is_live) {
    Keyspace keys = target_.keyspace(db_);
    auto is_there = StoreValue(type, keys, keys.Name(name));
    if (is_there.ok()) ++(*is_there ? keys_ : empty_);
    if (is_there.ok() && !*is_there && empty_ <= kMostNamed) {
      warnings_.push_back("skipping empty key: " + ShowWord(name));
    }
    stored = std::move(is_there).TakeStatus();
  } else {
    stored = PassValue(type, expired_);
  }
  if (!stored.ok()) return Status::Error(stored.code(), fmt::format("key {}: {}", ShowWord(name), stored.text()));
  ahead_ = Ahead();
  return Ok();
}

// A record with an opcode that the dialects do not share, or a key.
Status RdbFileReader::LoadOther(uint8_t number) {
  const bool is_of_valkey = reader_.dialect() == RdbDialect::kValkey;
  switch (static_cast<RdbOpcode>(number)) {
    case RdbOpcode::kHashTemplate:
      if (is_of_valkey) return Status::Corruption("it contains commands (opcode 242), which Valkey has since 9.2");
      return ReadFieldNames();
    case RdbOpcode::kKeyMetadata:
      if (is_of_valkey) return Status::Corruption("it was written during the import of a cluster slot (opcode 243)");
      return PassKeyMetadata();
    default: break;
  }
  constexpr uint8_t kFirstOpcode = 0xe0;  // opcodes are assigned from 255 downwards, types from 0 upwards
  if (number >= kFirstOpcode) return Status::Corruption(fmt::format("unknown opcode {}", number));
  return LoadKey(RdbTypeOf(number, reader_.dialect()));
}

Status RdbFileReader::LoadRecord(uint8_t opcode, bool& at_end) {
  switch (static_cast<RdbOpcode>(opcode)) {
    case RdbOpcode::kAux: return ReadAux();
    case RdbOpcode::kFunction: functions_.push_back(TRY(ReadText())); return Ok();
    case RdbOpcode::kFunctionPreview: return ReadPreviewFunction();
    case RdbOpcode::kModuleAux: return PassModuleAux();
    case RdbOpcode::kIdle: ahead_.idle_s = static_cast<int64_t>(TRY(reader_.Length())); return Ok();
    case RdbOpcode::kFrequency: ahead_.frequency = TRY(reader_.Byte()); return Ok();
    case RdbOpcode::kResizeDb: return PassLengths(2);
    case RdbOpcode::kSlotInfo: return PassLengths(3);
    case RdbOpcode::kExpireMs: ahead_.expire_ms = TRY(reader_.Fixed64()); break;
    case RdbOpcode::kExpireS: {
      const std::string_view bytes = TRY(reader_.Bytes(4));
      ahead_.expire_ms = ByteReader(bytes).SignedLittle(4) * 1000;
      break;
    }
    case RdbOpcode::kSelectDb: {
      const uint64_t db = TRY(reader_.Length());
      if (db >= static_cast<uint64_t>(target_.databases)) {
        return Status::Corruption(fmt::format("it has keys in database {}; raise `databases` to load it", db));
      }
      db_ = static_cast<int>(db);
      return Ok();
    }
    case RdbOpcode::kEnd: at_end = true; return Ok();
    default: return LoadOther(opcode);
  }
  if (ahead_.expire_ms < 0) ahead_.expire_ms = 0;  // a time before 1970 has passed
  return Ok();
}

Status RdbFileReader::CheckEnd() {
  if (version_ < kFirstRdbVersionWithCrc) return Ok();
  const uint64_t expected = reader_.Checksum();
  const auto found = static_cast<uint64_t>(TRY(reader_.Fixed64()));
  if (!target_.checksum || found == 0 || found == expected) return Ok();
  return Status::Corruption("its checksum is wrong");
}

Status RdbFileReader::LoadRecords() {
  TRY(ReadHead());
  for (bool at_end = false; !at_end;) {
    TRY(LoadRecord(TRY(reader_.Byte()), at_end));
    reader_.Release();
  }
  TRY(CheckEnd());
  for (const auto& [what, count] : reader_.skipped()) {
    warnings_.push_back(fmt::format("skipped, because Cairn cannot keep it: {}, {} times", what, count));
  }
  if (unwanted_ > 0) warnings_.push_back("keys of other databases skipped: " + std::to_string(unwanted_));
  if (empty_ > 0) warnings_.push_back("empty keys skipped: " + std::to_string(empty_));
  TRY(txn_.Commit(target_.commit));
  if (target_.on_progress) target_.on_progress(reader_.position());
  return Ok();
}

Status RdbFileReader::Load() {
  Status status = LoadRecords();
  if (status.ok()) return status;
  txn_.AbandonCommand();
  txn_.Discard();
  return Status::Error(status.code(), fmt::format("RDB file, at byte {}: {}", reader_.position(), status.text()));
}

}  // namespace cairn
