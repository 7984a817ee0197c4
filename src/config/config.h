// SPDX-License-Identifier: BSD-3-Clause
//
// Config: what every directive is set to.
//
// A value is kept here in full, under mutex_, and published to Settings or Limits where threads
// read it while they serve. CONFIG SET of several directives is all or nothing: every value is
// parsed before any is set, and when a watcher refuses its new value, all go back to what they
// were.
//
// Thread: any, once the server is running. Not here: the file (config/config_file.h), the command
// line (server/command_line.h).
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/directive.h"
#include "config/listen_spec.h"
#include "config/settings.h"
#include "types/limits.h"

namespace cairn {

class Config {
 public:
  // Every directive at its default.
  Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  Settings& settings() { return settings_; }
  const Settings& settings() const { return settings_; }
  Limits& limits() { return limits_; }

  // ---- REQUIRES for these: the directive exists and is of that kind
  std::string Text(std::string_view name) const;
  std::vector<std::string> Words(std::string_view name) const;
  int64_t Number(std::string_view name) const;  // numbers, memory, positions of choices
  bool Flag(std::string_view name) const;

  // The `listen` lines; those of `port`, `bind` and `unixsocket` are not among them.
  std::vector<ListenSpec> Listeners() const;

  // ---- at start
  // Applies one line's words. A repeatable directive's first line of a source (the file, the
  // command line) replaces what was there, those after it add to it; BeginSource() starts a source.
  Status Apply(const Directive& directive, std::span<const std::string> words);
  void BeginSource();

  // ---- while the server runs
  // CONFIG SET, by a client that may set guarded directives or may not. The error is the reply.
  Status SetAll(std::span<const std::pair<std::string_view, std::string_view>> pairs, bool sets_guarded);
  // CONFIG GET: name and value of what matches a glob or is named, each once, ordered by name. An
  // alias that matches is shown under its own name.
  std::vector<std::pair<std::string, std::string>> Get(std::span<const std::string_view> patterns) const;

  // Sets what the server itself has changed. REQUIRES: words as the directive keeps them
  void Keep(std::string_view name, std::vector<std::string> words);
  // REQUIRES: a directive that is a number, within its bounds
  void KeepNumber(std::string_view name, int64_t number);

  // Lines of the configuration file, and whether the value differs from the default.
  std::vector<std::string> Lines(const Directive& directive) const;
  bool IsDefault(const Directive& directive) const;

  // `watcher` is called after the directive changed by CONFIG SET, with the new value in place; an
  // error undoes the whole CONFIG SET. Called before the server runs, at most once per directive.
  using Watcher = std::function<Status()>;
  void Watch(std::string_view name, Watcher watcher);

 private:
  struct Change {
    const Directive* directive;
    Value value;
    std::string_view argument;  // as the client wrote the name
  };

  static size_t IndexOf(const Directive& directive);
  void Store(const Directive& directive, Value value);
  void Publish(const Directive& directive, const Value& value);
  Result<std::vector<Change>> ParseChanges(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                                           bool sets_guarded);

  Settings settings_{};
  Limits limits_;
  std::mutex set_mutex_;       // one CONFIG SET at a time; before mutex_
  mutable std::mutex mutex_;   // values_
  std::vector<Value> values_;  // in the order of AllDirectives()
  std::map<std::string, Watcher, std::less<>> watchers_;
  std::set<std::string, std::less<>> seen_;  // repeatable directives of the current source
};

}  // namespace cairn
