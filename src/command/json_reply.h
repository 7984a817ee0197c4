// SPDX-License-Identifier: BSD-3-Clause
//
// The replies of JSON.GET, JSON.RESP and JSON.ARRPOP: JSON values as text or in the types of the protocol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

  bool IsCompact() const { return layout.indent.empty() && layout.newline.empty() && layout.space.empty(); }
};
Result<JsonGetOptions> ParseJsonGetOptions(Args& args, int protocol);
// The word behind FORMAT; `text` is the word for kText.
Result<JsonFormat> ParseJsonFormat(Args& args, int protocol, std::string_view text);

// REQUIRES: json.exists()
Status ReplyJsonGet(const Json& json, const JsonGetOptions& options, Reply& reply);

// The matches as the text of one array.
std::string JsonTextOf(const std::vector<JsonMatch>& matches, const JsonLayout& layout, Reply& reply, int level = 0);

// JSON.RESP's form: an array and an object begin with their bracket.
void ReplyJsonAsResp(const JsonValue& value, Reply& reply);
// A value in RESP3. kExpandFirst: containers are text.
void ReplyJsonExpanded(const JsonValue& value, JsonFormat format, Reply& reply);

}  // namespace cairn
