// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-doctor: looks at a running server and, if it is on the same one, at its machine, and says what is wrong and
// what to do. It changes nothing.
#include <gflags/gflags.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/number.h"
#include "doctor/rules.h"
#include "server/facts_reader.h"

DEFINE_bool(json, false, "print the findings as JSON");
DEFINE_string(user, "default", "the user; its password is in the environment variable REDISCLI_AUTH");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-doctor";
constexpr int kCouldNotLook = 3;

// "host", "host:port" or "[address]:port".
bool ParsePlace(std::string_view text, std::string& host, int& port) {
  constexpr int kMostPort = 65535;
  const size_t colon = text.rfind(':');
  const bool has_port = colon != text.npos && (text.find(':') == colon || text[colon - 1] == ']');
  std::string_view name = has_port ? text.substr(0, colon) : text;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const auto number = has_port ? ParseInt64(text.substr(colon + 1)) : std::optional<int64_t>(port);
  if (name.empty() || !number || *number < 1 || *number > kMostPort) return false;
  host = name;
  port = static_cast<int>(*number);
  return true;
}

void PrintJson(const std::vector<Finding>& findings, bool saw_machine) {
  JsonText json;
  json.Open('{');
  json.Name("saw_machine").Flag(saw_machine);
  json.Name("findings").Open('[');
  for (const Finding& finding : findings) {
    json.Open('{');
    json.Field("rule", finding.rule);
    json.Field("severity", NameOf(finding.severity));
    json.Field("problem", finding.problem);
    json.Field("action", finding.action);
    json.Close('}');
  }
  json.Close(']');
  json.Close('}');
  std::printf("%s\n", json.Take().c_str());
}

void PrintText(const std::vector<Finding>& findings, bool saw_machine) {
  for (const Finding& finding : findings) {
    std::printf("%s (%s): %s\n  %s\n", std::string(NameOf(finding.severity)).c_str(), std::string(finding.rule).c_str(),
                finding.problem.c_str(), finding.action.c_str());
  }
  if (findings.empty()) std::printf("Nothing is wrong.\n");
  if (!saw_machine) std::printf("The machine was not looked at: the server runs on another one.\n");
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage(
      "[--json] [--user NAME] [HOST[:PORT]]\n\nSays what is wrong with a running server and its machine, and what to "
      "do. The exit status is 0 if there is nothing or only notices, 1 with warnings, 2 if something is critical, 3 if "
      "the server could not be looked at.");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  std::string host = "127.0.0.1";
  int port = 6380;
  if (argc > 2 || (argc == 2 && !ParsePlace(argv[1], host, port))) {
    std::fprintf(stderr, "Usage: %s %s\n", kProgram, gflags::ProgramUsage());
    return kCouldNotLook;
  }
  const char* const password = std::getenv("REDISCLI_AUTH");
  const Result<Facts> facts = ReadFacts(host, port, {FLAGS_user, password == nullptr ? "" : password});
  if (!facts.ok()) {
    std::fprintf(stderr, "%s: %s:%d: %s\n", kProgram, host.c_str(), port, std::string(facts.status().text()).c_str());
    return kCouldNotLook;
  }
  const std::vector<Finding> findings = Examine(*facts);
  const bool saw_machine = facts->machine.open_files.has_value();
  FLAGS_json ? PrintJson(findings, saw_machine) : PrintText(findings, saw_machine);
  return findings.empty() ? 0 : static_cast<int>(findings.front().severity);
}
