// SPDX-License-Identifier: BSD-3-Clause
//
// FilterFixture: counts and reads the rows of filters, for tests of Bloom and cuckoo filters.
#pragma once

#include <functional>
#include <string>

#include "encoding/varint.h"
#include "rdb/rdb_reader.h"
#include "tests/encoding/golden_file.h"
#include "types/collection_fixture.h"
#include "types/copy.h"
#include "types/digest.h"
#include "types/rdb_value.h"
#include "types/value_types.h"

namespace cairn {

class FilterFixture : public CollectionFixture {
 protected:
  struct Rows {
    size_t count = 0;
    size_t bytes = 0;
  };
  // The pages of the filter under `name`.
  Rows PagesOf(std::string_view name) {
    Rows rows;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      const KeyEntry entry = TRY(keys.Find(key));
      if (entry.encoding() != Encoding::kSpread) return Ok();
      const SpreadPayload spread = TRY(DecodeSpreadPayload(entry.payload()));
      Cursor cursor = txn().Scan(MakeCollectionStart(Space::kElements, spread.id, key.stripe()),
                                 MakeCollectionEnd(Space::kElements, spread.id, key.stripe()));
      for (; cursor.Valid(); cursor.Next()) {
        ++rows.count;
        rows.bytes += cursor.value().size();
      }
      return cursor.TakeStatus();
    });
    return rows;
  }

  std::string PayloadOf(std::string_view name) {
    std::string payload;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      payload = TRY(keys.Find(key)).payload();
      return Ok();
    });
    return payload;
  }

  std::string DigestOf(std::string_view name) {
    Digest digest;
    Run(name,
        [&](Keyspace& keys, const Key& key) -> Status { return AddValue(digest, keys, key, TRY(keys.Find(key))); });
    return digest.Hex();
  }

  void Copy(std::string_view from, std::string_view to) {
    Begin();
    Keyspace keys(txn(), 0, limits_);
    const Key source = keys.Name(from);
    const Key target = keys.Name(to);
    Lock(source);
    Lock(target);
    const auto copy = [&]() -> Status {
      return CopyValue(source, TRY(keys.Find(source)), keys, target, TRY(keys.Find(target)));
    };
    ASSERT_TRUE(copy().ok());
    Finish();
  }

  // The value as in a DUMP payload.
  std::string Saved(std::string_view name) {
    std::string bytes;
    Run(name, [&](Keyspace& keys, const Key& key) -> Status {
      RdbWriter writer(bytes);
      return SaveRdbValue(keys, key, TRY(keys.Find(key)), writer);
    });
    return bytes;
  }

  // Loads such a value in pieces of `parts`; returns the error.
  std::string LoadInPieces(std::string_view name, std::string_view bytes, uint64_t parts) {
    RdbReader reader(bytes, 1 << 20);
    const auto load = [&]() -> Status {
      RdbValueReader value = TRY(RdbValueReader::Make(RdbTypeOf(TRY(reader.Byte()), reader.dialect()), reader));
      do {
        TRY(value.ReadPiece({.parts = parts}));
        Run(name, [&](Keyspace& keys, const Key& key) -> Status {
          return ValueTypeOf(value.piece().type).add_piece(keys, key, value.piece());
        });
      } while (!value.at_end());
      return Ok();
    };
    const Status status = load();
    return std::string(status.text());
  }
};

}  // namespace cairn
