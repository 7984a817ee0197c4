// SPDX-License-Identifier: BSD-3-Clause
#include "types/bloom.h"

#include <utility>

#include "base/assert.h"

namespace cairn {
namespace {

// The error rate of a link, as a part of that of the link before.
constexpr double kTightening = 0.5;
// Of the command's work budget.
constexpr uint64_t kBitsPerStep = 64;
constexpr uint64_t kLinksPerStep = 16;

}  // namespace

Status Bloom::Open() { return Open(TRY(keys_.Find(key_))); }

Status Bloom::Open(KeyEntry entry) {
  if (entry.exists() && entry.type() != Type::kBloom) return Status::Reply(kWrongType);
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  std::string_view rest = TRY(bytes_.Open(entry_));
  chain_ = TRY(BloomChain::Decode(rest));
  return bytes_.SetBody(rest, chain_.bytes());
}

Status Bloom::Create(BloomChain chain) {
  ASSERT(!exists() && !chain.links.empty(), "a filter is created once, with a link");
  chain_ = std::move(chain);
  return bytes_.Create(chain_.bytes());
}

Result<bool> Bloom::HasAllBits(const BloomLink& link, uint64_t begin, const BloomHash& hash) const {
  uint32_t found = 0;
  for (; found < link.hashes; ++found) {
    const uint64_t bit = hash.Bit(found, link);
    if (!(TRY(bytes_.ByteAt(begin + bit / 8)) & 1 << bit % 8)) break;
  }
  TRY(keys_.txn().command().Spend(found / kBitsPerStep));
  return found == link.hashes;
}

// Looks at the newest link first, which is the largest.
Result<bool> Bloom::Contains(const BloomHash& hash) const {
  TRY(keys_.txn().command().Spend(1 + chain_.links.size() / kLinksPerStep));
  uint64_t begin = bytes_.length();
  for (auto link = chain_.links.rbegin(); link != chain_.links.rend(); ++link) {
    begin -= link->bytes;
    if (TRY(HasAllBits(*link, begin, hash))) return true;
  }
  return false;
}

Result<bool> Bloom::Contains(std::string_view item) const { return Contains(HashBloomItem(item, chain_.options)); }

Result<BloomAdded> Bloom::MakeRoom() {
  const BloomLink& last = chain_.links.back();
  if (chain_.size == UINT64_MAX) return BloomAdded::kTooLarge;  // of a damaged or forged dump
  if (last.size < last.entries) return BloomAdded::kNew;
  if (chain_.options & kBloomFixedSize) return BloomAdded::kFull;
  if (chain_.growth != 0 && last.entries > UINT64_MAX / chain_.growth) return BloomAdded::kTooLarge;
  const Result<BloomLink> next = MakeBloomLink(last.entries * chain_.growth, last.error * kTightening, chain_.options);
  if (!next.ok() || next->bytes > FilterBytes::kMostBytes - bytes_.length()) return BloomAdded::kTooLarge;
  chain_.links.push_back(*next);
  TRY(bytes_.Grow(chain_.bytes()));
  return BloomAdded::kNew;
}

Result<BloomAdded> Bloom::Add(std::string_view item) {
  const BloomHash hash = HashBloomItem(item, chain_.options);
  if (TRY(Contains(hash))) return BloomAdded::kPresent;
  if (const BloomAdded room = TRY(MakeRoom()); room != BloomAdded::kNew) return room;
  BloomLink& link = chain_.links.back();
  const uint64_t begin = bytes_.length() - link.bytes;
  TRY(keys_.txn().command().Spend(link.hashes / kBitsPerStep));
  for (uint32_t i = 0; i < link.hashes; ++i) {
    const uint64_t bit = hash.Bit(i, link);
    *TRY(bytes_.Edit(begin + bit / 8)) |= static_cast<char>(1u << bit % 8);
  }
  ++link.size;
  ++chain_.size;
  return BloomAdded::kNew;
}

Status Bloom::Save() { return bytes_.Save(entry_, Type::kBloom, chain_.Encode()); }

}  // namespace cairn
