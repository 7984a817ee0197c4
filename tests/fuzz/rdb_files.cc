// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged RDB files: for any bytes, the loader of cairn-import, DEBUG RELOAD and replicas returns an error or keys that
// can be saved again. It neither hangs nor allocates memory out of proportion to the file. AddressSanitizer
// (tests/fuzz/run) checks that it makes no invalid memory access.
//
//   cairn_fuzz_rdb --corpus DIR --work DIR [--count N] [--seed S]
//
// The DIR of --corpus has whole files; tests/rdb/rdb_corpus.h builds those that Redis no longer writes. The bytes
// between a file's header and its checksum are changed in one to four places. One file in five keeps the checksum of
// the valid file and must be refused for it; the others are loaded as with `rdbchecksum no`. Accepted keys are saved,
// loaded and saved again, and both saves must have the same bytes. The current file is WORK/damaged.rdb, so a crash
// leaves it there. File i of seed S is file 0 of seed S + i.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "isal.h"
#include "rdb/little_endian.h"
#include "rdb/rdb_disk.h"
#include "rdb/rdb_file.h"
#include "tests/fuzz/damage.h"
#include "tests/fuzz/rdb_loader.h"
#include "tests/rdb/rdb_file_corpus.h"

namespace cairn {
namespace {

constexpr unsigned kMostSeconds = 60;         // for one file, on a busy machine and with the sanitizer
constexpr int64_t kMostNewBytes = 300 << 20;  // of memory, for one file of some 100 KB
constexpr uint64_t kFilesPerStore = 1000;

int64_t MostResidentBytes() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

struct Totals {
  uint64_t refused = 0;
  uint64_t loaded = 0;
  uint64_t failed = 0;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Whether the file ends with the checksum of its bytes, or without one.
bool HasItsChecksum(std::string_view bytes) {
  const std::string_view body = bytes.substr(0, bytes.size() - kRdbCrcBytes);
  std::string expected;
  AppendLittle(expected, isal::Crc64Jones(body), kRdbCrcBytes);
  return bytes.ends_with(expected) || bytes.ends_with(std::string(kRdbCrcBytes, '\0'));
}

// The bytes between header and checksum of files, and the header of each.
struct Corpus {
  void Add(std::string_view head, std::string body) {
    heads.emplace_back(head);
    bodies.push_back(std::move(body));
  }

  std::vector<std::string> heads;
  std::vector<std::string> bodies;
};

class Trial {
 public:
  Trial(std::string work, const Corpus& corpus) : work_(std::move(work)), corpus_(corpus) {}

  // The error in the loader's result for file `number`, or nothing.
  std::optional<std::string> Run(uint64_t number, uint64_t seed, Totals& totals) {
    if (number % kFilesPerStore == 0) {
      loader_.reset();
      loader_ = std::make_unique<RdbLoader>();
    }
    Random random(seed + number);
    const bool checksum = random.Below(5) == 0;
    const std::string bytes = Make(random);
    WriteFile(DamagedPath(), bytes);
    alarm(kMostSeconds);
    const int64_t before = MostResidentBytes();
    const auto loaded = Load(DamagedPath(), checksum);
    const int64_t taken = MostResidentBytes() - before;
    ++(loaded.ok() ? totals.loaded : totals.refused);
    if (taken > kMostNewBytes) return "took " + std::to_string(taken >> 20) + " MB of memory";
    if (!loaded.ok()) return std::nullopt;
    if (checksum && loaded->end == bytes.size() && !HasItsChecksum(bytes)) return "was taken with a wrong checksum";
    return TryAgain(loaded->keys);
  }

  std::string DamagedPath() const { return work_ + "/damaged.rdb"; }

 private:
  Result<RdbLoader::Loaded> Load(const std::string& path, bool checksum) {
    RdbInputFile file;
    TRY(file.Open(path));
    return loader_->Load(file.source(), checksum);
  }

  std::string Make(Random& random) {
    const size_t at = random.Below(corpus_.bodies.size());
    const std::string& good = corpus_.bodies[at];
    std::string body = good;
    Damage damage(random, corpus_.bodies);
    const uint64_t places = random.Below(4) == 0 ? 2 + random.Below(3) : 1;  // more places rarely make a loadable file
    for (uint64_t left = places; left > 0; --left) damage.Apply(body);
    std::string head = corpus_.heads[at];
    if (random.Below(50) == 0) damage.Apply(head);
    std::string crc;
    AppendLittle(crc, isal::Crc64Jones(corpus_.heads[at] + good), kRdbCrcBytes);
    return head + body + crc;
  }

  // Saves the loaded keys, loads them and saves them again.
  std::optional<std::string> TryAgain(uint64_t keys) {
    const auto saved = loader_->Save();
    if (!saved.ok()) return "cannot be saved: " + std::string(saved.status().text());
    const std::string path = work_ + "/saved.rdb";
    WriteFile(path, *saved);
    const auto again = Load(path, true);
    if (!again.ok()) return "cannot be loaded again: " + std::string(again.status().text());
    if (again->keys > keys) return "comes back with more keys";
    const auto twice = loader_->Save();
    if (!twice.ok()) return "cannot be saved again: " + std::string(twice.status().text());
    if (KeysOf(*twice) != KeysOf(*saved)) return "comes back as other data";
    return std::nullopt;
  }

  const std::string work_;
  const Corpus& corpus_;
  std::unique_ptr<RdbLoader> loader_;
};

// The files of the directory, and one for each of our own encodings.
Corpus ReadCorpus(const std::string& dir) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) files.push_back(ReadFile(entry.path()));
  std::sort(files.begin(), files.end());  // a directory has no order, and the seed must determine everything
  Corpus corpus;
  for (const std::string& bytes : files) {
    if (bytes.size() < kRedisFileHead.size() + kRdbCrcBytes) continue;
    const bool is_of_valkey = bytes.starts_with(kValkeyMagic);
    corpus.Add(is_of_valkey ? kValkeyFileHead : kRedisFileHead,
               bytes.substr(kRedisFileHead.size(), bytes.size() - kRedisFileHead.size() - kRdbCrcBytes));
  }
  for (RdbFileParts& file : RdbFileCorpus()) corpus.Add(file.head, std::move(file.body));
  return corpus;
}

int Main(int argc, char** argv) {
  uint64_t count = 100000;
  uint64_t seed = static_cast<uint64_t>(WallMs());
  std::string corpus;
  std::string work;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--count") count = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--corpus") corpus = argv[i + 1];
    if (name == "--work") work = argv[i + 1];
  }
  const Corpus files = ReadCorpus(corpus);
  std::printf("%zu files to damage, seed %llu\n", files.bodies.size(), static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  Trial trial(work, files);
  Totals totals;
  for (uint64_t i = 0; i < count; ++i) {
    const auto wrong = trial.Run(i, seed, totals);
    if (!wrong) continue;
    ++totals.failed;
    const std::string kept = work + "/failed-" + std::to_string(seed + i) + ".rdb";
    std::filesystem::copy_file(trial.DamagedPath(), kept, std::filesystem::copy_options::overwrite_existing);
    std::printf("%s %s\n", kept.c_str(), wrong->c_str());
  }
  std::printf("%llu damaged files: %llu refused, %llu loaded\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(totals.refused), static_cast<unsigned long long>(totals.loaded));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(count - totals.failed),
              static_cast<unsigned long long>(totals.failed));
  return totals.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) { return cairn::Main(argc, argv); }
