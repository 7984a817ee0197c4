// SPDX-License-Identifier: BSD-3-Clause
//
// The replies of JSON.GET, JSON.RESP and JSON.ARRPOP: JSON values as text or in the types of the protocol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/result.h"
#include "command/args.h"
#include "resp/reply.h"
#include "types/json.h"
#include "types/json_path.h"

namespace cairn {

enum class JsonFormat : uint8_t { kText, kExpandFirst, kExpand };

struct JsonGetOptions {
  JsonLayout layout;
  JsonFormat format = JsonFormat::kText;
  std::vector<std::string_view> paths;
};
Result<JsonGetOptions> ParseJsonGetOptions(Args& args, int protocol);
// The word behind FORMAT; `text` is the word for kText.
Result<JsonFormat> ParseJsonFormat(Args& args, int protocol, std::string_view text);

// REQUIRES: json.exists()
Status ReplyJsonGet(const Json& json, const JsonGetOptions& options, Reply& reply);

// The matches as the text of one array. Counts the text as visits of `work`.
Result<std::string> JsonTextOf(const std::vector<JsonMatch>& matches, const JsonLayout& layout, JsonWork& work,
                               Reply& reply, int level = 0);

using JsonReplyOne = absl::FunctionRef<Status(const JsonValue& value)>;
// Replies with an array that has what `reply_one` replies for each match. Counts these bytes as visits of `work`; stops
// when the reply is cut.
Status ReplyJsonMatches(const std::vector<JsonMatch>& matches, JsonWork& work, Reply& reply, JsonReplyOne reply_one);

// JSON.RESP's form: an array and an object begin with their bracket.
void ReplyJsonAsResp(const JsonValue& value, Reply& reply);
// A value in RESP3. kExpandFirst: containers are text.
void ReplyJsonExpanded(const JsonValue& value, JsonFormat format, Reply& reply);

}  // namespace cairn
