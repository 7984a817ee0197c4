// SPDX-License-Identifier: BSD-3-Clause
#include "storage/concatenated_rows.h"

#include <array>
#include <utility>

namespace cairn {
namespace {

class ConcatenatedRows : public rocksdb::Iterator {
 public:
  ConcatenatedRows(std::unique_ptr<rocksdb::Iterator> first, std::unique_ptr<rocksdb::Iterator> second)
      : parts_{std::move(first), std::move(second)} {}

  bool Valid() const override { return now().Valid(); }
  rocksdb::Slice key() const override { return now().key(); }
  rocksdb::Slice value() const override { return now().value(); }
  rocksdb::Status status() const override { return now().status(); }

  void SeekToFirst() override {
    at_ = 0;
    now().SeekToFirst();
    GoForward([](rocksdb::Iterator& second) { second.SeekToFirst(); });
  }
  void SeekToLast() override {
    at_ = 1;
    now().SeekToLast();
    GoBack([](rocksdb::Iterator& first) { first.SeekToLast(); });
  }
  void Seek(const rocksdb::Slice& target) override {
    at_ = 0;
    now().Seek(target);
    GoForward([&](rocksdb::Iterator& second) { second.Seek(target); });
  }
  void SeekForPrev(const rocksdb::Slice& target) override {
    at_ = 1;
    now().SeekForPrev(target);
    GoBack([&](rocksdb::Iterator& first) { first.SeekForPrev(target); });
  }
  void Next() override {
    now().Next();
    GoForward([](rocksdb::Iterator& second) { second.SeekToFirst(); });
  }
  void Prev() override {
    now().Prev();
    GoBack([](rocksdb::Iterator& first) { first.SeekToLast(); });
  }

 private:
  rocksdb::Iterator& now() const { return *parts_[at_]; }

  // At the end of the first part: enters the second. An error stays where it is.
  template <typename Enter>
  void GoForward(Enter enter) {
    if (at_ != 0 || now().Valid() || !now().status().ok()) return;
    at_ = 1;
    enter(now());
  }
  template <typename Enter>
  void GoBack(Enter enter) {
    if (at_ != 1 || now().Valid() || !now().status().ok()) return;
    at_ = 0;
    enter(now());
  }

  const std::array<std::unique_ptr<rocksdb::Iterator>, 2> parts_;
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<rocksdb::Iterator> Concatenate(std::unique_ptr<rocksdb::Iterator> first,
                                               std::unique_ptr<rocksdb::Iterator> second) {
  return std::make_unique<ConcatenatedRows>(std::move(first), std::move(second));
}

}  // namespace cairn
