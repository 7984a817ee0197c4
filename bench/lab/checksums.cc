// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of a CRC32C by its number of bytes, for docs/decisions/checksums.md: RocksDB's own as Debian builds it, and
// its replacement (third_party/rocksdb_crc32c.cc). After scripts/run or scripts/test has built the tree:
//
//   g++ -O2 -std=c++20 bench/lab/checksums.cc -o build/bench/checksums -Wl,--wrap=_ZN7rocksdb6crc32c6ExtendEjPKcm \
//     -Wl,--start-group build/release/libcairn_*.a -l:librocksdb.a -Wl,--end-group -lisal -lsnappy -lz -lbz2 -llz4 \
//     -lzstd -lgflags && build/bench/checksums
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

extern "C" uint32_t __real__ZN7rocksdb6crc32c6ExtendEjPKcm(uint32_t crc, const char* bytes, size_t size);

namespace rocksdb::crc32c {
uint32_t Extend(uint32_t crc, const char* bytes, size_t size);
}

namespace {

constexpr size_t kBytesInAll = 500'000'000;

double NanosecondsEach(uint32_t (*extend)(uint32_t, const char*, size_t), size_t size) {
  using Clock = std::chrono::steady_clock;
  static const std::string bytes(1 << 21, 'x');
  static volatile uint32_t kept;
  const size_t count = kBytesInAll / (size + 100);
  const Clock::time_point start = Clock::now();
  uint32_t crc = 0;
  for (size_t i = 0; i < count; ++i) crc = extend(crc, bytes.data() + (i & 63), size);
  kept = crc;
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(count);
}

}  // namespace

int main() {
  for (const size_t size : {16, 50, 150, 1'000, 4'000, 32'000, 1'000'000}) {
    std::printf("%8zu bytes: RocksDB's %.1f ns, ISA-L's %.1f ns\n", size,
                NanosecondsEach(__real__ZN7rocksdb6crc32c6ExtendEjPKcm, size),
                NanosecondsEach(rocksdb::crc32c::Extend, size));
  }
}
