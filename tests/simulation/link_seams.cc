// SPDX-License-Identifier: BSD-3-Clause
//
// The functions that the linker puts in the place of others (--wrap in tests/CMakeLists.txt), so that Cairn's code is
// simulated as it is: its clock, its pauses, its disk, a thread, the end of its process, and the work budget of a fast
// lane command.
#include "simulation/link_seams.h"

#include <fcntl.h>
#include <rocksdb/file_system.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "simulation/clock.h"
#include "simulation/read_faults.h"
#include "storage/transaction.h"

namespace cairn::simulation {

void RealBeginCommand(Transaction* txn, Lane lane, int64_t now_ms,
                      bool reads) __asm__("__real__ZN5cairn11Transaction12BeginCommandENS_4LaneElb");
void WrappedBeginCommand(Transaction* txn, Lane lane, int64_t now_ms,
                         bool reads) __asm__("__wrap__ZN5cairn11Transaction12BeginCommandENS_4LaneElb");
void WrappedBeginCommand(Transaction* txn, Lane lane, int64_t now_ms, bool reads) {
  RealBeginCommand(txn, lane, now_ms, reads);
  if (lane == Lane::kSlow || seams.fast_lane_steps >= CommandState::kFastLaneSteps) return;
  static_cast<void>(txn->command().Spend(CommandState::kFastLaneSteps - seams.fast_lane_steps).ok());
}

std::shared_ptr<rocksdb::FileSystem> RealFileSystem() __asm__("__real__ZN7rocksdb10FileSystem7DefaultEv");
std::shared_ptr<rocksdb::FileSystem> WrappedFileSystem() __asm__("__wrap__ZN7rocksdb10FileSystem7DefaultEv");
std::shared_ptr<rocksdb::FileSystem> WrappedFileSystem() {
  return seams.disk != nullptr ? seams.disk : RealFileSystem();
}

[[noreturn]] void WrappedEndProcess(std::string_view why) __asm__(
    "__wrap__ZN5cairn10EndProcessESt17basic_string_viewIcSt11char_traitsIcEE");
void WrappedEndProcess(std::string_view why) {
  seams.on_end(why);
  _exit(1);
}

extern "C" int __wrap_clock_gettime(clockid_t, timespec* now);
extern "C" int __wrap_clock_gettime(clockid_t, timespec* now) {
  const int64_t us = VirtualClock::NowUs();
  now->tv_sec = us / 1'000'000;
  now->tv_nsec = us % 1'000'000 * 1000;
  return 0;
}

// A pause of Cairn's moves its clock, and takes a moment for RocksDB's threads.
extern "C" int __real_nanosleep(const timespec* wanted, timespec* left);
extern "C" int __wrap_nanosleep(const timespec* wanted, timespec* left);
extern "C" int __wrap_nanosleep(const timespec* wanted, timespec* left) {
  VirtualClock::AdvanceUs(wanted->tv_sec * 1'000'000 + wanted->tv_nsec / 1000);
  const timespec moment{0, 1'000'000};
  return __real_nanosleep(&moment, left);
}

// The thread "stream" is not started: the simulation reads the log where that thread would.
std::thread RealStartThread(const std::string& name, std::function<void()> run) __asm__(
    "__real__ZN5cairn11StartThreadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt8functionIFvvEE");
std::thread WrappedStartThread(const std::string& name, std::function<void()> run) __asm__(
    "__wrap__ZN5cairn11StartThreadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt8functionIFvvEE");
std::thread WrappedStartThread(const std::string& name, std::function<void()> run) {
  return name == "stream" ? std::thread() : RealStartThread(name, std::move(run));
}

extern "C" int __real_fdatasync(int fd);
extern "C" int __wrap_fdatasync(int fd);
extern "C" int __wrap_fdatasync(int fd) {
  if (!seams.on_fdatasync || seams.on_fdatasync(fd)) return __real_fdatasync(fd);
  errno = EIO;
  return -1;
}

extern "C" ssize_t __real_preadv2(int fd, const iovec* parts, int count, off_t offset, int flags);
extern "C" ssize_t __wrap_preadv2(int fd, const iovec* parts, int count, off_t offset, int flags);
extern "C" ssize_t __wrap_preadv2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  if (!read_faults.Hits(fd)) return __real_preadv2(fd, parts, count, offset, flags);
  errno = EIO;
  return -1;
}

}  // namespace cairn::simulation
