// SPDX-License-Identifier: BSD-3-Clause
#include "report/status_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/sha.h"
#include "base/words.h"
#include "config/config.h"
#include "report/report.h"
#include "stats/command_log.h"
#include "stats/hot_keys.h"
#include "storage/store.h"
#include "types/keyspace.h"

namespace cairn {
namespace {

constexpr int64_t kSlowCommands = 20;

// Writes the lines `name:value` of a text of INFO as an object.
void WriteFields(std::string_view text, JsonText& json) {
  json.Open('{');
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != line.npos) json.Field(line.substr(0, colon), line.substr(colon + 1));
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
  json.Close('}');
}

void WriteInfo(const StatusParts& parts, JsonText& json) {
  constexpr std::string_view kHidden = "server";  // paths, the id of the run
  json.Name("info").Open('{');
  for (const ReportSection* section : AllSections()) {
    if (section->name == kHidden) continue;
    SectionWriter text;
    section->write(parts.report, text);
    WriteFields(text.Take(), json.Name(section->name));
  }
  if (parts.cluster_info) WriteFields(parts.cluster_info(), json.Name("clusterinfo"));
  json.Close('}');
}

void WriteSlowLog(const StatusParts& parts, bool details, JsonText& json) {
  json.Name("slow").Open('[');
  for (const CommandLogEntry& entry : parts.slow_log.Newest(kSlowCommands)) {
    json.Open('{');
    json.Field("unix_s", entry.unix_s);
    json.Field("usec", entry.value);
    if (details) {
      json.Field("client", entry.peer);
      json.Field("client_name", ShowWord(entry.client_name));
    }
    json.Name("words").Open('[');
    const size_t shown = details ? entry.argv.size() : std::min<size_t>(entry.argv.size(), 1);
    for (size_t i = 0; i < shown; ++i) json.Text(ShowWord(entry.argv[i]));
    json.Close(']');
    json.Close('}');
  }
  json.Close(']');
}

void WriteKeys(const std::vector<TopKeys::Sum>& keys, bool details, JsonText& json) {
  json.Open('[');
  for (const TopKeys::Sum& key : keys) {
    json.Open('{');
    if (details) json.Field("key", ShowWord(key.key));
    json.Field("sum", key.sum);
    json.Close('}');
  }
  json.Close(']');
}

void WriteHotKeys(const StatusParts& parts, bool details, JsonText& json) {
  const std::optional<HotKeys::Results> results = parts.hot_keys.Get(WallMs());
  json.Name("hot_keys");
  if (!results) return json.Null();
  json.Open('{');
  json.Name("active").Flag(results->is_active);
  json.Field("took_ms", results->took_ms);
  json.Field("usec", results->usec);
  json.Field("bytes", results->bytes);
  json.Field("sample_ratio", results->options.sample_ratio);
  WriteKeys(results->by_usec, details, json.Name("by_usec"));
  WriteKeys(results->by_bytes, details, json.Name("by_bytes"));
  json.Close('}');
}

std::string DescribeStatus(const StatusParts& parts) {
  const bool details = parts.report.config.Flag("metrics-details");
  JsonText json;
  json.Open('{');
  json.Name("details").Flag(details);
  WriteInfo(parts, json);
  WriteSlowLog(parts, details, json);
  WriteHotKeys(parts, details, json);
  json.Close('}');
  return json.Take();
}

// The page with the sizes of keys, which are measured when a reader asks for them and the last result is old.
class KeySizesPage {
 public:
  explicit KeySizesPage(const StatusParts& parts)
      : parts_(parts), txn_(parts.report.store), random_(static_cast<uint64_t>(WallUs())) {}

  std::string Make() {
    const int64_t now_ms = MonotonicMs();
    if (text_.empty() || now_ms - measured_ms_ >= kKeySizesPeriodMs) {
      measured_ms_ = now_ms;
      text_ = Measure();
    }
    return text_;
  }

 private:
  // An error of the storage leaves the sizes out; reads of clients report it.
  std::string Measure() {
    SectionWriter text;
    txn_.BeginCommand(Lane::kSlow, WallMs(), false);
    const auto keys_of = [this](int db) { return Keyspace(txn_, db, parts_.limits); };
    const Status written = WriteKeySizes(parts_.report, keys_of, random_, text);
    txn_.AbandonCommand();
    txn_.Discard();
    JsonText json;
    WriteFields(written.ok() ? text.Take() : std::string(), json);
    return json.Take();
  }

  const StatusParts parts_;
  Transaction txn_;
  Random random_;
  std::string text_;
  int64_t measured_ms_ = 0;
};

// The text between two tags.
std::string_view Between(std::string_view page, std::string_view begin, std::string_view end) {
  const size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find(end, from) - from);
}

}  // namespace

std::string ContentSecurityPolicy(std::string_view page) {
  return fmt::format(
      "Content-Security-Policy: default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; "
      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
      Sha256Base64(Between(page, "<script>", "</script>")), Sha256Base64(Between(page, "<style>", "</style>")));
}

std::vector<HttpPage> MetricsPages(const StatusParts& parts) {
  constexpr std::string_view kJson = "application/json";
  // No cache keeps the figures, and no browser takes the JSON for a page.
  const std::string headers = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  const auto sizes = std::make_shared<KeySizesPage>(parts);
  return {{.path = "/metrics",
           .content_type = std::string(kMetricsContentType),
           .make = [parts] { return DescribeMetrics(parts.report); }},
          {.path = "/",
           .content_type = "text/html; charset=utf-8",
           .make = [] { return std::string(kStatusPage); },
           .headers = headers + "Referrer-Policy: no-referrer\r\n" + ContentSecurityPolicy(kStatusPage)},
          {.path = "/status",
           .content_type = std::string(kJson),
           .make = [parts] { return DescribeStatus(parts); },
           .headers = headers},
          {.path = "/status/keysizes",
           .content_type = std::string(kJson),
           .make = [sizes] { return sizes->Make(); },
           .headers = headers}};
}

}  // namespace cairn
