// SPDX-License-Identifier: BSD-3-Clause
#include "config/directive_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "acl/rule_errors.h"
#include "base/number.h"
#include "base/words.h"
#include "command/args.h"
#include "config/listen_spec.h"

namespace cairn {
namespace {

using Words = std::vector<std::string>;
using WordSpan = std::span<const std::string>;

// As a line of the file, so quoted where necessary.
std::string JoinQuoted(WordSpan words) {
  std::string joined;
  for (const std::string& word : words) joined.append(joined.empty() ? "" : " ").append(QuoteWordIfNeeded(word));
  return joined;
}

std::string Join(WordSpan words, std::string_view between) {
  std::string joined;
  for (const std::string& word : words) {
    if (!joined.empty()) joined.append(between);
    joined.append(word);
  }
  return joined;
}

Words OneLine(WordSpan kept) { return {kept.empty() ? "\"\"" : JoinQuoted(kept)}; }

constexpr size_t kMostAddresses = 16;

Result<Words> ParseBind(WordSpan words, WordSpan) {
  if (words.size() == 1 && words[0].empty()) return Words();
  if (words.size() > kMostAddresses) return Status::Reply("Too many bind addresses specified.");
  return Words(words.begin(), words.end());
}

// Appends `words` as one line to the lines in `current`.
Words WithLine(WordSpan current, WordSpan words) {
  Words kept(current.begin(), current.end());
  kept.push_back(JoinQuoted(words));
  return kept;
}

Result<Words> ParseListen(WordSpan words, WordSpan current) {
  if (words.empty()) return Status::Reply("wrong number of arguments");
  TRY(ParseListenSpec(words));
  return WithLine(current, words);
}

Words WholeLines(WordSpan kept) { return Words(kept.begin(), kept.end()); }

std::string ListenText(WordSpan kept) { return Join(kept, "\n"); }

Result<Words> ParseRename(WordSpan words, WordSpan current) {
  if (words.size() != 2 || words[0].empty()) return Status::Reply("wrong number of arguments");
  return WithLine(current, words);
}

Result<Words> ParseUser(WordSpan words, WordSpan current) {
  if (words.empty() || words[0].empty()) return Status::Reply("wrong number of arguments");
  for (const std::string& line : current) {
    if (SplitWords(line)->front() == words[0]) return Status::Reply(rule_errors::kDuplicate);
  }
  return WithLine(current, words);
}

Result<Words> ParseSave(WordSpan words, WordSpan current) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) return Words();
  if (words.size() % 2 != 0) return Status::Reply("Invalid save parameters");
  Words kept(current.begin(), current.end());
  for (size_t i = 0; i < words.size(); i += 2) {
    const auto seconds = ParseInt64(words[i]);
    const auto changes = ParseInt64(words[i + 1]);
    if (!seconds || !changes || *seconds < 1 || *changes < 0) return Status::Reply("Invalid save parameters");
    kept.insert(kept.end(), {words[i], words[i + 1]});
  }
  return kept;
}

// The minutes of "HH:MM"; nothing if it is not a time of the day.
std::optional<int> ParseDayMinute(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hours = ParseInt64(text.substr(text[0] == '0' ? 1 : 0, text[0] == '0' ? 1 : 2));
  const auto minutes = ParseInt64(text.substr(text[3] == '0' ? 4 : 3, text[3] == '0' ? 1 : 2));
  if (!hours || !minutes || *hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59) return std::nullopt;
  return static_cast<int>(*hours * 60 + *minutes);
}

constexpr size_t kDayTimeSize = 5;  // HH:MM

Result<Words> ParseDayWindow(WordSpan words, WordSpan) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) return Words();
  const std::string_view text = words[0];
  const bool is_window = words.size() == 1 && text.size() == 2 * kDayTimeSize + 1 && text[kDayTimeSize] == '-';
  if (!is_window || !ParseDayMinute(text.substr(0, kDayTimeSize)) || !ParseDayMinute(text.substr(kDayTimeSize + 1))) {
    return Status::Reply("must be two times of the day such as 01:00-05:00, or empty");
  }
  return Words{words[0]};
}

Words SaveLines(WordSpan kept) {
  if (kept.empty()) return {"\"\""};
  Words lines;
  for (size_t i = 0; i < kept.size(); i += 2) lines.push_back(kept[i] + " " + kept[i + 1]);
  return lines;
}

Result<Words> ParseReplicaOf(WordSpan words, WordSpan) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) return Words();
  if (words.size() == 2 && EqualsIgnoreCase(words[0], "no") && EqualsIgnoreCase(words[1], "one")) return Words();
  const auto port = words.size() == 2 ? ParseInt64(words[1]) : std::nullopt;
  if (!port || *port < 0 || *port > 65535) return Status::Reply("Invalid master port");
  return Words(words.begin(), words.end());
}

Words ReplicaOfLines(WordSpan kept) {
  if (kept.size() != 2) return {"\"\""};
  return {kept[0] + " " + kept[1]};
}

// client-output-buffer-limit is kept as four words per class.
constexpr std::array<std::string_view, 3> kClassNames = {"normal", "slave", "pubsub"};
constexpr size_t kLimitWords = 4;

std::optional<size_t> ClassOf(std::string_view name) {
  if (EqualsIgnoreCase(name, "replica")) return 1;
  for (size_t i = 0; i < kClassNames.size(); ++i) {
    if (EqualsIgnoreCase(name, kClassNames[i])) return i;
  }
  return std::nullopt;
}

Result<Words> ParseOutputLimits(WordSpan words, WordSpan current) {
  if (words.size() == 1 && words[0].empty()) return Words(current.begin(), current.end());
  if (words.empty() || words.size() % kLimitWords != 0) {
    return Status::Reply("Wrong number of arguments in buffer limit configuration.");
  }
  Words kept(current.begin(), current.end());
  for (const std::string_view name : kClassNames) {
    if (kept.size() < kClassNames.size() * kLimitWords) kept.insert(kept.end(), {std::string(name), "0", "0", "0"});
  }
  for (size_t i = 0; i < words.size(); i += kLimitWords) {
    const auto which = ClassOf(words[i]);
    if (!which) return Status::Reply("Invalid client class specified in buffer limit configuration.");
    const auto hard = ParseMemory(words[i + 1]);
    const auto soft = ParseMemory(words[i + 2]);
    const auto seconds = ParseInt64(words[i + 3]);
    if (!hard || !soft || !seconds || *seconds < 0 || *hard > INT64_MAX || *soft > INT64_MAX) {
      return Status::Reply("Error in hard, soft or soft_seconds setting in buffer limit configuration.");
    }
    kept[*which * kLimitWords + 1] = std::to_string(*hard);
    kept[*which * kLimitWords + 2] = std::to_string(*soft);
    kept[*which * kLimitWords + 3] = std::to_string(*seconds);
  }
  return kept;
}

Words OutputLimitLines(WordSpan kept) {
  Words lines;
  for (size_t i = 0; i < kept.size(); i += kLimitWords) {
    const std::string name = kept[i] == "slave" ? "replica" : kept[i];
    lines.push_back(name + " " + FormatMemory(*ParseUint64(kept[i + 1])) + " " +
                    FormatMemory(*ParseUint64(kept[i + 2])) + " " + kept[i + 3]);
  }
  return lines;
}

Result<Words> ParseClientMemory(WordSpan words, WordSpan) {
  if (words.size() != 1) return Status::Reply("wrong number of arguments");
  const std::string_view word = words[0];
  if (word.ends_with('%')) {
    const auto percent = ParseInt64(word.substr(0, word.size() - 1));
    if (percent && *percent > 100) return Status::Reply("percentage argument must be less or equal to 100");
    if (percent && *percent >= 0) return Words{*percent == 0 ? "0" : words[0]};
  } else if (const auto bytes = ParseMemory(word); bytes && *bytes <= INT64_MAX) {
    return Words{std::to_string(*bytes)};
  }
  return Status::Reply("argument must be a memory or percent value");
}

Words ClientMemoryLines(WordSpan kept) {
  return {kept[0].ends_with('%') ? kept[0] : FormatMemory(*ParseUint64(kept[0]))};
}

// notify-keyspace-events is kept as one word in Redis's order of letters.
constexpr std::string_view kUsualEvents = "g$lshzxetd";  // the meaning of A
constexpr std::string_view kEventOthers = "nKEm";

Result<Words> ParseEvents(WordSpan words, WordSpan /*current*/) {
  const std::string letters = Join(words, " ");
  for (const char c : letters) {
    if (c != 'A' && kUsualEvents.find(c) == kUsualEvents.npos && kEventOthers.find(c) == kEventOthers.npos) {
      return Status::Reply("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
    }
  }
  const auto has = [&](char c) { return letters.find(c) != std::string::npos; };
  std::string classes;
  for (const char c : kUsualEvents) {
    if (has('A') || has(c)) classes.push_back(c);
  }
  std::string kept = classes == kUsualEvents ? "A" : classes;
  for (const char c : kEventOthers) {
    if (has(c)) kept.push_back(c);
  }
  return kept.empty() ? Words() : Words{kept};
}

Result<Words> ParsePercentiles(WordSpan words, WordSpan /*current*/) {
  Words kept;
  if (words.size() == 1 && words[0].empty()) return kept;
  for (const std::string& word : words) {
    const auto percentile = ParseDouble(word);
    if (!percentile) return Status::Reply("Invalid latency-tracking-info-percentiles parameters");
    if (*percentile < 0 || *percentile > 100) {
      return Status::Reply("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]");
    }
    kept.push_back(fmt::format("{:.10g}", *percentile));
  }
  return kept;
}

Result<Words> ParseOomScores(WordSpan words, WordSpan /*current*/) {
  if (words.size() != 3) return Status::Reply("wrong number of arguments");
  for (const std::string& word : words) {
    const auto score = ParseInt64(word);
    if (!score || *score < -2000 || *score > 2000) {
      return Status::Reply("Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
    }
  }
  return Words(words.begin(), words.end());
}

}  // namespace

const SpecialSyntax kBindSyntax = {.parse = ParseBind, .lines = OneLine};
const SpecialSyntax kListenSyntax = {.parse = ParseListen, .lines = WholeLines, .text = ListenText};
const SpecialSyntax kUserSyntax = {.parse = ParseUser, .lines = WholeLines};
const SpecialSyntax kRenameSyntax = {.parse = ParseRename, .lines = WholeLines};
const SpecialSyntax kReplicaOfSyntax = {.parse = ParseReplicaOf, .lines = ReplicaOfLines};
const SpecialSyntax kSaveSyntax = {.parse = ParseSave, .lines = SaveLines};
const SpecialSyntax kOutputLimitSyntax = {.parse = ParseOutputLimits, .lines = OutputLimitLines};
const SpecialSyntax kClientMemorySyntax = {.parse = ParseClientMemory, .lines = ClientMemoryLines};
const SpecialSyntax kDayWindowSyntax = {.parse = ParseDayWindow, .lines = OneLine};
const SpecialSyntax kEventsSyntax = {.parse = ParseEvents, .lines = OneLine};
const SpecialSyntax kOomScoresSyntax = {.parse = ParseOomScores, .lines = OneLine};
const SpecialSyntax kPercentilesSyntax = {.parse = ParsePercentiles, .lines = OneLine};

void PublishOutputLimits(const Value& value, Settings& settings) {
  constexpr int64_t kMostSeconds = INT64_MAX / 1000000;  // connections count in microseconds
  const Words& kept = std::get<Words>(value);
  for (size_t i = 0; i < kClassNames.size() && i * kLimitWords < kept.size(); ++i) {
    settings.output_limits[i].hard_bytes = *ParseInt64(kept[i * kLimitWords + 1]);
    settings.output_limits[i].soft_bytes = *ParseInt64(kept[i * kLimitWords + 2]);
    settings.output_limits[i].soft_seconds = std::min(*ParseInt64(kept[i * kLimitWords + 3]), kMostSeconds);
  }
}

void PublishClientMemory(const Value& value, Settings& settings) {
  const std::string& word = std::get<Words>(value)[0];
  const bool is_percent = word.ends_with('%');
  const int64_t number = *ParseInt64(std::string_view(word).substr(0, word.size() - (is_percent ? 1 : 0)));
  settings.maxmemory_clients = is_percent ? -number : number;
}

void PublishCompactionWindow(const Value& value, Settings& settings) {
  const Words& kept = std::get<Words>(value);
  const std::string_view text = kept.empty() ? std::string_view("00:00-00:00") : kept[0];
  settings.compaction_window_begin = *ParseDayMinute(text.substr(0, kDayTimeSize));
  settings.compaction_window_end = *ParseDayMinute(text.substr(kDayTimeSize + 1));
}

std::string FormatMemory(uint64_t bytes) {
  constexpr uint64_t kKilobyte = 1024;
  std::string text;
  const auto with_unit = [&](uint64_t unit, std::string_view name) {
    if (!text.empty() || bytes == 0 || bytes % unit != 0) return;
    text = std::to_string(bytes / unit).append(name);
  };
  with_unit(kKilobyte * kKilobyte * kKilobyte, "gb");
  with_unit(kKilobyte * kKilobyte, "mb");
  with_unit(kKilobyte, "kb");
  return text.empty() ? std::to_string(bytes) : text;
}

InterestMask EventInterest(std::span<const std::string> kept) {
  static constexpr std::string_view kInOrderOfBits = "KEg$lshzxetmdn";
  InterestMask mask = 0;
  for (const char c : kept.empty() ? std::string() : kept[0]) {
    const size_t bit = kInOrderOfBits.find(c);
    mask |= c == 'A' ? kMostEvents : InterestMask{1} << bit;
  }
  return mask & (kToKeyspace | kToKeyevent) ? mask : 0;
}

}  // namespace cairn
