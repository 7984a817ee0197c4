// SPDX-License-Identifier: BSD-3-Clause
//
// cairn-doctor: looks at a running server and, if it is on the same one, at its machine, and says what is wrong and
// what to do. It changes nothing.
#include <gflags/gflags.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "doctor/rules.h"
#include "server/client_flags.h"
#include "server/facts_reader.h"
#include "server/tool_flags.h"

DEFINE_bool(json, false, "print the findings as JSON");
DEFINE_bool(tls, false, "connect with TLS");
DEFINE_string(user, "default", "the user; its password is in the environment variable REDISCLI_AUTH");

namespace {

using namespace cairn;

constexpr char kProgram[] = "cairn-doctor";
constexpr int kCouldNotLook = 3;
constexpr int kDefaultPort = 6380;

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

Result<Facts> Look(const std::string& place) {
  RedisClient::Address address = TRY(ParseAddress(place, kDefaultPort));
  Tls tls;
  if (FLAGS_tls) {
    TRY(ConfigureByFlags(tls));
    address.tls = &tls;
  }
  const char* const password = std::getenv("REDISCLI_AUTH");
  address.user = FLAGS_user;
  address.password = password == nullptr ? "" : password;
  return ReadFacts(address);
}

}  // namespace

int main(int argc, char** argv) {
  ParseToolFlags(
      "[--json] [--user NAME] [--tls] [HOST[:PORT]]\n\nSays what is wrong with a running server and its machine, and "
      "what to do. The exit status is 0 if there is nothing or only notices, 1 with warnings, 2 if something is "
      "critical, 3 if the server could not be looked at.",
      kCouldNotLook, argc, argv);
  if (argc > 2) {
    ShowUsage(kProgram);
    return kCouldNotLook;
  }
  const Result<Facts> facts = Look(argc == 2 ? argv[1] : "127.0.0.1");
  if (!facts.ok()) {
    std::fprintf(stderr, "%s: %s\n", kProgram, std::string(facts.status().text()).c_str());
    return kCouldNotLook;
  }
  const std::vector<Finding> findings = Examine(*facts);
  const bool saw_machine = facts->machine.memory_bytes.has_value();
  FLAGS_json ? PrintJson(findings, saw_machine) : PrintText(findings, saw_machine);
  return findings.empty() ? 0 : static_cast<int>(findings.front().severity);
}
