// SPDX-License-Identifier: BSD-3-Clause
//
// CollectionFixture: runs commands on one database one after another, and reads a collection's elements and its key
// row, for tests of types.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/storage/store_fixture.h"
#include "types/limits.h"

namespace cairn {

class CollectionFixture : public StoreFixture {
 protected:
  // Redis's limits alone decide the form; tests/types/large_packed_test.cc tests the other limit.
  CollectionFixture() { limits_.packed_large_max_bytes = 0; }

  // Runs `command` as one command that holds the key's lock, and keeps its writes.
  void Run(std::string_view name, const std::function<Status(Keyspace&, const Key&)>& command) {
    Begin();
    Keyspace keyspace(txn(), 0, limits_);
    const Key key = keyspace.Name(name);
    Lock(key);
    const Status status = command(keyspace, key);
    ASSERT_TRUE(status.ok()) << status.text();
    Finish();
  }

  // The encoding of the value under `name`; kRaw if there is none.
  Encoding EncodingOf(std::string_view name) {
    Encoding encoding = Encoding::kRaw;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry entry = TRY(keyspace.Find(key));
      if (entry.exists()) encoding = entry.encoding();
      return Ok();
    });
    return encoding;
  }

  bool Exists(std::string_view name) {
    bool exists = false;
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      exists = TRY(keyspace.Find(key)).exists();
      return Ok();
    });
    return exists;
  }

  // Stores a record's payload without checking it.
  void WriteRaw(std::string_view name, Type type, Encoding encoding, std::string_view payload) {
    Run(name, [&](Keyspace& keyspace, const Key& key) -> Status {
      const KeyEntry entry = TRY(keyspace.Find(key));
      return keyspace.Write(key, entry, {.type = type, .encoding = encoding}, payload);
    });
  }

  Limits limits_;
  Random random_{7};
};

}  // namespace cairn
