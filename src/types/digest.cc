// SPDX-License-Identifier: BSD-3-Clause
#include "types/digest.h"

#include <vector>

#include "base/sha.h"
#include "types/value_types.h"

namespace cairn {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr size_t kKeysPerPage = 1000;

// Returns the names of up to kKeysPerPage live keys from `position` on. Advances `position`, to 0 at the end.
Result<std::vector<std::string>> ReadPage(Keyspace& keys, uint64_t& position) {
  std::vector<std::string> names;
  position = TRY(keys.Scan(position, [&](std::string_view key, const Record&) {
    names.emplace_back(key);
    return names.size() < kKeysPerPage;
  }));
  return names;
}

Status AddKeys(Digest& digest, Keyspace& keys, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Key key = keys.Name(name);
    KeyEntry entry = TRY(keys.Find(key, Access::kPeek));
    if (!entry.exists()) continue;
    Digest own;
    own.Mix(name);
    TRY(AddValue(own, keys, key, std::move(entry)));
    digest.XorOf(own);
  }
  return Ok();
}

}  // namespace

Digest::Bytes Digest::Hash(std::string_view bytes) { return Sha1(bytes); }

void Digest::XorBytes(const Bytes& bytes) {
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] ^= bytes[i];
}

void Digest::Xor(std::string_view bytes) { XorBytes(Hash(bytes)); }

void Digest::Mix(std::string_view bytes) {
  Xor(bytes);
  bytes_ = Hash({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
}

void Digest::MixNumber(uint32_t number) {
  const char bytes[] = {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
                        static_cast<char>(number >> 8), static_cast<char>(number)};
  Mix({bytes, sizeof bytes});
}

void Digest::XorOf(const Digest& other) {
  Xor({reinterpret_cast<const char*>(other.bytes_.data()), other.bytes_.size()});
}

std::string Digest::Hex() const {
  std::string hex;
  for (const unsigned char byte : bytes_) hex.append({kHexDigits[byte >> 4], kHexDigits[byte & 15]});
  return hex;
}

Status AddValue(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  const ValueType& type = ValueTypeOf(entry);
  const bool expires = entry.expire_ms() != kNoExpiry;
  digest.MixNumber(type.redis_number);
  TRY(type.add_to_digest(digest, keys, key, std::move(entry)));
  if (expires) digest.Xor("!!expire!!");
  return Ok();
}

Result<Digest> DigestOfDataset(Transaction& txn, int databases, const Limits& limits) {
  Digest digest;
  for (int db = 0; db < databases; ++db) {
    Keyspace keys(txn, db, limits);
    if (keys.Count() == 0) continue;
    digest.MixNumber(static_cast<uint32_t>(db));
    uint64_t position = 0;
    do {
      TRY(AddKeys(digest, keys, TRY(ReadPage(keys, position))));
    } while (position != 0);
  }
  return digest;
}

}  // namespace cairn
