// SPDX-License-Identifier: BSD-3-Clause
#include "config/config.h"

#include <filesystem>

#include "base/assert.h"
#include "base/glob.h"
#include "base/words.h"
#include "command/args.h"

namespace cairn {
namespace {

// "ERR CONFIG SET failed (possibly related to argument 'hz') - argument must be ..."
Status SetFailed(std::string_view argument, std::string_view why) {
  std::string text = "ERR CONFIG SET failed (possibly related to argument '";
  text.append(argument).append("') - ").append(why);
  return Status::Error(Code::kReply, std::move(text));
}

Status UnknownOption(std::string_view argument) {
  std::string text = "ERR Unknown option or number of arguments for CONFIG SET - '";
  text.append(argument).append("'");
  return Status::Error(Code::kReply, std::move(text));
}

Value ParseFallback(const Directive& directive) {
  const std::vector<std::string> none;
  if (directive.fallback.empty()) {
    return directive.kind == Kind::kText ? Value(std::string()) : Value(none);
  }
  std::vector<std::string> words = {std::string(directive.fallback)};
  if (directive.kind != Kind::kText) words = *SplitWords(directive.fallback);
  auto value = ParseValue(directive, words, Value(none));
  ASSERT(value.ok(), "a directive's default must be a value it takes");
  return std::move(*value);
}

const Directive& Named(std::string_view name) {
  const Directive* directive = FindDirective(name);
  ASSERT(directive != nullptr, "asked for a directive that does not exist");
  return *directive;
}

// The value that CONFIG GET shows. A folder is absolute, as in Redis, because the client has another working directory.
// It is as given if the server's working directory has been deleted.
std::string ShownValue(const Directive& directive, const Value& value) {
  std::string text = FormatValue(directive, value);
  if (directive.name != "dir") return text;
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(text, error);
  return error ? text : path.lexically_normal().string();
}

bool IsPattern(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

}  // namespace

Config::Config() {
  for (const Directive& directive : AllDirectives()) {
    values_.push_back(ParseFallback(directive));
    Publish(directive, values_.back());
  }
}

size_t Config::IndexOf(const Directive& directive) { return &directive - AllDirectives().data(); }

std::string Config::Text(std::string_view name) const {
  const MutexLock lock(mutex_);
  return std::get<std::string>(values_[IndexOf(Named(name))]);
}

std::vector<std::string> Config::Words(std::string_view name) const {
  const MutexLock lock(mutex_);
  return std::get<std::vector<std::string>>(values_[IndexOf(Named(name))]);
}

int64_t Config::Number(std::string_view name) const {
  const MutexLock lock(mutex_);
  return std::get<int64_t>(values_[IndexOf(Named(name))]);
}

bool Config::Flag(std::string_view name) const {
  const MutexLock lock(mutex_);
  return std::get<bool>(values_[IndexOf(Named(name))]);
}

std::vector<ListenSpec> Config::Listeners() const {
  std::vector<ListenSpec> specs;
  for (const std::string& line : Words("listen")) {
    auto spec = ParseListenSpec(*SplitWords(line));
    ASSERT(spec.ok(), "a listen line was checked when it was set");
    specs.push_back(std::move(*spec));
  }
  return specs;
}

void Config::BeginSource() { seen_.clear(); }

Status Config::Apply(const Directive& directive, std::span<const std::string> words) {
  Value current;
  const bool adds = !seen_.insert(std::string(directive.name)).second;
  if (directive.Has(kRepeatable) && (adds || directive.Has(kMerged))) {
    const MutexLock lock(mutex_);
    current = values_[IndexOf(directive)];
  }
  Store(directive, TRY(ParseValue(directive, words, current)));
  return Ok();
}

void Config::Store(const Directive& directive, Value value) {
  const MutexLock lock(mutex_);
  Publish(directive, value);
  values_[IndexOf(directive)] = std::move(value);
}

void Config::Publish(const Directive& directive, const Value& value) {
  if (const auto* flag = std::get_if<std::atomic<bool> Settings::*>(&directive.target)) {
    settings_.*(*flag) = std::get<bool>(value);
  } else if (const auto* number = std::get_if<std::atomic<int64_t> Settings::*>(&directive.target)) {
    settings_.*(*number) = std::get<int64_t>(value);
  } else if (const auto* limit = std::get_if<std::atomic<int64_t> Limits::*>(&directive.target)) {
    limits_.*(*limit) = std::get<int64_t>(value);
  } else if (const auto* publish = std::get_if<void (*)(const Value&, Settings&)>(&directive.target)) {
    (*publish)(value, settings_);
  }
}

Result<std::vector<Config::Change>> Config::ParseChanges(
    std::span<const std::pair<std::string_view, std::string_view>> pairs, bool sets_guarded) {
  // As in Redis, all names are checked before any value.
  std::vector<const Directive*> directives;
  for (const auto& [name, text] : pairs) {
    const Directive* directive = FindDirective(name);
    if (directive == nullptr || directive->Has(kFileOnly)) return UnknownOption(name);
    directives.push_back(directive);
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (directives[i]->Has(kGuarded) && !sets_guarded) return SetFailed(pairs[i].first, "can't set protected config");
    if (directives[i]->Has(kStartOnly)) return SetFailed(pairs[i].first, "can't set immutable config");
    for (size_t before = 0; before < i; ++before) {
      const bool same_name = EqualsIgnoreCase(pairs[before].first, pairs[i].first);
      if (directives[before] == directives[i] && same_name) return SetFailed(pairs[i].first, "duplicate parameter");
    }
  }
  std::vector<Change> changes;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Value current = directives[i]->Has(kMerged) ? Value(Words(directives[i]->name)) : Value();
    const std::vector<std::string> words = {std::string(pairs[i].second)};
    auto value = ParseValue(*directives[i], words, current);
    if (!value.ok()) return SetFailed(pairs[i].first, value.status().text());
    changes.push_back({directives[i], std::move(*value), pairs[i].first});
  }
  return changes;
}

Status Config::SetAll(std::span<const std::pair<std::string_view, std::string_view>> pairs, bool sets_guarded) {
  const MutexLock one_at_a_time(set_mutex_);
  std::vector<Change> changes = TRY(ParseChanges(pairs, sets_guarded));
  for (Change& change : changes) {  // swaps the values, so each change then holds the old one
    const MutexLock lock(mutex_);
    Publish(*change.directive, change.value);
    std::swap(change.value, values_[IndexOf(*change.directive)]);
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto watcher = watchers_.find(changes[i].directive->name);
    if (watcher == watchers_.end()) continue;
    Status refused = watcher->second();
    if (refused.ok()) continue;
    const std::string argument(changes[i].argument);
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      Store(*change->directive, std::move(change->value));
    }
    for (size_t done = 0; done < i; ++done) {
      const auto earlier = watchers_.find(changes[done].directive->name);
      // The old value was accepted once, so it is accepted again; a refusal here could not be reported.
      if (earlier != watchers_.end()) static_cast<void>(earlier->second().ok());
    }
    return SetFailed(argument, refused.text());
  }
  return Ok();
}

std::vector<std::pair<std::string, std::string>> Config::Get(std::span<const std::string_view> patterns) const {
  std::map<std::string, std::string> found;
  std::set<std::string_view> known;  // names and aliases, as the table spells them
  // Other threads wait for mutex_, so the search does not hold it.
  const auto add = [&](const Directive& directive, std::string_view name, std::string_view shown) {
    if (directive.Has(kFileOnly) || !known.insert(name).second) return;
    const MutexLock lock(mutex_);
    found.emplace(shown, ShownValue(directive, values_[IndexOf(directive)]));
  };
  for (const std::string_view pattern : patterns) {
    if (IsPattern(pattern)) {
      for (const Directive& directive : AllDirectives()) {
        if (directive.Has(kHidden)) continue;
        for (const std::string_view name : {directive.name, directive.alias}) {
          if (!name.empty() && GlobMatches(pattern, name, LetterCase::kIgnore)) add(directive, name, name);
        }
      }
    } else if (const Directive* const named = FindDirective(pattern); named != nullptr) {
      // A name is shown as the client wrote it, as in Redis.
      add(*named, EqualsIgnoreCase(pattern, named->name) ? named->name : named->alias, pattern);
    }
  }
  return {found.begin(), found.end()};
}

Status Config::RunBetweenSets(const std::function<Status()>& body) const {
  const MutexLock one_at_a_time(set_mutex_);
  return body();
}

void Config::Keep(std::string_view name, std::vector<std::string> words) { Store(Named(name), std::move(words)); }

void Config::KeepNumber(std::string_view name, int64_t number) { Store(Named(name), number); }

std::vector<std::string> Config::Lines(const Directive& directive) const {
  const MutexLock lock(mutex_);
  return FormatLines(directive, values_[IndexOf(directive)]);
}

bool Config::IsDefault(const Directive& directive) const {
  const MutexLock lock(mutex_);
  return values_[IndexOf(directive)] == ParseFallback(directive);
}

void Config::Watch(std::string_view name, Watcher watcher) {
  const bool is_new = watchers_.emplace(std::string(Named(name).name), std::move(watcher)).second;
  ASSERT(is_new, "a directive has one watcher");
}

}  // namespace cairn
