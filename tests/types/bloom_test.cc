// SPDX-License-Identifier: BSD-3-Clause
//
// Bloom filters find every item that was added, have the promised rate of false positives, and cost what
// docs/decisions/filter-pages.md says.
#include "types/bloom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "types/filter_fixture.h"

namespace cairn {
namespace {

constexpr uint32_t kOptions = kBloomDefaultOptions;

class BloomTest : public FilterFixture {
 protected:
  void Create(std::string_view name, uint64_t capacity, double error, uint32_t options = kOptions,
              uint32_t growth = 2) {
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Bloom bloom(keys, key);
      TRY(bloom.Open());
      BloomChain chain{.options = options, .growth = growth};
      chain.links.push_back(TRY(MakeBloomLink(capacity, error, options)));
      TRY(bloom.Create(chain));
      return bloom.Save();
    });
  }
  // Adds the numbers [begin, end); returns how many were new.
  uint64_t Add(std::string_view name, int begin, int end) {
    uint64_t added = 0;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Bloom bloom(keys, key);
      TRY(bloom.Open());
      for (int i = begin; i < end; ++i) {
        if (TRY(bloom.Add(std::to_string(i))) == BloomAdded::kNew) ++added;
      }
      return bloom.Save();
    });
    return added;
  }
  // How many of the numbers [begin, end) the filter claims to hold.
  int Found(std::string_view name, int begin, int end) {
    int found = 0;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Bloom bloom(keys, key);
      TRY(bloom.Open());
      for (int i = begin; i < end; ++i) found += TRY(bloom.Contains(std::to_string(i))) ? 1 : 0;
      return Ok();
    });
    return found;
  }
  BloomChain ChainOf(std::string_view name) {
    BloomChain chain;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      Bloom bloom(keys, key);
      TRY(bloom.Open());
      chain = bloom.chain();
      return Ok();
    });
    return chain;
  }
};

TEST_F(BloomTest, FindsWhatWasAddedThroughAllLinks) {
  Create("b", 100, 0.005);
  const uint64_t added = Add("b", 0, 5000);
  EXPECT_EQ(Found("b", 0, 5000), 5000);
  const BloomChain chain = ChainOf("b");
  EXPECT_EQ(chain.size, added);
  EXPECT_EQ(chain.links.size(), 6u);
  EXPECT_EQ(Add("b", 0, 5000), 0u);
  // The rates of all links add up to less than twice that of the first.
  EXPECT_LT(Found("b", 10000, 20000), 100);
}

// The false positives that RedisBloom has too: its flow tests count 99 and 3,997 items.
TEST_F(BloomTest, HasTheFalsePositivesOfRedisBloom) {
  Create("b", 10, 0.005);
  EXPECT_EQ(Add("b", 0, 100), 99u);
  Create("c", 100, 0.0005);
  EXPECT_EQ(Add("c", 0, 4000), 3997u);
  EXPECT_EQ(ChainOf("c").bytes(), 200u + 432 + 936 + 2016 + 4320 + 9216);
}

TEST_F(BloomTest, IsOneRowWhileItIsSmall) {
  Create("b", 100, 0.005);
  EXPECT_EQ(EncodingOf("b"), Encoding::kRaw);
  Add("b", 0, 100);
  EXPECT_EQ(EncodingOf("b"), Encoding::kRaw);
  EXPECT_EQ(Found("b", 0, 100), 100);
  Add("b", 100, 1000);  // grows beyond kPackedBytes
  EXPECT_EQ(EncodingOf("b"), Encoding::kSpread);
  EXPECT_EQ(Found("b", 0, 1000), 1000);
}

// A command that adds one item to a filter of 1 GB must not write more than the item's pages.
TEST_F(BloomTest, WritesThePagesOfTheItemOnly) {
  Create("b", uint64_t{1} << 30, 0.005);
  EXPECT_EQ(PagesOf("b").count, 0u) << "an empty filter is one row";
  const uint32_t hashes = ChainOf("b").links[0].hashes;
  Add("b", 0, 1);
  EXPECT_EQ(PagesOf("b").count, hashes);
  Add("b", 1, 2);
  EXPECT_EQ(PagesOf("b").count, 2 * hashes);
  Add("b", 0, 2);
  EXPECT_EQ(PagesOf("b").count, 2 * hashes);
}

TEST_F(BloomTest, StaysWithOneLinkIfItMustNotScale) {
  Create("b", 2, 0.01, kOptions | kBloomFixedSize);
  EXPECT_EQ(Add("b", 0, 10), 2u);
  EXPECT_EQ(ChainOf("b").links.size(), 1u);
}

// Headers of old versions of RedisBloom: bits rounded up to a power of two, and hashes of 32 bits.
TEST_F(BloomTest, TakesTheOptionsOfOldFilters) {
  for (const uint32_t options : {0u, uint32_t{kBloomHash64}, uint32_t{kBloomExactBits}}) {
    Create("b", 1000, 0.01, options);
    const BloomLink link = ChainOf("b").links[0];
    if (!(options & kBloomExactBits)) {
      EXPECT_EQ(link.bits(), uint64_t{1} << link.log2_bits);
      EXPECT_GT(link.entries, 1000u) << "the bits that were added hold more";
    }
    EXPECT_GT(Add("b", 0, 1000), 980u);
    EXPECT_EQ(Found("b", 0, 1000), 1000);
    Run("b", [&](Keyspace& keys, const Key& key) -> Status { return keys.Remove(key, TRY(keys.Find(key))); });
  }
}

TEST(BloomChain, RefusesWhatMakesNoFilter) {
  EXPECT_FALSE(MakeBloomLink(0, 0.1, kOptions).ok());
  EXPECT_FALSE(MakeBloomLink(1, 0, kOptions).ok());
  EXPECT_FALSE(MakeBloomLink(1, 1, kOptions).ok());
  EXPECT_FALSE(MakeBloomLink(1, std::nan(""), kOptions).ok());
  EXPECT_FALSE(MakeBloomLink(64, 0.1, kBloomEntriesAreBits).ok());
  EXPECT_EQ(MakeBloomLink(UINT64_MAX, 0.1, kOptions).status().text(), "ERR Insufficient memory to create filter");
  EXPECT_EQ(MakeBloomLink(uint64_t{1} << 42, 0.1, 0).status().text(), "ERR Insufficient memory to create filter");
  EXPECT_TRUE(MakeBloomLink(uint64_t{1} << 30, 5e-324, kOptions).ok());
}

// A header from a client or a damaged file must not make a command run for long, or read beyond the bits.
TEST(BloomChain, RefusesDamagedHeaders) {
  BloomChain chain{.growth = 2};
  chain.links.push_back(*MakeBloomLink(100, 0.01, kOptions));
  chain.links.push_back(*MakeBloomLink(200, 0.005, kOptions));
  ASSERT_TRUE(BloomChain::DecodeDump(chain.EncodeDump()).ok());
  const auto broken = [&](const std::function<void(BloomChain&)>& change) {
    BloomChain changed = chain;
    change(changed);
    std::string record = changed.Encode();
    std::string_view in = record;
    EXPECT_FALSE(BloomChain::Decode(in).ok());
    EXPECT_EQ(BloomChain::DecodeDump(changed.EncodeDump()).status().text(), "ERR received bad data");
  };
  broken([](BloomChain& c) { c.size = 1; });
  broken([](BloomChain& c) { c.options = 16; });
  broken([](BloomChain& c) { c.links.clear(); });
  broken([](BloomChain& c) { c.links[0].error = 0; });
  broken([](BloomChain& c) { c.links[0].error = std::nan(""); });
  broken([](BloomChain& c) { c.links[1].bytes = 0; });
  broken([](BloomChain& c) { c.links[1].bytes = FilterBytes::kMostBytes; });
  broken([](BloomChain& c) { c.links[1].hashes += 1; });
  broken([](BloomChain& c) { c.links[1].bits_per_entry = 1e300; });
  broken([](BloomChain& c) { c.links[1].log2_bits = 40; });
  broken([](BloomChain& c) { c.links[1].log2_bits = 200; });
  broken([](BloomChain& c) { c.links.resize(1076, c.links[0]); });
  const std::string dump = chain.EncodeDump();
  for (size_t size = 0; size < dump.size(); ++size) {
    EXPECT_FALSE(BloomChain::DecodeDump(std::string_view(dump).substr(0, size)).ok());
  }
}

// The record of docs/format.md, section 5.6.
TEST_F(BloomTest, HasTheBytesOfTheFormat) {
  Create("b", 4, 0.05);
  Run("b", [&](Keyspace& keys, const Key& key) -> Status {
    Bloom bloom(keys, key);
    TRY(bloom.Open());
    for (const char* const item : {"foo", "bar"}) TRY(bloom.Add(item));
    return bloom.Save();
  });
  EXPECT_EQ(ToHex(PayloadOf("b")), "0205020104023fa999999999999a4018f0de9ed4f74a05080008a02a0008000800");
}

TEST_F(BloomTest, IsCopiedSavedAndLoadedWithItsBits) {
  Create("small", 10, 0.01);
  Add("small", 0, 5);
  Create("large", 1000000, 0.01);
  Add("large", 0, 200);
  Create("empty", uint64_t{1} << 30, 0.01);
  for (const std::string name : {"small", "large", "empty"}) {
    const std::string saved = Saved(name);
    EXPECT_LT(saved.size(), 64 * 1024u) << "zeros are not saved";
    for (const uint64_t parts : {1, 1000}) {
      const std::string loaded = name + std::to_string(parts);
      EXPECT_EQ(LoadInPieces(loaded, saved, parts), "");
      EXPECT_EQ(DigestOf(loaded), DigestOf(name));
      EXPECT_EQ(Saved(loaded), saved);
    }
    Copy(name, "copy");
    EXPECT_EQ(DigestOf("copy"), DigestOf(name));
  }
  EXPECT_EQ(Found("large1", 0, 200), 200);
  Add("large1", 200, 201);
  EXPECT_NE(DigestOf("large1"), DigestOf("large"));
  EXPECT_EQ(Found("large", 0, 201), 200) << "a copy has rows of its own";
}

// A payload may claim any position for a part.
TEST_F(BloomTest, RefusesPartsBeyondItsEnd) {
  Create("b", 10, 0.01);
  Add("b", 0, 5);
  std::string saved = Saved("b");
  const uint64_t length = ChainOf("b").bytes();
  std::string header;
  RdbWriter writer(header);
  writer.Type(RdbType::kCairnBloom);
  writer.Text(ChainOf("b").Encode());
  for (const uint64_t offset : {length - 1, length + 1, UINT64_MAX}) {
    std::string bytes = header;
    RdbWriter parts(bytes);
    parts.Length(1);
    parts.Length(offset);
    parts.Text("ab");
    EXPECT_EQ(LoadInPieces("c", bytes, 1), "rdb: a part beyond the end of the filter");
  }
}

// Whatever a payload says, it is refused or makes a filter that can be used.
TEST_F(BloomTest, SurvivesDamagedPayloads) {
  Create("b", 20, 0.01);
  Add("b", 0, 50);
  const std::string saved = Saved("b");
  int loaded = 0;
  for (size_t at = 1; at < saved.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = saved;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const std::string name = std::to_string(at) + ":" + std::to_string(change);
      if (!LoadInPieces(name, damaged, 2).empty() || !Exists(name)) continue;
      ++loaded;
      Found(name, 0, 10);
      Add(name, 100, 110);
    }
  }
  EXPECT_GT(loaded, 0) << "a changed bit is no damage";
}

TEST_F(BloomTest, ReportsDamagedRecords) {
  const auto error_of = [&](Encoding encoding, const std::string& payload) {
    WriteRaw("x", Type::kBloom, encoding, payload);
    std::string text;
    Run("x", [&](Keyspace& keys, const Key& key) -> Status {
      Bloom bloom(keys, key);
      const Status status = bloom.Open();
      text = status.ok() ? "" : std::string(status.text());
      return Ok();
    });
    return text;
  };
  Create("b", 10, 0.01);
  const std::string packed = PayloadOf("b");
  EXPECT_EQ(error_of(Encoding::kRaw, packed), "");
  EXPECT_NE(error_of(Encoding::kRaw, packed.substr(0, packed.size() - 1)), "");
  EXPECT_NE(error_of(Encoding::kRaw, packed + "x"), "");
  EXPECT_NE(error_of(Encoding::kRaw, ""), "");
  Create("large", 10000, 0.01);
  const std::string spread = PayloadOf("large");
  EXPECT_NE(error_of(Encoding::kSpread, spread + "x"), "");
  EXPECT_NE(error_of(Encoding::kSpread, spread.substr(0, spread.size() - 1)), "");
  std::string no_page_bytes;
  AppendSpreadPayload(no_page_bytes, 7, 12000);
  EXPECT_NE(error_of(Encoding::kSpread, no_page_bytes), "");
  EXPECT_NE(error_of(Encoding::kSpread, no_page_bytes + '\0'), "");
}

}  // namespace
}  // namespace cairn
