// SPDX-License-Identifier: BSD-3-Clause
//
// TDigestKey: a key with its t-digest, as the commands of t-digests use it. A digest is one row (Encoding::kRaw).
//
// Thread: that of the worker.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "command/context.h"
#include "types/tdigest.h"

namespace cairn {

class TDigestKey {
 public:
  TDigestKey(CommandContext& ctx, std::string_view name) : ctx_(ctx), keys_(ctx.keys()), key_(keys_.Name(name)) {}

  // Reads the key; WRONGTYPE if it has a value of another type. Charges the work budget by the nodes.
  Status Find();
  // The same; an error if the key does not exist.
  Status Open();
  bool exists() const { return digest_.has_value(); }

  TDigest& digest() { return *digest_; }
  // Compresses the digest for this many estimates, each of which may walk over all nodes. REQUIRES: exists()
  Status CompressFor(size_t estimates);
  void set_digest(TDigest digest) { digest_ = std::move(digest); }
  // Keeps the expiry of a digest that existed.
  Status Save(uint64_t changes = 1) { return Write(entry_.expire_ms(), changes); }
  // Replaces the key, with its expiry.
  Status Replace() { return Write(kNoExpiry, 1); }

 private:
  Status Write(int64_t expire_ms, uint64_t changes);

  CommandContext& ctx_;
  Keyspace keys_;
  const Key key_;
  KeyEntry entry_;
  std::optional<TDigest> digest_;
};

inline constexpr std::string_view kNoTDigestKey = "ERR T-Digest: key does not exist";

}  // namespace cairn
