// SPDX-License-Identifier: BSD-3-Clause
#include "storage/ready_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/open_tables.h"

namespace cairn {
namespace {

constexpr size_t kFileBytes = 3 << 20;
constexpr size_t kBlock = 4096;

class ReadyReads : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX.sst";
    const int fd = mkstemps(pattern.data(), 4);
    ASSERT_GE(fd, 0);
    path_ = pattern;
    for (size_t at = 0; at < kFileBytes; ++at) bytes_.push_back(static_cast<char>(at * 31 + at / kBlock));
    ASSERT_EQ(write(fd, bytes_.data(), bytes_.size()), static_cast<ssize_t>(bytes_.size()));
    ASSERT_EQ(fsync(fd), 0);
    close(fd);
    ASSERT_TRUE(files_->NewRandomAccessFile(path_, {}, &file_, nullptr).ok());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  rocksdb::IOStatus Read(uint64_t offset, size_t n) {
    scratch_.assign(n, '\0');
    result_ = rocksdb::Slice();
    return file_->Read(offset, n, {}, &result_, scratch_.data(), nullptr);
  }
  std::string Want(size_t offset, size_t n) const { return bytes_.substr(offset, n); }

  // False if the kernel keeps the file in memory, as a file system in memory does.
  bool Forget() {
    if (!file_->InvalidateCache(0, 0).ok()) return false;
    const int fd = open(path_.c_str(), O_RDONLY);
    void* const mapped = mmap(nullptr, kFileBytes, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return false;
    std::vector<unsigned char> resident(kFileBytes / static_cast<size_t>(getpagesize()));
    const bool known = mincore(mapped, kFileBytes, resident.data()) == 0;
    munmap(mapped, kFileBytes);
    if (!known) return false;
    for (const unsigned char page : resident) {
      if (page & 1) return false;
    }
    return true;
  }

  const std::shared_ptr<OpenTables> open_tables_ = std::make_shared<OpenTables>(0);
  std::shared_ptr<rocksdb::FileSystem> files_ = MakeTableFiles(open_tables_);
  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  std::string path_;
  std::string bytes_;
  std::string scratch_;
  rocksdb::Slice result_;
};

// RocksDB may have closed a table because of the limit on open files; opening it again waits.
TEST_F(ReadyReads, RefuseToOpenAFile) {
  std::unique_ptr<rocksdb::FSRandomAccessFile> another;
  {
    const ReadyOnly ready(true);
    EXPECT_FALSE(files_->NewRandomAccessFile(path_, {}, &another, nullptr).ok());
    EXPECT_TRUE(ready.refused());
  }
  EXPECT_EQ(open_tables_->count(), 1u);
  EXPECT_TRUE(files_->NewRandomAccessFile(path_, {}, &another, nullptr).ok());
  EXPECT_EQ(open_tables_->count(), 2u);
  another.reset();
  EXPECT_EQ(open_tables_->count(), 1u);
}

TEST_F(ReadyReads, ServeDataInThePageCache) {
  ASSERT_TRUE(Read(0, kFileBytes).ok());
  const ReadyOnly ready(true);
  if (!Read(kBlock, kBlock).ok()) GTEST_SKIP() << "this file system does not read without waiting";
  EXPECT_EQ(result_.ToString(), Want(kBlock, kBlock));
  EXPECT_EQ(ready.served(), 1u);
  EXPECT_FALSE(ready.refused());
}

// The kernel starts to read from the disk before it answers. If it takes the core from the thread in between, the data
// may be in memory by then, and the read is served. So one refusal among several reads is asked for.
TEST_F(ReadyReads, RefuseDataOnlyOnDisk) {
  bool refused = false;
  for (int tries = 0; tries < 100 && !refused; ++tries) {
    if (!Forget()) GTEST_SKIP() << "the kernel does not forget this file";
    const ReadyOnly ready(true);
    const rocksdb::IOStatus read = Read(kBlock, kBlock);
    refused = read.IsBusy();
    EXPECT_EQ(ready.refused(), refused);
    EXPECT_EQ(ready.served(), refused ? 0u : 1u);
    if (!refused) {
      EXPECT_EQ(result_.ToString(), Want(kBlock, kBlock));
    }
  }
  EXPECT_TRUE(refused);
  ASSERT_TRUE(Read(kBlock, kBlock).ok());
  EXPECT_EQ(result_.ToString(), Want(kBlock, kBlock));
}

TEST_F(ReadyReads, WaitIfTurnedOff) {
  Forget();
  const ReadyOnly outer(true);
  const ReadyOnly inner(false);
  ASSERT_TRUE(Read(10, 100).ok());
  EXPECT_EQ(result_.ToString(), Want(10, 100));
  EXPECT_FALSE(inner.refused());
  EXPECT_FALSE(outer.refused());
}

TEST_F(ReadyReads, RefuseLargeReads) {
  ASSERT_TRUE(Read(0, kFileBytes).ok());
  const ReadyOnly ready(true);
  EXPECT_FALSE(Read(0, kFileBytes).ok());
  EXPECT_TRUE(ready.refused());
}

TEST_F(ReadyReads, EndWithTheFile) {
  ASSERT_TRUE(Read(kFileBytes - 10, 100).ok());
  EXPECT_EQ(result_.ToString(), Want(kFileBytes - 10, 10));
  ASSERT_TRUE(Read(kFileBytes + 10, 100).ok());
  EXPECT_EQ(result_.size(), 0u);
}

TEST_F(ReadyReads, NameTheMissingFile) {
  std::unique_ptr<rocksdb::FSRandomAccessFile> none;
  const rocksdb::IOStatus opened = files_->NewRandomAccessFile(path_ + ".none", {}, &none, nullptr);
  EXPECT_TRUE(opened.IsPathNotFound());
  EXPECT_NE(opened.ToString().find(".none"), std::string::npos);
}

// A reader with an open log reads it to its end, even after RocksDB has deleted it.
TEST_F(ReadyReads, TruncateATableBeforeItsRemovalButNotALog) {
  const std::string log = path_ + ".log";
  const std::string blob = path_ + ".blob";
  for (const std::string& copy : {log, blob}) std::filesystem::copy_file(path_, copy);
  for (const std::string& path : {path_, blob, log}) {
    const int fd = open(path.c_str(), O_RDONLY);
    EXPECT_TRUE(files_->DeleteFile(path, {}, nullptr).ok());
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(lseek(fd, 0, SEEK_END), path == log ? static_cast<off_t>(kFileBytes) : 1 << 20) << path;
    close(fd);
  }
  EXPECT_FALSE(files_->DeleteFile(path_, {}, nullptr).ok());
}

}  // namespace
}  // namespace cairn
