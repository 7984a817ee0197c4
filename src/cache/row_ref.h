// SPDX-License-Identifier: BSD-3-Clause
//
// RowRef: a row's value, kept valid where it is: in the key cache (pinned), in the transaction's uncommitted rows, or
// as RocksDB returned it. Null if there is no such row.
//
// Valid until it is destroyed, but not longer than the transaction's current tick. Thread: that of its transaction.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace cairn {

struct CachedRow;

class RowRef {
 public:
  RowRef() = default;
  // Bytes that live until the end of the tick: the overlay's arena.
  explicit RowRef(std::string_view bytes) : found_(true), bytes_(bytes) {}
  // Keeps the bytes valid while it exists.
  class Holder {
   public:
    virtual ~Holder() = default;
  };
  RowRef(std::unique_ptr<Holder> holder, std::string_view bytes)
      : found_(true), bytes_(bytes), holder_(std::move(holder)) {}
  // A pinned row of the key cache, released on destruction; `charged` is what its shard is charged with.
  RowRef(CachedRow* pinned, std::atomic<size_t>* charged, std::string_view bytes)
      : found_(true), bytes_(bytes), pinned_(pinned), charged_(charged) {}

  RowRef(RowRef&& other) noexcept { Swap(other); }
  RowRef& operator=(RowRef&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~RowRef() {
    if (pinned_ != nullptr) Release();
  }

  explicit operator bool() const { return found_; }
  std::string_view bytes() const { return bytes_; }

 private:
  void Swap(RowRef& other) {
    std::swap(found_, other.found_);
    std::swap(bytes_, other.bytes_);
    std::swap(pinned_, other.pinned_);
    std::swap(charged_, other.charged_);
    std::swap(holder_, other.holder_);
  }
  void Release();  // in row_cache.cc

  bool found_ = false;
  std::string_view bytes_;
  CachedRow* pinned_ = nullptr;
  std::atomic<size_t>* charged_ = nullptr;
  std::unique_ptr<Holder> holder_;
};

}  // namespace cairn
