// SPDX-License-Identifier: BSD-3-Clause
#include "server/tool_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/version.h"

namespace cairn {
namespace {

[[noreturn]] void Refuse(std::string_view argument, const char* why, int status) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(argument.size()), argument.data(), why);
  std::exit(status);
}

// "--name=value" or "--name"; the value may be the next argument.
struct Flag {
  explicit Flag(std::string_view argument) {
    argument.remove_prefix(argument.starts_with("--") ? 2 : 1);
    const size_t equals = argument.find('=');
    has_value = equals != argument.npos;
    if (has_value) value = argument.substr(equals + 1);
    name = argument.substr(0, equals);
    std::ranges::replace(name, '-', '_');
  }

  std::string name;
  std::string value;
  bool has_value = false;
};

// Turns "--noname" into "--name=false".
bool TakeNegation(Flag& flag, gflags::CommandLineFlagInfo& info) {
  if (flag.has_value || !flag.name.starts_with("no")) return false;
  const std::string name = flag.name.substr(2);
  if (!gflags::GetCommandLineFlagInfo(name.c_str(), &info) || info.type != "bool") return false;
  flag = Flag("--" + name + "=false");
  return true;
}

}  // namespace

void ParseToolFlags(const char* usage, int wrong_usage, int& argc, char**& argv) {
  gflags::SetUsageMessage(usage);
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with('-') || argument == "-") {
      argv[kept++] = argv[i];
      continue;
    }
    Flag flag(argument);
    if (flag.name == "help") {
      gflags::ShowUsageWithFlags(argv[0]);
      std::exit(0);
    }
    if (flag.name == "version") {
      std::printf("%s %s\n", argv[0], kCairnVersion);
      std::exit(0);
    }
    gflags::CommandLineFlagInfo info;
    if (!gflags::GetCommandLineFlagInfo(flag.name.c_str(), &info) && !TakeNegation(flag, info)) {
      Refuse(argument, "unknown flag; --help lists all", wrong_usage);
    }
    if (!flag.has_value && info.type == "bool") {
      flag.value = "true";
    } else if (!flag.has_value) {
      if (++i == argc) Refuse(argument, "needs a value", wrong_usage);
      flag.value = argv[i];
    }
    if (gflags::SetCommandLineOption(flag.name.c_str(), flag.value.c_str()).empty()) {
      Refuse(argument, "the value is not valid", wrong_usage);
    }
  }
  argc = kept;
}

void ShowUsage(const char* program) { std::fprintf(stderr, "Usage: %s %s\n", program, gflags::ProgramUsage()); }

}  // namespace cairn
