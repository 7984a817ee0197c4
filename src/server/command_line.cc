// SPDX-License-Identifier: BSD-3-Clause
#include "server/command_line.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/version.h"
#include "base/words.h"
#include "config/config_file.h"
#include "config/config_reference.h"
#include "config/file_directives.h"

DEFINE_bool(list_directives, false, "print the reference page of all directives and exit");
DEFINE_bool(check_config, false, "read the configuration, say whether it is good, and exit");

namespace cairn {
namespace {

constexpr std::string_view kUsage =
    "Usage: cairn-server [<config file> | -] [--<directive> <word> ...] ...\n\n"
    "  cairn-server                                   serve with every directive at its default\n"
    "  cairn-server cairn.conf                        read the configuration from a file\n"
    "  cairn-server -                                 read it from the standard input\n"
    "  cairn-server cairn.conf --port 7000 --dir /srv/cairn\n"
    "                                                 a file, then directives, which have the last "
    "word\n"
    "  cairn-server --listen \"127.0.0.1:7001 io-threads 2\" --listen unix:/run/cairn.sock\n\n"
    "Switches:\n"
    "  --help, -h          print this and exit\n"
    "  --version, -v       print the version and exit\n";

// The arguments, sorted into switches and directives.
struct Arguments {
  std::optional<std::string> file;
  std::vector<std::vector<std::string>> directives;  // name and value words
  std::vector<std::string> switches;
  bool help = false;
  bool version = false;
};

bool IsSwitch(const std::string& argument) { return argument == "--list-directives" || argument == "--check-config"; }

// Parses like redis-server: the words after a directive's name are its value, whatever they look like, except that
// `--save` may stand alone; name and value may be one argument; the first directive after the file may lack its dashes.
Result<Arguments> Sort(const std::vector<std::string>& arguments) {
  Arguments sorted;
  bool wants_value = false;  // the last directive has no value yet
  for (const std::string& argument : arguments) {
    const bool has_dashes = argument.starts_with("--") && argument.size() > 2;
    const bool is_alone = wants_value && has_dashes && sorted.directives.back()[0] == "save";
    if (wants_value && !is_alone) {
      sorted.directives.back().push_back(argument);
      wants_value = false;
    } else if (argument == "--help" || argument == "-h") {
      sorted.help = true;
    } else if (argument == "--version" || argument == "-v") {
      sorted.version = true;
    } else if (IsSwitch(argument)) {
      sorted.switches.push_back(argument);
    } else if (has_dashes || (sorted.file && sorted.directives.empty())) {
      const auto words = SplitWords(has_dashes ? std::string_view(argument).substr(2) : argument);
      if (!words || words->empty()) return Status::Io("command line: unbalanced quotes in '" + argument + "'");
      sorted.directives.push_back(*words);
      wants_value = words->size() == 1;
    } else if (sorted.directives.empty()) {
      sorted.file = argument;
    } else {
      sorted.directives.back().push_back(argument);
    }
  }
  return sorted;
}

// Parses the switches with gflags.
void ReadSwitches(const std::vector<std::string>& switches) {
  std::vector<std::string> copies = {"cairn-server"};
  copies.insert(copies.end(), switches.begin(), switches.end());
  std::vector<char*> pointers;
  for (std::string& copy : copies) pointers.push_back(copy.data());
  int count = static_cast<int>(pointers.size());
  char** values = pointers.data();
  gflags::ParseCommandLineNonHelpFlags(&count, &values, /*remove_flags=*/true);
}

void PrintUsage() {
  std::string text(kUsage);
  for (const char* name : {"list_directives", "check_config"}) {
    std::string shown = "  --" + std::string(name);
    std::replace(shown.begin(), shown.end(), '_', '-');
    shown.resize(22, ' ');
    text += shown + gflags::GetCommandLineFlagInfoOrDie(name).description + "\n";
  }
  std::fputs(text.c_str(), stdout);
}

void PrintVersion() {
  std::printf("Cairn server v=%s redis=%s bits=%zu\n", kCairnVersion, kRedisVersion, sizeof(void*) * 8);
}

Status LoadAll(const Arguments& arguments, StartUp& start) {
  if (arguments.file) {
    start.config->BeginSource();
    TRY(LoadConfigFile(*arguments.file, *start.config));
    if (*arguments.file != "-") start.config_file = std::filesystem::absolute(*arguments.file).lexically_normal();
  }
  start.config->BeginSource();
  for (const std::vector<std::string>& words : arguments.directives) {
    TRY(ApplyDirective("command line", words, *start.config));
  }
  return CheckFileDirectives(*start.config);
}

// Prints the error; returns the exit status for it.
int Refuse(const Status& status) {
  std::fprintf(stderr, "cairn-server: %s\n", std::string(status.text()).c_str());
  return 1;
}

}  // namespace

StartUp ReadStartUp(int argc, char** argv) {
  StartUp start{.config = std::make_unique<Config>()};
  const auto arguments = Sort(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  if (!arguments.ok()) {
    start.exit_status = Refuse(arguments.status());
    return start;
  }
  ReadSwitches(arguments->switches);
  if (arguments->help || arguments->version || FLAGS_list_directives) {
    if (arguments->help) PrintUsage();
    if (arguments->version) PrintVersion();
    if (FLAGS_list_directives) std::fputs(ReferencePage().c_str(), stdout);
    start.exit_status = 0;
    return start;
  }
  const Status loaded = LoadAll(*arguments, start);
  if (!loaded.ok()) start.exit_status = Refuse(loaded);
  start.checks_config = FLAGS_check_config;
  return start;
}

}  // namespace cairn
