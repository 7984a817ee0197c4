// SPDX-License-Identifier: BSD-3-Clause
#include "command/json_reply.h"

#include <algorithm>
#include <unordered_set>

#include "command/json_document.h"

namespace cairn {
namespace {

// The matches of one of several paths, as JSON.GET shows them: a value for legacy paths, an array otherwise.
void AppendMatches(const std::vector<JsonMatch>& matches, bool is_legacy, const JsonLayout& layout, int level,
                   Reply& reply, std::string& out) {
  if (is_legacy) {
    AppendJson(*matches[0].value, layout, out, level);
  } else {
    out += JsonTextOf(matches, layout, reply, level);
  }
}

struct PathMatches {
  std::string_view path;
  std::vector<JsonMatch> matches;
};

std::string TextOfPaths(const std::vector<PathMatches>& found, bool is_legacy, const JsonLayout& layout, Reply& reply) {
  std::string out;
  if (found.size() == 1) {
    AppendMatches(found[0].matches, is_legacy, layout, 0, reply, out);
    return out;
  }
  out += '{';
  for (size_t i = 0; i < found.size() && reply.Fits(out.size()); ++i) {
    if (i > 0) out += ',';
    AppendJsonBreak(layout, 1, out);
    AppendJsonString(found[i].path, out);
    out.append(":").append(layout.space);
    AppendMatches(found[i].matches, is_legacy, layout, 1, reply, out);
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

std::string JsonTextOf(const std::vector<JsonMatch>& matches, const JsonLayout& layout, Reply& reply, int level) {
  std::string out = "[";
  for (size_t i = 0; i < matches.size() && reply.Fits(out.size()); ++i) {
    if (i > 0) out += ',';
    AppendJsonBreak(layout, level + 1, out);
    AppendJson(*matches[i].value, layout, out, level + 1);
  }
  if (!matches.empty()) AppendJsonBreak(layout, level, out);
  return out + "]";
}

Status ReplyJsonGet(const Json& json, const JsonGetOptions& options, Reply& reply) {
  if (options.format == JsonFormat::kText && options.IsCompact() && options.paths.size() == 1) {
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
  std::unordered_set<std::string_view> known;
  bool is_legacy = options.format == JsonFormat::kText;
  for (const std::string_view text : options.paths) {
    const JsonPath path = TRY(json.ParsePath(text));
    is_legacy &= path.is_legacy();
    const bool is_new = known.insert(text).second;
    if (options.format != JsonFormat::kText || is_new) found.push_back({text, TRY(path.Match(root, work))});
  }
  if (options.format == JsonFormat::kText) {
    const auto is_missing = [](const PathMatches& each) { return each.matches.empty(); };
    if (is_legacy && std::any_of(found.begin(), found.end(), is_missing)) return Status::Reply(kNoJsonPath);
    reply.Bulk(TextOfPaths(found, is_legacy, options.layout, reply));
    return Ok();
  }
  reply.Array(found.size());
  for (const PathMatches& each : found) {
    reply.Array(each.matches.size());
    for (const JsonMatch& match : each.matches) {
      if (reply.is_cut()) return Ok();
      ReplyJsonExpanded(*match.value, options.format, reply);
    }
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
