// SPDX-License-Identifier: BSD-3-Clause
#include "storage/offline_database.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "storage/engine.h"
#include "store_fixture.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

class OfflineDatabaseTest : public StoreFixture {
 protected:
  void TearDown() override {
    fs::remove_all(image_);
    StoreFixture::TearDown();
  }

  void Write(const std::string& name, const std::string& value) {
    Begin();
    const Key key(txn().databases().keyspace(0), name);
    Lock(key);
    txn().Put(key.row(), value);
    Finish();
    Commit();
  }

  // The files as they are in the page cache.
  void CopyFiles() {
    image_ = dir() + ".image";
    fs::copy(dir(), image_, fs::copy_options::recursive);
  }
  std::string NewestLog() const {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(dir())) {
      if (entry.path().extension() == ".log") newest = std::max(newest, entry.path().filename().string());
    }
    return newest;
  }
  // A row of the copied files.
  bool Has(const OfflineDatabase& database, const std::string& name) {
    const Key key(txn().databases().keyspace(0), name);
    const auto value = database.Get(Space::kKeys, key.row().row());
    EXPECT_TRUE(value.ok()) << value.status().text();
    return value.ok() && value->has_value();
  }

  std::string image_;
};

// Of two logs that were never synced, a power loss can leave the second and a part of the first.
TEST_F(OfflineDatabaseTest, CommitsBehindATornLogAreNotThere) {
  Write("a", "value");
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

  fs::resize_file(image_ + "/" + first, fs::file_size(image_ + "/" + first) - 50'000);
  const auto torn = OfflineDatabase::Open(image_);
  ASSERT_TRUE(torn.ok()) << torn.status().text();
  EXPECT_TRUE((*torn)->log_damage().empty());
  EXPECT_TRUE(Has(**torn, "a"));
  EXPECT_FALSE(Has(**torn, "b"));
  EXPECT_FALSE(Has(**torn, "c"));
}

// Salvage wants all that can be read.
TEST_F(OfflineDatabaseTest, CommitsBehindDamageInTheMiddleOfALogAreThere) {
  Write("a", "value");
  const auto before = static_cast<std::streamoff>(fs::file_size(dir() + "/" + NewestLog()));
  Write("b", std::string(100'000, 'b'));
  Write("c", "value");
  CopyFiles();
  std::fstream(image_ + "/" + NewestLog(), std::ios::in | std::ios::out).seekp(before + 1000).put('\0');
  const auto damaged = OfflineDatabase::Open(image_);
  ASSERT_TRUE(damaged.ok()) << damaged.status().text();
  EXPECT_FALSE((*damaged)->log_damage().empty());
  EXPECT_TRUE(Has(**damaged, "a"));
  EXPECT_FALSE(Has(**damaged, "b"));
  EXPECT_TRUE(Has(**damaged, "c"));
}

}  // namespace
}  // namespace cairn
