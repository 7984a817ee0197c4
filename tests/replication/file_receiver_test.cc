// SPDX-License-Identifier: BSD-3-Clause
//
// A replica whose disk is full gives back what it has received.
#include "replication/file_receiver.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/hash.h"

namespace cairn {
namespace {

constexpr int64_t kTimeoutMs = 5000;

// A port that sends these bytes to whoever comes first.
class Sender {
 public:
  explicit Sender(const std::string& bytes) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    EXPECT_TRUE(socket_.Connect("127.0.0.1", ntohs(address.sin_port), kTimeoutMs).ok());
    peer_ = accept(listener_, nullptr, nullptr);
    EXPECT_EQ(write(peer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~Sender() {
    close(peer_);
    close(listener_);
  }
  BlockingSocket& socket() { return socket_; }

 private:
  int listener_ = -1;
  int peer_ = -1;
  BlockingSocket socket_;
};

TEST(FileReceiver, DropsWhatCameWhenTheDiskIsFull) {
  std::string dir = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const std::string folder = dir + "/sync-received";
  const std::string bytes = "the rows of a file";
  const FileLine line{.size = bytes.size(), .checksum = Hash64(bytes)};
  const std::string file = EncodeFileLine(line) + "\r\n" + bytes;
  Sender sender(file + file);
  FileReceiver receiver(folder);
  FilesHead head;
  head.from.transfer = std::string(40, 'b');
  bool is_full = false;
  bool is_allowed = true;
  // The second file goes to a device that is always full.
  const auto on_progress = [&](uint64_t, uint64_t) {
    const bool is_whole = receiver.Find().files == 1;
    if (!is_whole || is_full) return;
    is_full = true;
    std::string name = std::filesystem::directory_iterator(folder)->path().filename();
    name.replace(name.find("-0-"), 3, "-1-");
    is_allowed = mknod((folder + "/" + name + ".part").c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
  };
  const Status status = receiver.Receive(sender.socket(), head, kTimeoutMs, on_progress);
  if (!is_allowed) GTEST_SKIP() << "only root makes devices";
  EXPECT_TRUE(status.Is(Code::kIo));
  EXPECT_NE(status.text().find("No space left"), std::string_view::npos) << status.text();
  EXPECT_EQ(receiver.Find().transfer, kNoTransfer);
  EXPECT_FALSE(std::filesystem::exists(folder));
  std::filesystem::remove_all(dir);
}

// A restarted replica may have 100 GB to read, and REPLICAOF or a shutdown must not wait for that.
TEST(FileReceiver, StopsReadingWhatItHasWhenThatIsNotWanted) {
  std::string dir = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const std::string bytes = "the rows of a file";
  Sender sender(EncodeFileLine({.size = bytes.size(), .checksum = Hash64(bytes)}) + "\r\n" + bytes);
  FilesHead head;
  head.from.transfer = std::string(40, 'b');
  const auto on_progress = [&](uint64_t received, uint64_t) {
    if (received == bytes.size()) sender.socket().Interrupt();
  };
  EXPECT_FALSE(FileReceiver(dir).Receive(sender.socket(), head, kTimeoutMs, on_progress).ok());
  FileReceiver receiver(dir);
  EXPECT_EQ(receiver.Find([] { return false; }).transfer, kNoTransfer);
  const FilesPlace found = receiver.Find([] { return true; });
  EXPECT_EQ(found.transfer, head.from.transfer);
  EXPECT_EQ(found.files, 1);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace cairn
