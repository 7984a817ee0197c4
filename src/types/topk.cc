// SPDX-License-Identifier: BSD-3-Clause
#include "types/topk.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.h"
#include "base/murmur.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr uint32_t kFingerprintSeed = 1919;  // RedisBloom's
// Of the command's work budget.
constexpr uint64_t kSlotsPerStep = 512;
constexpr uint32_t kDrawsPerStep = 512;

Status Corrupt(std::string_view what) { return Status::Corruption("top-k: " + std::string(what)); }

// The power by multiplications alone: they give the same bits on all machines, which pow() does not promise.
double Power(double base, uint32_t exponent) {
  double power = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) power *= base;
    base *= base;
  }
  return power;
}

// The next number of SplitMix64 (Steele, Lea and Flood 2014), in [0, 1).
double NextRandom(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

Status TakeSlot(std::string_view& bytes, TopK::Slot& slot) {
  uint64_t size = 0;
  uint64_t count = 0;
  if (!ReadVarint(bytes, size)) return Corrupt("a slot is cut short");
  if (size == 0) return Ok();
  if (--size > bytes.size()) return Corrupt("an item is cut short");
  slot.item = bytes.substr(0, size);
  bytes.remove_prefix(size);
  if (!ReadVarint(bytes, count) || count > UINT32_MAX) return Corrupt("a count is cut short or out of range");
  slot.count = static_cast<uint32_t>(count);
  return Ok();
}

}  // namespace

bool TopK::Fits(uint64_t k, uint64_t width, uint64_t depth) {
  constexpr uint64_t kMostCells = SketchCells::kMostBytes / kCellBytes;
  return k > 0 && k <= kMostItems && width > 0 && depth > 0 && width <= kMostCells && depth <= kMostCells / width;
}

Result<TopK::State> TopK::TakeState(std::string_view& bytes) {
  State state;
  uint64_t k = 0;
  uint64_t decay = 0;
  if (!ReadVarint(bytes, k)) return Corrupt("k is cut short");
  if (!ReadVarint(bytes, state.width)) return Corrupt("width is cut short");
  if (!ReadVarint(bytes, state.depth)) return Corrupt("depth is cut short");
  if (!ReadU64(bytes, decay)) return Corrupt("decay is cut short");
  if (!ReadU64(bytes, state.random)) return Corrupt("random is cut short");
  state.decay = std::bit_cast<double>(decay);
  if (!Fits(k, state.width, state.depth)) return Corrupt("dimensions are out of range");
  if (!(state.decay > 0 && state.decay <= 1)) return Corrupt("decay is out of range");
  if (k > bytes.size()) return Corrupt("a slot is cut short");
  state.heap.resize(k);
  for (Slot& slot : state.heap) TRY(TakeSlot(bytes, slot));
  return state;
}

Status TopK::Check(const Record& record) {
  std::string_view payload = record.payload;
  const uint64_t length = TRY(SketchCells::TakeLength(record.header.encoding, payload));
  const State state = TRY(TakeState(payload));
  return SketchCells::CheckRest(length, payload, state.bytes());
}

Status TopK::Open() { return Open(TRY(keys_.Find(key_))); }

Status TopK::Open(KeyEntry entry) {
  if (entry.exists() && entry.type() != Type::kTopK) return Status::Reply(kWrongType);
  entry_ = std::move(entry);
  if (!entry_.exists()) return Ok();
  std::string_view payload = entry_.payload();
  SketchCells cells = TRY(SketchCells::Open(keys_, key_, entry_.encoding(), payload));
  state_ = TRY(TakeState(payload));
  TRY(cells.SetRest(payload, state_.bytes()));
  cells_ = std::move(cells);
  return Ok();
}

void TopK::Create(State state) {
  ASSERT(!exists(), "the key has a sketch");
  state_ = std::move(state);
  cells_ = SketchCells::Create(keys_, key_, state_.bytes());
}

std::string TopK::Fields() const {
  std::string fields;
  AppendVarint(fields, state_.heap.size());
  AppendVarint(fields, state_.width);
  AppendVarint(fields, state_.depth);
  AppendU64(fields, std::bit_cast<uint64_t>(state_.decay));
  AppendU64(fields, state_.random);
  for (const Slot& slot : state_.heap) {
    AppendVarint(fields, slot.item ? slot.item->size() + 1 : 0);
    if (!slot.item) continue;
    fields.append(*slot.item);
    AppendVarint(fields, slot.count);
  }
  return fields;
}

uint64_t TopK::OffsetOf(std::string_view item, uint64_t row) const {
  return (Murmur32(item, static_cast<uint32_t>(row)) % state_.width + row * state_.width) * kCellBytes;
}

Result<TopK::Cell> TopK::ReadCell(uint64_t offset) const {
  std::string bytes;
  TRY(cells_->Read(offset, kCellBytes, bytes));
  std::string_view view = bytes;
  Cell cell;
  ReadU32(view, cell.fingerprint);
  ReadU32(view, cell.count);
  return cell;
}

Status TopK::WriteCell(uint64_t offset, const Cell& cell) {
  std::string bytes;
  AppendU32(bytes, cell.fingerprint);
  AppendU32(bytes, cell.count);
  changed_cells_ = true;
  return cells_->Write(offset, bytes);
}

bool TopK::Happens(double chance) { return NextRandom(state_.random) < chance; }

// Adds an item to the cell of another one: each time, the counter may fall.
void TopK::Contend(Cell& cell, uint32_t fingerprint, uint32_t by) {
  double chance = Power(state_.decay, cell.count);
  for (; by > 0; --by) {
    if (!Happens(chance)) continue;
    if (--cell.count == 0) {
      cell = {fingerprint, by};
      return;
    }
    chance = Power(state_.decay, cell.count);
  }
}

Result<std::optional<std::string>> TopK::Add(std::string_view item, uint32_t by) {
  TRY(keys_.txn().command().Spend(state_.depth * (1 + by / kDrawsPerStep) + state_.heap.size() / kSlotsPerStep));
  const uint32_t fingerprint = Murmur32(item, kFingerprintSeed);
  uint32_t count = 0;
  for (uint64_t row = 0; row < state_.depth; ++row) {
    const uint64_t offset = OffsetOf(item, row);
    const Cell old = TRY(ReadCell(offset));
    Cell cell = old;
    if (cell.count == 0) {
      cell = {fingerprint, by};
    } else if (cell.fingerprint == fingerprint) {
      cell.count += std::min(by, UINT32_MAX - cell.count);
    } else {
      Contend(cell, fingerprint, by);
    }
    if (cell.fingerprint == fingerprint) count = std::max(count, cell.count);
    if (cell.fingerprint != old.fingerprint || cell.count != old.count) TRY(WriteCell(offset, cell));
  }
  std::optional<std::string> expelled;
  if (count < state_.heap[0].count) return expelled;
  const size_t at = FindSlot(item);
  if (at < state_.heap.size()) {
    state_.heap[at].count = count;
    SiftDown(at);
    return expelled;
  }
  expelled = std::exchange(state_.heap[0].item, std::string(item));
  state_.heap[0].count = count;
  SiftDown(0);
  return expelled;
}

Result<bool> TopK::Contains(std::string_view item) const {
  TRY(keys_.txn().command().Spend(1 + state_.heap.size() / kSlotsPerStep));
  return FindSlot(item) < state_.heap.size();
}

Result<uint32_t> TopK::Count(std::string_view item) const {
  TRY(keys_.txn().command().Spend(state_.depth));
  const uint32_t fingerprint = Murmur32(item, kFingerprintSeed);
  const uint32_t least = TRY(Contains(item)) ? state_.heap[0].count : 0;
  uint32_t count = 0;
  for (uint64_t row = 0; row < state_.depth; ++row) {
    const Cell cell = TRY(ReadCell(OffsetOf(item, row)));
    if (cell.fingerprint == fingerprint && cell.count >= least) count = std::max(count, cell.count);
  }
  return count;
}

std::vector<TopK::Slot> TopK::List() const {
  std::vector<Slot> slots = state_.heap;
  std::erase_if(slots, [](const Slot& slot) { return slot.count == 0; });
  std::stable_sort(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.count > b.count; });
  return slots;
}

// The slot of an item; the number of slots if it has none.
size_t TopK::FindSlot(std::string_view item) const {
  const auto found =
      std::find_if(state_.heap.begin(), state_.heap.end(), [item](const Slot& slot) { return slot.item == item; });
  return static_cast<size_t>(found - state_.heap.begin());
}

// The child with the lower count, the first of two equal ones; the number of slots if there is none.
size_t TopK::LowerChild(size_t parent) const {
  const std::vector<Slot>& heap = state_.heap;
  const size_t child = 2 * parent + 1;
  if (child >= heap.size()) return heap.size();
  return child + 1 < heap.size() && heap[child].count > heap[child + 1].count ? child + 1 : child;
}

// Restores the order of the heap below a slot whose count has risen. Like RedisBloom, it also exchanges the slot with
// an equal child: that decides which of several items with the same count is expelled first.
void TopK::SiftDown(size_t at) {
  std::vector<Slot>& heap = state_.heap;
  size_t child = LowerChild(at);
  if (child == heap.size() || heap[child].count > heap[at].count) return;
  Slot moved = std::move(heap[at]);
  do {
    heap[at] = std::move(heap[child]);
    at = child;
    child = LowerChild(at);
  } while (child < heap.size() && heap[child].count < moved.count);
  heap[at] = std::move(moved);
}

Result<bool> TopK::Save() {
  const std::string payload = cells_->Payload(Fields());
  if (entry_.exists() && !changed_cells_ && payload == entry_.payload()) return false;
  const RecordHeader header = {.type = Type::kTopK, .encoding = cells_->encoding(), .expire_ms = entry_.expire_ms()};
  TRY(keys_.Write(key_, entry_, header, payload));
  return true;
}

}  // namespace cairn
