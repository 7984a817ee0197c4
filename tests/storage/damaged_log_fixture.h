// SPDX-License-Identifier: BSD-3-Clause
//
// DamagedLogFixture: a store of which copies are made whose logs are damaged.
#pragma once

#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "storage/engine.h"
#include "store_fixture.h"

namespace cairn {

class DamagedLogFixture : public StoreFixture {
 protected:
  void TearDown() override {
    std::filesystem::remove_all(image_);
    StoreFixture::TearDown();
  }

  // A row with an entry for replicas.
  void Write(const std::string& name, const std::string& value) {
    store().interests().Set(kInterestInReplication, kInterestInReplication);
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), value);
    const std::string_view argv[] = {"DEL", name};
    txn().replicated_commands().Add(0, argv);
    Finish();
    Commit();
  }

  // The row a, and b and c, of which b is torn and c is in the next log: of two logs that were never synced, a power
  // loss can leave the second and a part of the first.
  void MakeTornImage() {
    Write("a", "value");
    after_a_ = store().log().LatestSequence() + 1;
    const std::string first = NewestLog();
    Write("b", std::string(100'000, 'b'));
    ASSERT_TRUE(store().engine().db().PauseBackgroundWork().ok());
    rocksdb::FlushOptions options;
    options.wait = false;
    ASSERT_TRUE(store().engine().db().Flush(options, store().engine().family(Space::kKeys)).ok());
    Write("c", "value");
    ASSERT_NE(NewestLog(), first);
    CopyFiles();
    ASSERT_TRUE(store().engine().db().ContinueBackgroundWork().ok());
    const std::string torn = image_ + "/" + first;
    std::filesystem::resize_file(torn, std::filesystem::file_size(torn) - 50'000);
  }
  // The same, and no record of the next log can be read.
  void MakeTornAndDamagedImage() {
    MakeTornImage();
    SpoilByte(NewestLog(), 10);
  }

  // The rows a, b and c in one log, with a wrong byte in b.
  void MakeDamagedImage() {
    Write("a", "value");
    const std::string log = NewestLog();
    const auto before = static_cast<std::streamoff>(std::filesystem::file_size(dir() + "/" + log));
    Write("b", std::string(100'000, 'b'));
    Write("c", "value");
    CopyFiles();
    SpoilByte(log, before + 1000);
  }

  const std::string& image() const { return image_; }
  // The sequence number behind the row a of the torn image.
  uint64_t after_a() const { return after_a_; }

 private:
  // The files as they are in the page cache.
  void CopyFiles() {
    image_ = dir() + ".image";
    std::filesystem::copy(dir(), image_, std::filesystem::copy_options::recursive);
  }
  void SpoilByte(const std::string& log, std::streamoff at) const {
    std::fstream(image_ + "/" + log, std::ios::in | std::ios::out).seekp(at).put('\x77');
  }
  std::string NewestLog() const {
    std::string newest;
    for (const auto& entry : std::filesystem::directory_iterator(dir())) {
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().filename().string());
    }
    return newest;
  }

  std::string image_;
  uint64_t after_a_ = 0;
};

}  // namespace cairn
