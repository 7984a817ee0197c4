// SPDX-License-Identifier: BSD-3-Clause
#include "types/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/murmur.h"
#include "base/number.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "HYLL";
constexpr size_t kEncodingAt = 4;
constexpr size_t kCountAt = 8;
constexpr size_t kHeaderBytes = 16;
constexpr char kDense = 0;
constexpr char kSparse = 1;
constexpr unsigned kRegisterBits = 6;
constexpr size_t kDenseBytes = kHeaderBytes + kHllRegisters * kRegisterBits / 8;

constexpr unsigned kIndexBits = 14;
constexpr unsigned kHashBits = 64 - kIndexBits;  // left for the run of zeros
constexpr uint64_t kSeed = 0xadc83b19;

constexpr uint8_t kMostSparseValue = 32;
constexpr size_t kMostZeros = 64;  // of a zero run; more take an xzero run
constexpr size_t kMostValues = 4;  // of a value run
constexpr int kRunsLookedAt = 5;   // how many runs are checked for joining after a change

constexpr uint8_t kXzeroBits = 0x40;
constexpr uint8_t kValueBits = 0x80;

uint8_t DenseRegister(std::string_view bytes, size_t index) {
  const size_t bit = index * kRegisterBits;
  const size_t at = kHeaderBytes + bit / 8;
  const unsigned low = static_cast<uint8_t>(bytes[at]);
  const unsigned high = at + 1 < bytes.size() ? static_cast<uint8_t>(bytes[at + 1]) : 0;
  return static_cast<uint8_t>((low | high << 8) >> (bit & 7) & 63);
}

void SetDenseRegister(std::string& bytes, size_t index, uint8_t value) {
  const size_t bit = index * kRegisterBits;
  const size_t at = kHeaderBytes + bit / 8;
  const unsigned mask = 63u << (bit & 7);
  const unsigned placed = static_cast<unsigned>(value) << (bit & 7);
  bytes[at] = static_cast<char>((static_cast<uint8_t>(bytes[at]) & ~mask) | placed);
  if (mask <= 0xff) return;
  char& next = bytes[at + 1];
  next = static_cast<char>((static_cast<uint8_t>(next) & ~(mask >> 8)) | placed >> 8);
}

void AppendZeros(std::string& out, size_t length) {
  if (length == 0) return;
  const size_t stored = length - 1;
  if (length > kMostZeros) out += static_cast<char>(kXzeroBits | stored >> 8);
  out += static_cast<char>(stored & 0xff);
}

void AppendValues(std::string& out, uint8_t value, size_t length) {
  if (length == 0) return;
  out += static_cast<char>(kValueBits | (value - 1u) << 2 | (length - 1));
}

// How often each value occurs among the registers. 64 entries: six bits hold more values than a hash can produce.
using Histogram = std::array<uint32_t, 64>;

// Ertl's sigma and tau: the contributions to the sum of the registers that are 0 and of those at their maximum.
double Sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double weight = 1;
  double sum = x;
  for (double before = -1; before != sum;) {
    x *= x;
    before = sum;
    sum += x * weight;
    weight += weight;
  }
  return sum;
}

double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double weight = 1;
  double sum = 1 - x;
  for (double before = -1; before != sum;) {
    x = std::sqrt(x);
    before = sum;
    weight *= 0.5;
    sum -= (1 - x) * (1 - x) * weight;
  }
  return sum / 3;
}

uint64_t Estimate(const Histogram& histogram) {
  constexpr double kAlpha = 0.721347520444481703680;  // 1 / (2 ln 2)
  constexpr double kCount = kHllRegisters;
  double sum = kCount * Tau((kCount - histogram[kHashBits + 1]) / kCount);
  for (size_t value = kHashBits; value >= 1; --value) sum = (sum + histogram[value]) * 0.5;
  sum += kCount * Sigma(histogram[0] / kCount);
  return static_cast<uint64_t>(std::llround(kAlpha * kCount * kCount / sum));
}

}  // namespace

uint64_t EstimateCount(const HllRegisters& registers) {
  Histogram histogram{};
  for (const uint8_t value : registers) ++histogram[value & 63];
  return Estimate(histogram);
}

// A run of the sparse encoding.
struct HyperLogLog::Run {
  size_t length = 0;  // registers
  uint8_t value = 0;
  size_t bytes = 1;
};

// The position of a register's run.
struct HyperLogLog::Place {
  size_t at = 0;
  size_t previous = kHeaderBytes;  // where the previous run begins; this run's own start if it is the first
  size_t first = 0;                // the run's first register
};

HyperLogLog::HyperLogLog() : bytes_(kHeaderBytes, '\0') {
  bytes_.replace(0, kMagic.size(), kMagic);
  bytes_[kEncodingAt] = kSparse;
  AppendZeros(bytes_, kHllRegisters);
}

std::optional<HyperLogLog> HyperLogLog::Parse(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  const char encoding = bytes[kEncodingAt];
  if (encoding != kDense && encoding != kSparse) return std::nullopt;
  if (encoding == kDense && bytes.size() != kDenseBytes) return std::nullopt;
  return HyperLogLog(std::string(bytes));
}

bool HyperLogLog::IsDense() const { return bytes_[kEncodingAt] == kDense; }

HyperLogLog::Change HyperLogLog::Add(std::string_view element, uint64_t sparse_max) {
  const uint64_t hash = Murmur64(element, kSeed);
  const uint64_t rest = hash >> kIndexBits | uint64_t{1} << kHashBits;
  const auto value = static_cast<uint8_t>(std::countr_zero(rest) + 1);
  return Raise(hash & (kHllRegisters - 1), value, sparse_max);
}

HyperLogLog::Change HyperLogLog::Raise(size_t index, uint8_t value, uint64_t sparse_max) {
  return IsDense() ? RaiseDense(index, value) : RaiseSparse(index, value, sparse_max);
}

HyperLogLog::Change HyperLogLog::RaiseDense(size_t index, uint8_t value) {
  if (value <= DenseRegister(bytes_, index)) return Change::kNone;
  SetDenseRegister(bytes_, index, value);
  DropCachedCount();
  return Change::kRaised;
}

// If the second byte is cut off, it reads as zero.
HyperLogLog::Run HyperLogLog::RunAt(size_t at) const {
  const auto head = static_cast<uint8_t>(bytes_[at]);
  if (head & kValueBits) {
    return {.length = (head & 3u) + 1, .value = static_cast<uint8_t>((head >> 2 & 31) + 1)};
  }
  if ((head & kXzeroBits) == 0) return {.length = (head & 63u) + 1};
  const unsigned low = at + 1 < bytes_.size() ? static_cast<uint8_t>(bytes_[at + 1]) : 0;
  return {.length = ((head & 63u) << 8 | low) + 1, .bytes = 2};
}

std::optional<HyperLogLog::Place> HyperLogLog::FindRun(size_t index) const {
  Place place{.at = kHeaderBytes};
  while (place.at < bytes_.size()) {
    const Run run = RunAt(place.at);
    if (index < place.first + run.length) return place;
    place.previous = place.at;
    place.at += run.bytes;
    place.first += run.length;
  }
  return std::nullopt;
}

HyperLogLog::Change HyperLogLog::RaiseSparse(size_t index, uint8_t value, uint64_t sparse_max) {
  const auto make_dense = [&] { return MakeDense() ? RaiseDense(index, value) : Change::kCorrupt; };
  if (value > kMostSparseValue) return make_dense();
  const std::optional<Place> place = FindRun(index);
  if (!place) return Change::kCorrupt;
  const Run run = RunAt(place->at);
  if (run.value >= value) return Change::kNone;

  // Split the run around the register.
  const size_t before = index - place->first;
  const size_t behind = run.length - before - 1;
  std::string split;
  if (run.value == 0) {
    AppendZeros(split, before);
    AppendValues(split, value, 1);
    AppendZeros(split, behind);
  } else {
    AppendValues(split, run.value, before);
    AppendValues(split, value, 1);
    AppendValues(split, run.value, behind);
  }
  const bool grows = split.size() > run.bytes;
  if (grows && bytes_.size() - run.bytes + split.size() > sparse_max) return make_dense();
  bytes_.replace(place->at, run.bytes, split);
  JoinValues(place->previous);
  DropCachedCount();
  return Change::kRaised;
}

// Joins neighbouring runs of the same value, up to the length one run can encode.
void HyperLogLog::JoinValues(size_t from) {
  size_t at = from;
  for (int looked = 0; looked < kRunsLookedAt && at < bytes_.size(); ++looked) {
    const Run run = RunAt(at);
    if (run.value > 0 && at + 1 < bytes_.size()) {
      const Run next = RunAt(at + 1);
      if (next.value == run.value && run.length + next.length <= kMostValues) {
        std::string joined;
        AppendValues(joined, run.value, run.length + next.length);
        bytes_.replace(at, 2, joined);
        continue;  // the joined run may join with the next one
      }
    }
    at += run.bytes;
  }
}

bool HyperLogLog::MakeDense() {
  if (IsDense()) return true;
  HllRegisters registers{};
  if (!MergeInto(registers)) return false;
  bytes_.resize(kHeaderBytes);
  bytes_.resize(kDenseBytes);
  bytes_[kEncodingAt] = kDense;
  for (size_t i = 0; i < kHllRegisters; ++i) {
    if (registers[i] > 0) SetDenseRegister(bytes_, i, registers[i]);
  }
  return true;
}

std::optional<uint64_t> HyperLogLog::CachedCount() const {
  if (bytes_[kCountAt + 7] & '\x80') return std::nullopt;
  uint64_t count = 0;
  std::memcpy(&count, bytes_.data() + kCountAt, sizeof count);  // little endian, like the whole format
  return count;
}

void HyperLogLog::CacheCount(uint64_t count) { std::memcpy(bytes_.data() + kCountAt, &count, sizeof count); }

void HyperLogLog::DropCachedCount() {
  char& last = bytes_[kCountAt + 7];
  last = static_cast<char>(last | '\x80');
}

std::optional<uint64_t> HyperLogLog::Count() const {
  HllRegisters registers{};
  if (!MergeInto(registers)) return std::nullopt;
  return EstimateCount(registers);
}

bool HyperLogLog::MergeInto(HllRegisters& registers) const {
  if (IsDense()) {
    for (size_t i = 0; i < kHllRegisters; ++i) {
      registers[i] = std::max(registers[i], DenseRegister(bytes_, i));
    }
    return true;
  }
  size_t index = 0;
  for (size_t at = kHeaderBytes; at < bytes_.size();) {
    const Run run = RunAt(at);
    if (index + run.length > kHllRegisters) return false;
    for (size_t i = 0; run.value > 0 && i < run.length; ++i) {
      registers[index + i] = std::max(registers[index + i], run.value);
    }
    index += run.length;
    at += run.bytes;
  }
  return index == kHllRegisters;
}

std::string HyperLogLog::DescribeRuns() const {
  std::string text;
  for (size_t at = kHeaderBytes; at < bytes_.size();) {
    const Run run = RunAt(at);
    if (!text.empty()) text += ' ';
    text += run.value > 0 ? "v:" : run.bytes == 2 ? "Z:" : "z:";
    if (run.value > 0) {
      AppendUint64(text, run.value);
      text += ',';
    }
    AppendUint64(text, run.length);
    at += run.bytes;
  }
  return text;
}

}  // namespace cairn
