// SPDX-License-Identifier: BSD-3-Clause
//
// IDMP and IDMPAUTO of XADD: a producer that sends an entry again, because it missed the reply, adds it only once. It
// names itself and gives the entry an id of its own; with IDMPAUTO the id is a hash of the fields. XADD is replicated
// with these options and with the id of the new entry; a replica then adds the entry without looking for an older one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "command/args.h"
#include "command/context.h"
#include "types/stream.h"
#include "types/stream_producers.h"

namespace cairn {

struct IdempotentAdd {
  std::string_view producer;  // empty: a plain XADD
  std::string_view id;        // empty: IDMPAUTO

  bool is_given() const { return !producer.empty(); }
};

// Reads the arguments of IDMP or IDMPAUTO (`is_auto`). REQUIRES: they are not at the end.
Status ReadIdempotentAdd(Args& args, IdempotentAdd& add, bool is_auto);

// The id of the entry: the given one, or the hash of the fields and values, whatever their order.
std::string IdempotentId(const IdempotentAdd& add, std::span<const std::string_view> fields);

// The producers of the stream.
StreamProducers ProducersOf(Stream& stream);
// The same, for adding an id: a stream without any, and without XCFGSET, takes the values of the directives.
StreamProducers StartedProducersOf(CommandContext& ctx, Stream& stream);

// The time by which ids have expired. A replica does not judge: its primary has found the id, or has not.
int64_t ExpiryTime(CommandContext& ctx);

}  // namespace cairn
