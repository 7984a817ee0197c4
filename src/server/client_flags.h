// SPDX-License-Identifier: BSD-3-Clause
//
// What cairn-copy and cairn-doctor share as clients of a server: its address, and the flags of redis-cli for TLS.
//
// Thread: main.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/tls.h"
#include "replication/redis_client.h"

namespace cairn {

// Reads "host:port" or "[IPv6 address]:port", and without a port, "host"; then the port is `default_port`. 0: none, a
// port is needed.
Result<RedisClient::Address> ParseAddress(std::string_view text, int default_port);

// Configures a client by --cacert, --cacertdir, --cert and --key.
Status ConfigureByFlags(Tls& tls);

}  // namespace cairn
