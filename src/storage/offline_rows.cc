// SPDX-License-Identifier: BSD-3-Clause
#include "storage/offline_rows.h"

#include <rocksdb/iterator.h>

#include <algorithm>
#include <utility>

#include "storage/slice.h"

namespace cairn {
namespace {

constexpr size_t kBisectedBytes = 24;  // enough to tell rows of one block apart
constexpr int kProbes = 4;

// The first row after all that begin with these bytes; empty: there is none.
std::string After(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

// The number half way between two, as bytes of the same length.
std::string Middle(const std::string& low, const std::string& high) {
  std::string middle(low.size(), '\0');
  unsigned carry = 0;  // of the sum, from the lowest byte up
  for (size_t i = low.size(); i-- > 0;) {
    const unsigned sum = static_cast<unsigned char>(low[i]) + static_cast<unsigned char>(high[i]) + carry;
    middle[i] = static_cast<char>(sum & 255);
    carry = sum >> 8;
  }
  for (char& byte : middle) {
    const unsigned bits = (carry << 8) | static_cast<unsigned char>(byte);
    byte = static_cast<char>(bits >> 1);
    carry = bits & 1;
  }
  return middle;
}

}  // namespace

OfflineRows::OfflineRows(const OfflineDatabase& database, Space space, OnGap on_gap)
    : database_(database), space_(space), on_gap_(std::move(on_gap)), rows_(database.NewIterator(space)) {
  Seek({});
}

OfflineRows::~OfflineRows() = default;

bool OfflineRows::Valid() const { return rows_->Valid(); }
std::string_view OfflineRows::row() const { return {rows_->key().data(), rows_->key().size()}; }
std::string_view OfflineRows::value() const { return {rows_->value().data(), rows_->value().size()}; }

void OfflineRows::Seek(std::string_view row) {
  const std::string from(row);
  if (!Reads(from)) StepOver(from, from);
}

void OfflineRows::Next() {
  const std::string last(row());
  rows_->Next();
  if (!rows_->Valid() && !rows_->status().ok()) StepOver(last, last + '\0');
}

bool OfflineRows::Reads(std::string_view row) {
  // An iterator that met a damaged block may answer the next seek from what it kept of that block.
  if (!rows_->status().ok()) rows_ = database_.NewIterator(space_);
  rows_->Seek(ToSlice(row));
  return rows_->Valid() || rows_->status().ok();
}

void OfflineRows::StepOver(const std::string& after, const std::string& from) {
  const std::string why = rows_->status().ToString();
  std::string stopped_at;  // the row whose value in a blob file cannot be read
  if (rows_->GetProperty("rocksdb.iterator.internal-key", &stopped_at).ok() && stopped_at >= from &&
      Reads(stopped_at + '\0')) {
    return on_gap_(space_, stopped_at, stopped_at, why);
  }
  std::string low = from;
  std::string high(kBisectedBytes, '\xff');  // above all rows
  for (size_t size = from.size(); size > 0; --size) {
    const std::string next = After(from.substr(0, size));
    if (next.empty()) break;  // it is above all rows
    if (Reads(next)) {
      high = next;
      break;
    }
    low = next;
  }
  if (Reads(high)) Reads(Bisect(std::move(low), std::move(high)));
  on_gap_(space_, after, Valid() ? row() : std::string_view(), why);
}

bool OfflineRows::ReadsNear(const std::string& low, std::string& row) {
  for (int i = 0; i < kProbes; ++i, row = Middle(low, row)) {
    if (Reads(row)) return true;
  }
  return false;
}

// REQUIRES: Reads(high), and not Reads(low).
std::string OfflineRows::Bisect(std::string low, std::string high) {
  low.resize(kBisectedBytes, '\0');
  high.resize(std::max(high.size(), kBisectedBytes), '\0');
  if (high.size() > kBisectedBytes) return high;
  for (;;) {
    std::string middle = Middle(low, high);
    if (middle == low) return high;
    std::string found = middle;
    if (ReadsNear(low, found)) {
      high = std::move(found);
    } else {
      low = std::move(middle);
    }
  }
}

}  // namespace cairn
