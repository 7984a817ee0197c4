// SPDX-License-Identifier: BSD-3-Clause
//
// Config: the values of all directives.
//
// The complete values are here, under mutex_. Values that threads read while they serve are also published to Settings
// or Limits. CONFIG SET of several directives is atomic: every value is parsed before any is set, and when a watcher
// refuses its new value, all old values are restored.
//
// Thread: any, once the server is running. Not here: the file (config/config_file.h), the command line
// (server/command_line.h).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/directive.h"
#include "config/listen_spec.h"
#include "config/settings.h"
#include "types/limits.h"

namespace cairn {

class Config {
 public:
  // Sets every directive to its default.
  Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  Settings& settings() { return settings_; }
  const Settings& settings() const { return settings_; }
  Limits& limits() { return limits_; }

  // ---- REQUIRES for these: the directive exists and has this kind
  std::string Text(std::string_view name) const;
  std::vector<std::string> Words(std::string_view name) const;
  int64_t Number(std::string_view name) const;  // numbers, memory, indexes of choices
  bool Flag(std::string_view name) const;

  // The `listen` lines, without the listeners of `port`, `bind` and `unixsocket`.
  std::vector<ListenSpec> Listeners() const;

  // ---- at start
  // Applies the words of one line. The first line of a repeatable directive in a source (the file, the command line)
  // replaces older lines, and further lines add to it; BeginSource() starts a source.
  Status Apply(const Directive& directive, std::span<const std::string> words);
  void BeginSource();

  // ---- while the server runs
  // CONFIG SET; `sets_guarded`: the client may set guarded directives. The error is the reply.
  Status SetAll(std::span<const std::pair<std::string_view, std::string_view>> pairs, bool sets_guarded);
  // CONFIG GET: name and value of all directives that match a pattern, each once, ordered by name. A matching alias is
  // shown under its own name.
  std::vector<std::pair<std::string, std::string>> Get(std::span<const std::string_view> patterns) const;

  // Calls `body` while no CONFIG SET is in progress, so `body` reads no value that a watcher may still refuse.
  Status RunBetweenSets(const std::function<Status()>& body) const;

  // Stores a value that the server itself has changed. REQUIRES: the directive keeps its words in this form.
  void Keep(std::string_view name, std::vector<std::string> words);
  // REQUIRES: the directive is a number, and `number` within its bounds.
  void KeepNumber(std::string_view name, int64_t number);

  // The lines for the configuration file, and whether the value differs from the default.
  std::vector<std::string> Lines(const Directive& directive) const;
  bool IsDefault(const Directive& directive) const;

  // `watcher` is called when CONFIG SET has changed the directive, with the new value in place; an error undoes the
  // whole CONFIG SET. Its thread may hold stripes (EXEC), and other threads that hold some wait for this CONFIG SET, so
  // a watcher does not wait for stripes, or not for long. REQUIRES: the server does not run yet; one watcher per
  // directive.
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
  mutable Mutex set_mutex_;  // serializes CONFIG SET
  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(set_mutex_);
  std::vector<Value> values_ ABSL_GUARDED_BY(mutex_);  // in the order of AllDirectives()
  std::map<std::string, Watcher, std::less<>> watchers_;
  std::set<std::string, std::less<>> seen_;  // repeatable directives that the current source has set
};

}  // namespace cairn
