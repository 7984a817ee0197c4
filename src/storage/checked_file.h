// SPDX-License-Identifier: BSD-3-Clause
//
// CheckedFile: a file written by RocksDB. A subclass can refuse each append and sees the status of each call.
//
// Thread: as for the wrapped file.
#pragma once

#include <rocksdb/file_system.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace cairn {

class CheckedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Base = FSWritableFileOwnerWrapper;
  using Checksum = rocksdb::DataVerificationInfo;
  using Debug = rocksdb::IODebugContext;
  using IOOptions = rocksdb::IOOptions;
  using IOStatus = rocksdb::IOStatus;
  using Slice = rocksdb::Slice;
  using Base::Base;

  IOStatus Append(const Slice& data, const IOOptions& options, Debug* debug) override {
    return IfMayAppend(data, [&] { return Base::Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const Checksum& checksum, Debug* debug) override {
    return IfMayAppend(data, [&] { return Base::Append(data, options, checksum, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options, Debug* debug) override {
    return IfMayAppend(data, [&] { return Base::PositionedAppend(data, offset, options, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options, const Checksum& checksum,
                            Debug* debug) override {
    return IfMayAppend(data, [&] { return Base::PositionedAppend(data, offset, options, checksum, debug); });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, Debug* debug) override {
    return Check(Base::Truncate(size, options, debug));
  }
  IOStatus Close(const IOOptions& options, Debug* debug) override { return Check(Base::Close(options, debug)); }
  IOStatus Flush(const IOOptions& options, Debug* debug) override { return Check(Base::Flush(options, debug)); }
  IOStatus Sync(const IOOptions& options, Debug* debug) override { return Check(Base::Sync(options, debug)); }
  IOStatus Fsync(const IOOptions& options, Debug* debug) override { return Check(Base::Fsync(options, debug)); }
  IOStatus RangeSync(uint64_t offset, uint64_t size, const IOOptions& options, Debug* debug) override {
    return Check(Base::RangeSync(offset, size, options, debug));
  }
  IOStatus Allocate(uint64_t offset, uint64_t size, const IOOptions& options, Debug* debug) override {
    return Check(Base::Allocate(offset, size, options, debug));
  }

 protected:
  // An error refuses the append of these bytes.
  virtual IOStatus CheckAppend(std::string_view) { return IOStatus::OK(); }
  // Sees the status of a call and returns the one that RocksDB gets.
  virtual IOStatus Check(IOStatus status) { return status; }
  // The same for an append.
  virtual IOStatus CheckAppended(IOStatus status) { return Check(std::move(status)); }

 private:
  template <typename Call>
  IOStatus IfMayAppend(const Slice& data, Call call) {
    IOStatus refused = CheckAppend({data.data(), data.size()});
    return CheckAppended(refused.ok() ? call() : std::move(refused));
  }
};

}  // namespace cairn
