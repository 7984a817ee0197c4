// SPDX-License-Identifier: BSD-3-Clause
//
// Config: configuration files and directives. The lines that a configuration is written as make the same configuration.
//
// Input: the text of a configuration file.
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/words.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/directive.h"
#include "fuzz/targets/target.h"

namespace cairn {
namespace {

// A file that exists only in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : fd_(memfd_create("cairn.conf", MFD_CLOEXEC)) {
    const ssize_t written = write(fd_, text.data(), text.size());
    ASSERT(written == static_cast<ssize_t>(text.size()), "the memory has room for a file");
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

std::vector<std::string> ChangedLines(const Config& config) {
  std::vector<std::string> lines;
  for (const Directive& directive : AllDirectives()) {
    if (config.IsDefault(directive)) continue;
    for (std::string& line : config.Lines(directive)) lines.push_back(std::move(line));
  }
  return lines;
}

// Whether a line of the text includes a file: the input must not choose files of this machine.
bool Includes(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto words = SplitWords(text.substr(0, end));
    if (words && !words->empty() && EqualsIgnoreCase(words->front(), "include")) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

void Run(std::string_view input) {
  if (Includes(input)) return;
  Config config;
  config.BeginSource();
  const Status status = LoadConfigFile(MemoryFile(input).path(), config);
  ASSERT(status.ok() || status.text().find("line ") != std::string_view::npos, "an error names the line");
  const std::vector<std::string> lines = ChangedLines(config);
  Config again;
  again.BeginSource();
  for (const std::string& line : lines) {
    const auto words = SplitWords(line);
    ASSERT(words && !words->empty(), "a written line can be split");
    const Status applied = ApplyDirective("a written line", *words, again);
    ASSERT(applied.ok(), std::string(applied.text()).c_str());
  }
  ASSERT(ChangedLines(again) == lines, "written lines make the same configuration");
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = {
      "listen 127.0.0.1:6379 io-threads 2 qps-limit 10 readonly\nlisten unix:/tmp/s tls\nbind 127.0.0.1 ::1\n",
      "# a comment\n\nsave 900 1 300 10\nsave \"\"\nclient-output-buffer-limit replica 256mb 64mb 60\n",
      "user a on >pw ~* +@all\nuser default off\nrename-command GET \"\"\nnotify-keyspace-events KEA\n",
      "database 3 storage-mode memory durability none\ndatabases 20\nreplicaof localhost 6379\n",
      "requirepass \"a\\x41\\n\\\"\"\n'port' \"6\\x33\"\n",
      "compaction-window 02:00-04:30\nmaxmemory-clients 5%\noom-score-adj-values 0 200 800\n"};
  const Config config;
  for (const Directive& directive : AllDirectives()) {
    std::string text;
    for (const std::string& line : config.Lines(directive)) text += line + "\n";
    if (!text.empty()) seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace

const FuzzTarget kConfigTarget = {
    .name = "config", .make = Make, .seeds = Seeds, .covers = "src/config/ src/base/words"};

}  // namespace cairn
