// SPDX-License-Identifier: BSD-3-Clause
#include "command/json_reply.h"

#include <algorithm>
#include <set>

#include "command/json_document.h"

namespace cairn {
namespace {

// Appends the text of a value, and counts it as visits. Cuts the reply instead if there is no room for the layout,
// which may be many times as long as the document.
Status AppendCounted(const JsonValue& value, const JsonLayout& layout, int level, JsonWork& work, Reply& reply,
                     std::string& out) {
  const size_t before = out.size();
  if (!layout.IsCompact() && !reply.Fits(before + layout.Bytes(value, level))) return Ok();
  AppendJson(value, layout, out, level);
  return work.Visit((out.size() - before) / kJsonBytesPerVisit);
}

struct PathMatches {
  std::string_view path;
  std::vector<JsonMatch> matches;
};

Result<std::string> TextOfPaths(const std::vector<PathMatches>& found, bool is_legacy, const JsonLayout& layout,
                                JsonWork& work, Reply& reply) {
  std::string out;
  // A value for legacy paths, an array otherwise.
  const auto append = [&](const std::vector<JsonMatch>& matches, int level) -> Status {
    if (is_legacy) return AppendCounted(*matches[0].value, layout, level, work, reply, out);
    out += TRY(JsonTextOf(matches, layout, work, reply, level));
    return Ok();
  };
  if (found.size() == 1) {
    TRY(append(found[0].matches, 0));
    return out;
  }
  out += '{';
  for (size_t i = 0; i < found.size() && reply.Fits(out.size()); ++i) {
    if (i > 0) out += ',';
    AppendJsonBreak(layout, 1, out);
    AppendJsonString(found[i].path, out);
    out.append(":").append(layout.space);
    TRY(append(found[i].matches, 1));
  }
  AppendJsonBreak(layout, 0, out);
  out += '}';
  return out;
}

}  // namespace

Result<JsonFormat> ParseJsonFormat(Args& args, int protocol, std::string_view text) {
  if (protocol < 3) return Status::Reply("ERR FORMAT argument is not supported on RESP2");
  if (args.Keyword(text)) return JsonFormat::kText;
  if (args.Keyword("expand1")) return JsonFormat::kExpandFirst;
  if (args.Keyword("expand")) return JsonFormat::kExpand;
  return Status::Reply("ERR wrong reply format");
}

Result<JsonGetOptions> ParseJsonGetOptions(Args& args, int protocol) {
  JsonGetOptions options;
  while (args.More()) {
    if (args.Keyword("indent")) {
      options.layout.indent = args.Bytes();
    } else if (args.Keyword("newline")) {
      options.layout.newline = args.Bytes();
    } else if (args.Keyword("space")) {
      options.layout.space = args.Bytes();
    } else if (args.Keyword("format")) {
      options.format = TRY(ParseJsonFormat(args, protocol, "string"));
    } else if (!args.Keyword("noescape")) {
      options.paths.push_back(args.Bytes());
    }
  }
  TRY(args.Done());
  if (options.paths.empty()) options.paths.push_back(".");
  return options;
}

Result<std::string> JsonTextOf(const std::vector<JsonMatch>& matches, const JsonLayout& layout, JsonWork& work,
                               Reply& reply, int level) {
  std::string out = "[";
  for (size_t i = 0; i < matches.size() && reply.Fits(out.size()); ++i) {
    if (i > 0) out += ',';
    AppendJsonBreak(layout, level + 1, out);
    TRY(AppendCounted(*matches[i].value, layout, level + 1, work, reply, out));
  }
  if (!matches.empty()) AppendJsonBreak(layout, level, out);
  return out + "]";
}

Status ReplyJsonMatches(const std::vector<JsonMatch>& matches, JsonWork& work, Reply& reply, JsonReplyOne reply_one) {
  reply.Array(matches.size());
  for (const JsonMatch& match : matches) {
    if (reply.is_cut()) return Ok();
    const size_t before = reply.size();
    TRY(reply_one(*match.value));
    TRY(work.Visit((reply.size() - before) / kJsonBytesPerVisit));
  }
  return Ok();
}

Status ReplyJsonGet(const Json& json, const JsonGetOptions& options, Reply& reply) {
  if (options.format == JsonFormat::kText && options.layout.IsCompact() && options.paths.size() == 1) {
    // The whole document needs no parse.
    if (options.paths[0] == ".") {
      reply.Bulk(json.text());
      return Ok();
    }
    if (options.paths[0] == "$") {
      std::string list = "[";
      list.append(json.text()).append("]");
      reply.Bulk(list);
      return Ok();
    }
  }
  const JsonValue root = TRY(json.Read());
  JsonWork work = json.work();
  std::vector<PathMatches> found;
  std::set<std::string_view> known;  // a client could choose paths whose hashes are equal
  bool is_legacy = options.format == JsonFormat::kText;
  for (const std::string_view text : options.paths) {
    const JsonPath path = TRY(Json::ParsePath(text, work));
    is_legacy &= path.is_legacy();
    const bool is_new = known.insert(text).second;
    if (options.format != JsonFormat::kText || is_new) found.push_back({text, TRY(path.Match(root, work))});
  }
  if (options.format == JsonFormat::kText) {
    const auto is_missing = [](const PathMatches& each) { return each.matches.empty(); };
    if (is_legacy && std::any_of(found.begin(), found.end(), is_missing)) return Status::Reply(kNoJsonPath);
    reply.Bulk(TRY(TextOfPaths(found, is_legacy, options.layout, work, reply)));
    return Ok();
  }
  reply.Array(found.size());
  for (const PathMatches& each : found) {
    TRY(ReplyJsonMatches(each.matches, work, reply, [&](const JsonValue& value) {
      ReplyJsonExpanded(value, options.format, reply);
      return Ok();
    }));
  }
  return Ok();
}

void ReplyJsonAsResp(const JsonValue& value, Reply& reply) {
  switch (value.kind()) {
    case JsonKind::kNull: reply.Null(); return;
    case JsonKind::kBool: reply.Simple(std::get<bool>(value.data) ? "true" : "false"); return;
    case JsonKind::kInteger: reply.Integer(std::get<int64_t>(value.data)); return;
    case JsonKind::kUnsigned:
    case JsonKind::kDouble: reply.Double(value.AsDouble()); return;
    case JsonKind::kString: reply.Bulk(value.text()); return;
    case JsonKind::kArray:
      reply.Array(value.array().size() + 1);
      reply.Simple("[");
      for (const JsonValue& item : value.array()) ReplyJsonAsResp(item, reply);
      return;
    case JsonKind::kObject:
      reply.Array(value.object().size() * 2 + 1);
      reply.Simple("{");
      for (const JsonMember& member : value.object()) {
        reply.Bulk(member.name);
        ReplyJsonAsResp(member.value, reply);
      }
  }
}

void ReplyJsonExpanded(const JsonValue& value, JsonFormat format, Reply& reply) {
  if (value.Is(JsonKind::kBool)) {
    reply.Bool(std::get<bool>(value.data));
  } else if (!value.IsContainer() && !(format == JsonFormat::kExpandFirst && value.Is(JsonKind::kString))) {
    ReplyJsonAsResp(value, reply);
  } else if (format == JsonFormat::kExpandFirst) {
    reply.Bulk(JsonText(value));
  } else if (value.Is(JsonKind::kArray)) {
    reply.Array(value.array().size());
    for (const JsonValue& item : value.array()) ReplyJsonExpanded(item, format, reply);
  } else {
    reply.Map(value.object().size());
    for (const JsonMember& member : value.object()) {
      reply.Bulk(member.name);
      ReplyJsonExpanded(member.value, format, reply);
    }
  }
}

}  // namespace cairn
