// SPDX-License-Identifier: BSD-3-Clause
#include "server/digest.h"

#include <cstdio>
#include <vector>

#include "base/sha.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/stream.h"
#include "types/string.h"
#include "types/zset.h"

namespace cairn {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr size_t kKeysPerPage = 1000;

// Redis's numbers of types.
uint32_t TypeNumber(Type type) {
  switch (type) {
    case Type::kList: return 1;
    case Type::kSet: return 2;
    case Type::kZset: return 3;
    case Type::kHash: return 4;
    case Type::kStream: return 6;
    default: return 0;
  }
}

Status AddList(Digest& digest, Keyspace& keys, const Key& key) {
  List list(keys, key);
  TRY(list.Open());
  std::string scratch;
  return list.Visit(0, list.size(), [&](const Item& item) { digest.Mix(item.Text(scratch)); });
}

Status AddSet(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Set set(keys, key);
  TRY(set.Open(std::move(entry)));
  return set.ForEach([&](std::string_view member) -> Result<bool> {
    digest.Xor(member);
    return true;
  });
}

Status AddHash(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  cairn::Hash hash(keys, key);
  TRY(hash.Open(std::move(entry)));
  return hash.ForEach([&](std::string_view field, std::string_view value) -> Result<bool> {
    Digest pair;
    pair.Mix(field);
    pair.Mix(value);
    digest.XorOf(pair);
    return true;
  });
}

Status AddZset(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  Zset zset = TRY(Zset::Open(keys, key, std::move(entry)));
  return zset.ForEach([&](std::string_view member, double score) -> Result<bool> {
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%.17g", score);
    Digest pair;
    pair.Mix(member);
    pair.Mix(std::string_view(text, static_cast<size_t>(size)));
    digest.XorOf(pair);
    return true;
  });
}

Status AddStream(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  const Stream stream = TRY(Stream::Open(keys, key, std::move(entry)));
  std::string scratch;
  return stream.Visit({}, kLastStreamId, /*reverse=*/false,
                      [&](const StreamEntry& item) -> Result<bool> {
                        digest.Mix(std::to_string(item.id.ms) + "." + std::to_string(item.id.seq));
                        for (const auto& [field, value] : item.fields) {
                          digest.Mix(field.Text(scratch));
                          digest.Mix(value.Text(scratch));
                        }
                        return true;
                      });
}

// The names of up to kKeysPerPage live keys from `position` on; moves it, to 0 at the end.
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

Digest::Bytes Digest::Hash(std::string_view bytes) {
  return Sha1(bytes);
}

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
  for (const unsigned char byte : bytes_)
    hex.append({kHexDigits[byte >> 4], kHexDigits[byte & 15]});
  return hex;
}

Status AddValue(Digest& digest, Keyspace& keys, const Key& key, KeyEntry entry) {
  digest.MixNumber(TypeNumber(entry.type()));
  const bool expires = entry.expire_ms() != kNoExpiry;
  switch (entry.type()) {
    case Type::kString: digest.Mix(TRY(ReadText(keys, key, entry)).view()); break;
    case Type::kList: TRY(AddList(digest, keys, key)); break;
    case Type::kSet: TRY(AddSet(digest, keys, key, std::move(entry))); break;
    case Type::kZset: TRY(AddZset(digest, keys, key, std::move(entry))); break;
    case Type::kHash: TRY(AddHash(digest, keys, key, std::move(entry))); break;
    case Type::kStream: TRY(AddStream(digest, keys, key, std::move(entry))); break;
    default: return Status::Corruption("the key's type has no digest");
  }
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
