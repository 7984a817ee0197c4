// SPDX-License-Identifier: BSD-3-Clause
//
// Bytes of the cluster bus -> messages. The bytes are not trusted: each length is checked, and ids and texts must be
// such that they can be stored in nodes.conf and shown to clients.
//
// Thread: any; pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "bus/message.h"

namespace cairn {

// Takes the first message from the front of `buffer`, the received bytes; none if the message is not complete. The view
// points into the buffer. An error, kCorruption, means that the bytes are no messages: the signature is wrong, or
// the length is less than a header or more than `limit`. It is found as soon as the first 8 bytes are there, the
// signature before that. The connection must be closed then, because the next message cannot be found.
Result<std::optional<std::string_view>> TakeMessage(std::string_view& buffer, size_t limit);

// Decodes one whole message, as TakeMessage returns it. kCorruption "field: reason" if a field is not valid, the
// version is not 1, the type is unknown, or the length does not fit the contents. Redis ignores such a message and goes
// on with the connection. Extensions of an unknown type are skipped.
Result<Message> DecodeMessage(std::string_view bytes);

}  // namespace cairn
