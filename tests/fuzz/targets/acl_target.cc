// SPDX-License-Identifier: BSD-3-Clause
//
// ACL: rules of ACL SETUSER and ACL files. The description of a user makes the same user again.
//
// Input: a choice, then the lines of an ACL file, or the rules of one user, one a line.
#include <atomic>

#include "acl/users.h"
#include "base/assert.h"
#include "base/words.h"
#include "fuzz/targets/target.h"

namespace cairn {
namespace {

Catalogue SomeCommands() {
  return Catalogue({{"get", false, {}, 1}, {"config", false, {2}, 0}, {"config|get", true, {}, 2}},
                   {"read", "admin", "scripting"});
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void Run(std::string_view input) {
  const std::atomic<int64_t> pubsub_default{1};
  const bool is_file = TakeChoice(input) % 2 == 1;
  Users users(SomeCommands(), pubsub_default);
  const bool ok = is_file ? users.LoadText(input, "users.acl").ok() : users.Set("user", Lines(input)).ok();
  if (!ok) return;
  const std::string_view as_reset = "sanitize-payload";  // LoadLines puts a "reset" before a line's rules
  for (const auto& user : users.All()) ASSERT(users.Set(user->name(), {&as_reset, 1}).ok(), "the rule is valid");
  Users again(SomeCommands(), pubsub_default);
  const Status status = again.LoadLines(users.QuotedLines());
  ASSERT(status.ok(), "the lines of users are valid");
  ASSERT(again.Lines() == users.Lines(), "lines make the same users");
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  return {Chosen(0, "on\n>pw\n~key*\n%R~in\n%W~out\n&chan\n+@read\n+config|get\n(+get ~x db=1,4)\ndb=2"),
          Chosen(0, "reset\nnopass\nallkeys\nallchannels\nresetkeys\nresetchannels\n-@all\n+get|arg\nresetdbs"),
          Chosen(0, "#30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4\n<pw\nclearselectors"),
          Chosen(1, "user default on nopass ~* &* +@all\nuser a on >pw ~a* (+get &c) -@admin\n"),
          Chosen(1, "user b off sanitize-payload resetpass \"~a b\"\n")};
}

}  // namespace

const FuzzTarget kAclTarget = {.name = "acl", .make = Make, .seeds = Seeds, .covers = "src/acl/"};

}  // namespace cairn
