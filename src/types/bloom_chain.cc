// SPDX-License-Identifier: BSD-3-Clause
#include "types/bloom_chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/murmur.h"
#include "encoding/varint.h"
#include "types/filter_bytes.h"

namespace cairn {
namespace {

constexpr double kLn2 = 0.693147180559945;
constexpr double kLn2Squared = 0.480453013918201;
constexpr uint64_t kSeed64 = 0xc6a4a7935bd1e995;
constexpr uint32_t kSeed32 = 0x9747b28c;
constexpr uint32_t kAllOptions = kBloomExactBits | kBloomEntriesAreBits | kBloomHash64 | kBloomFixedSize;
constexpr uint8_t kMostLog2Bits = 63;
// The smallest double above zero needs 1,075; a header with more would make every command slow.
constexpr uint32_t kMostHashes = 4096;

// Each link has half the error rate of the one before. A double below 1 can be halved 1,074 times before it is 0.
constexpr uint64_t kMostLinks = 1075;

constexpr uint64_t kChainMemory = 32;
constexpr uint64_t kLinkMemory = 64;
constexpr size_t kDumpedChainBytes = 20;
constexpr size_t kDumpedLinkBytes = 53;

constexpr std::string_view kInvalid = "ERR could not create filter";
constexpr std::string_view kTooLarge = "ERR Insufficient memory to create filter";
constexpr std::string_view kBadDump = "ERR received bad data";

Status Damaged() { return Status::Corruption("bloom filter: the header is damaged"); }

double HashesFor(double bits_per_entry) { return std::ceil(kLn2 * bits_per_entry); }

// Rounds the bits up to a power of two, and adds the entries that the additional bits have room for.
void RoundUp(BloomLink& link, double wanted_bits) {
  link.log2_bits = static_cast<uint8_t>(std::logb(wanted_bits) + 1);
  const uint64_t spare = static_cast<uint64_t>(static_cast<double>(uint64_t{1} << link.log2_bits) - wanted_bits);
  link.entries += static_cast<uint64_t>(static_cast<double>(spare) / link.bits_per_entry);
}

bool IsSound(const BloomLink& link) {
  return link.error > 0 && link.error < 1 && link.log2_bits <= kMostLog2Bits && link.bytes > 0 &&
         link.bytes <= FilterBytes::kMostBytes && link.hashes <= kMostHashes &&
         HashesFor(link.bits_per_entry) == static_cast<double>(link.hashes) &&
         (link.log2_bits == 0 || link.bits() >= uint64_t{1} << link.log2_bits);
}

bool IsSound(const BloomChain& chain) {
  if (chain.options & ~kAllOptions || chain.links.empty()) return false;
  uint64_t size = 0;
  uint64_t bytes = 0;
  for (const BloomLink& link : chain.links) {
    if (!IsSound(link) || link.size > UINT64_MAX - size) return false;
    size += link.size;
    bytes += link.bytes;
    if (bytes > FilterBytes::kMostBytes) return false;
  }
  return size == chain.size;
}

template <typename Number>
void AppendLittle(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Number>
Number TakeLittle(std::string_view& in) {
  Number value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

bool ReadDouble(std::string_view& in, double& value) {
  uint64_t bits;
  if (!ReadU64(in, bits)) return false;
  value = std::bit_cast<double>(bits);
  return true;
}

bool ReadNumber(std::string_view& in, uint32_t& value) {
  uint64_t wide;
  if (!ReadVarint(in, wide) || wide > UINT32_MAX) return false;
  value = static_cast<uint32_t>(wide);
  return true;
}

bool ReadLink(std::string_view& in, BloomLink& link) {
  if (!ReadVarint(in, link.entries) || !ReadVarint(in, link.size) || !ReadDouble(in, link.error) ||
      !ReadDouble(in, link.bits_per_entry) || !ReadNumber(in, link.hashes) || !ReadVarint(in, link.bytes) ||
      in.empty()) {
    return false;
  }
  link.log2_bits = static_cast<uint8_t>(in[0]);
  in.remove_prefix(1);
  return true;
}

}  // namespace

Result<BloomLink> MakeBloomLink(uint64_t entries, double error, uint32_t options) {
  if (entries == 0 || !(error > 0 && error < 1)) return Status::Reply(kInvalid);
  BloomLink link{.entries = entries, .error = error, .bits_per_entry = std::fabs(std::log(error) / kLn2Squared)};
  double bits = static_cast<double>(entries) * link.bits_per_entry;
  if (options & kBloomEntriesAreBits) {
    if (entries > kMostLog2Bits) return Status::Reply(kInvalid);
    link.log2_bits = static_cast<uint8_t>(entries);
    bits = std::exp2(static_cast<double>(entries));
    link.entries = static_cast<uint64_t>(bits / link.bits_per_entry);
  } else if (bits >= static_cast<double>(FilterBytes::kMostBytes) * 8) {
    return Status::Reply(kTooLarge);
  } else if (!(options & kBloomExactBits)) {
    RoundUp(link, bits);
    bits = std::exp2(link.log2_bits);
  }
  if (bits > static_cast<double>(FilterBytes::kMostBytes) * 8) return Status::Reply(kTooLarge);
  const uint64_t whole_bits = std::max<uint64_t>(static_cast<uint64_t>(bits), 1);
  link.bytes = (whole_bits + 63) / 64 * 8;
  link.hashes = static_cast<uint32_t>(HashesFor(link.bits_per_entry));
  return link;
}

uint64_t BloomChain::bytes() const {
  uint64_t bytes = 0;
  for (const BloomLink& link : links) bytes += link.bytes;
  return bytes;
}

uint64_t BloomChain::capacity() const {
  uint64_t entries = 0;
  for (const BloomLink& link : links) entries += link.entries;
  return entries;
}

uint64_t BloomChain::memory_bytes() const { return kChainMemory + kLinkMemory * links.size() + bytes(); }

std::string BloomChain::Encode() const {
  std::string out;
  AppendVarint(out, size);
  AppendVarint(out, options);
  AppendVarint(out, growth);
  AppendVarint(out, links.size());
  for (const BloomLink& link : links) {
    AppendVarint(out, link.entries);
    AppendVarint(out, link.size);
    AppendU64(out, std::bit_cast<uint64_t>(link.error));
    AppendU64(out, std::bit_cast<uint64_t>(link.bits_per_entry));
    AppendVarint(out, link.hashes);
    AppendVarint(out, link.bytes);
    out.push_back(static_cast<char>(link.log2_bits));
  }
  return out;
}

Result<BloomChain> BloomChain::Decode(std::string_view& in) {
  BloomChain chain;
  uint64_t count;
  if (!ReadVarint(in, chain.size) || !ReadNumber(in, chain.options) || !ReadNumber(in, chain.growth) ||
      !ReadVarint(in, count) || count > kMostLinks) {
    return Damaged();
  }
  chain.links.resize(count);
  for (BloomLink& link : chain.links) {
    if (!ReadLink(in, link)) return Damaged();
  }
  if (!IsSound(chain)) return Damaged();
  return chain;
}

std::string BloomChain::EncodeDump() const {
  std::string out;
  AppendLittle<uint64_t>(out, size);
  AppendLittle<uint32_t>(out, static_cast<uint32_t>(links.size()));
  AppendLittle<uint32_t>(out, options);
  AppendLittle<uint32_t>(out, growth);
  for (const BloomLink& link : links) {
    AppendLittle<uint64_t>(out, link.bytes);
    AppendLittle<uint64_t>(out, link.bits());
    AppendLittle<uint64_t>(out, link.size);
    AppendLittle<double>(out, link.error);
    AppendLittle<double>(out, link.bits_per_entry);
    AppendLittle<uint32_t>(out, link.hashes);
    AppendLittle<uint64_t>(out, link.entries);
    AppendLittle<uint8_t>(out, link.log2_bits);
  }
  return out;
}

Result<BloomChain> BloomChain::DecodeDump(std::string_view bytes) {
  if (bytes.size() < kDumpedChainBytes) return Status::Reply(kBadDump);
  BloomChain chain;
  chain.size = TakeLittle<uint64_t>(bytes);
  const uint64_t count = TakeLittle<uint32_t>(bytes);
  chain.options = TakeLittle<uint32_t>(bytes);
  chain.growth = TakeLittle<uint32_t>(bytes);
  if (count > kMostLinks || bytes.size() != count * kDumpedLinkBytes) return Status::Reply(kBadDump);
  chain.links.resize(count);
  for (BloomLink& link : chain.links) {
    link.bytes = TakeLittle<uint64_t>(bytes);
    const uint64_t bits = TakeLittle<uint64_t>(bytes);
    link.size = TakeLittle<uint64_t>(bytes);
    link.error = TakeLittle<double>(bytes);
    link.bits_per_entry = TakeLittle<double>(bytes);
    link.hashes = TakeLittle<uint32_t>(bytes);
    link.entries = TakeLittle<uint64_t>(bytes);
    link.log2_bits = TakeLittle<uint8_t>(bytes);
    if (bits != link.bits()) return Status::Reply(kBadDump);
  }
  if (!IsSound(chain)) return Status::Reply(kBadDump);
  return chain;
}

BloomHash HashBloomItem(std::string_view item, uint32_t options) {
  if (options & kBloomHash64) {
    const uint64_t first = Murmur64(item, kSeed64);
    return {.first = first, .step = Murmur64(item, first)};
  }
  const uint32_t first = Murmur32(item, kSeed32);
  return {.first = first, .step = Murmur32(item, first)};
}

}  // namespace cairn
