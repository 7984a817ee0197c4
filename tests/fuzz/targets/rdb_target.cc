// SPDX-License-Identifier: BSD-3-Clause
//
// Rdb: RDB files. Keys that are in the store were loaded and can be saved, and a second load and save has the same
// bytes.
//
// Input: whether the file is read in small pieces, then the file. Its checksum is not verified.
#include <algorithm>

#include "base/assert.h"
#include "fuzz/rdb_loader.h"
#include "fuzz/targets/target.h"
#include "rdb/rdb_file_corpus.h"

namespace cairn {
namespace {

RdbSource SourceOf(std::string_view bytes, size_t piece) {
  return [bytes, piece](char* into, size_t most) mutable -> Result<size_t> {
    const size_t size = std::min({bytes.size(), most, piece});
    std::copy_n(bytes.data(), size, into);
    bytes.remove_prefix(size);
    return size;
  };
}

void Run(RdbLoader& loader, std::string_view input) {
  constexpr size_t kSmallPiece = 7;
  const size_t piece = TakeChoice(input) % 2 == 1 ? kSmallPiece : SIZE_MAX;
  const auto loaded = loader.Load(SourceOf(input, piece), false);
  if (!loaded.ok()) return;
  // A file may have a key twice. The later value counts, also one without elements, which is no key.
  const uint64_t keys = loader.CountKeys();
  ASSERT(keys <= loaded->keys, "each key in the store was loaded");
  const auto saved = loader.Save();
  ASSERT(saved.ok(), "loaded keys can be saved");
  const auto again = loader.Load(SourceOf(*saved, SIZE_MAX), true);
  ASSERT(again.ok(), "a saved file can be loaded");
  ASSERT(again->keys == keys && loader.CountKeys() == keys, "a saved file has all keys");
  const auto twice = loader.Save();
  ASSERT(twice.ok() && KeysOf(*twice) == KeysOf(*saved), "a saved file has the same keys");
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const RdbFileParts& file : RdbFileCorpus()) {
    seeds.push_back(Chosen(seeds.size() % 2, std::string(file.head) + file.body + std::string(kRdbCrcBytes, '\0')));
  }
  return seeds;
}

std::function<void(std::string_view)> Make() {
  auto loader = std::make_shared<RdbLoader>();
  for (const std::string& seed : Seeds()) {
    const auto loaded = loader->Load(SourceOf(std::string_view(seed).substr(1), SIZE_MAX), false);
    ASSERT(loaded.ok() && loader->CountKeys() > 0, "a valid file has keys");
  }
  return [loader = std::move(loader)](std::string_view input) { Run(*loader, input); };
}

}  // namespace

const FuzzTarget kRdbTarget = {.name = "rdb",
                               .make = Make,
                               .seeds = Seeds,
                               .covers = "src/replication/rdb_file_reader src/rdb/",
                               .most_bytes = 32768};

}  // namespace cairn
