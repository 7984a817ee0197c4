// SPDX-License-Identifier: BSD-3-Clause
//
// Named: the value under a key of the client's database, as a command opens it, with its keyspace and its key.
//
//   Named<List> list(ctx, args.Bytes());
//   TRY(list.Open());
//
// Thread: that of the transaction.
#pragma once

#include <string_view>

#include "command/context.h"

namespace cairn {

struct NamedKey {
  NamedKey(const Keyspace& keyspace, std::string_view name) : keys(keyspace), key(keys.Name(name)) {}
  Keyspace keys;
  Key key;
};

template <typename Value>
struct Named : NamedKey, Value {
  // Views the bytes of `name`.
  Named(CommandContext& ctx, std::string_view name)
      : NamedKey(ctx.keys(), name), Value(NamedKey::keys, NamedKey::key) {}
  using NamedKey::key;  // some types have a private member of that name
  using NamedKey::keys;
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;
};

}  // namespace cairn
