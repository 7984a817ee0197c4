// SPDX-License-Identifier: BSD-3-Clause
//
// The rules of ACL SETUSER: the permissions that they give, and descriptions that make the same user again.
#include <gtest/gtest.h>

#include "acl/access_log.h"
#include "acl/rule_errors.h"
#include "acl/users.h"

namespace cairn {
namespace {

constexpr uint32_t kGet = 0, kSet = 1, kConfig = 2, kConfigGet = 3, kConfigSet = 4, kSelect = 5;
constexpr std::string_view kHashOfPw = "30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4";

Catalogue SomeCommands() {
  const uint32_t read = 1, write = 2, admin = 4;  // and "scripting", a category without commands
  return Catalogue({{"get", false, {}, read},
                    {"set", false, {}, write},
                    {"config", false, {kConfigGet, kConfigSet}, 0},
                    {"config|get", true, {}, admin},
                    {"config|set", true, {}, admin},
                    {"select", false, {}, 0}},
                   {"read", "write", "admin", "scripting"});
}

class Rules : public testing::Test {
 protected:
  std::string Commands(std::initializer_list<std::string_view> rules) {
    commands_.StartFrom(false);
    for (const std::string_view rule : rules) EXPECT_TRUE(commands_.Apply(catalogue_, rule).ok()) << rule;
    return commands_.Describe();
  }
  std::string_view CommandError(std::string_view rule) {
    error_ = commands_.Apply(catalogue_, rule);
    return error_.text();
  }
  Status Set(std::string_view name, std::vector<std::string_view> rules) { return users_.Set(name, rules); }
  std::string Described(std::string_view name) { return users_.Find(name)->rules()->Describe(); }

  const Catalogue catalogue_ = SomeCommands();
  CommandRules commands_{catalogue_.size()};
  Status error_;
  std::atomic<int64_t> pubsub_default_{1};
  Users users_{SomeCommands(), pubsub_default_};
};

TEST_F(Rules, DescriptionsKeepTheGivenRules) {
  EXPECT_EQ(Commands({}), "-@all");
  EXPECT_EQ(Commands({"+GET", "+get"}), "-@all +get");
  EXPECT_EQ(Commands({"+get", "-get"}), "-@all -get");
  EXPECT_EQ(Commands({"+config|get", "+config"}), "-@all +config");
  EXPECT_EQ(Commands({"+config", "-config|set"}), "-@all +config -config|set");
  EXPECT_EQ(Commands({"+@read", "-get", "+@read"}), "-@all -get +@read");
  EXPECT_EQ(Commands({"+@all", "+get"}), "+@all +get");
  EXPECT_EQ(Commands({"+@all", "-@admin", "+config|get"}), "+@all -@admin +config|get");
  EXPECT_EQ(Commands({"-@scripting"}), "-@all -@scripting");
  EXPECT_EQ(Commands({"+@scripting"}), "-@all +@scripting");
}

TEST_F(Rules, TheLastRuleAboutACommandDecides) {
  Commands({"+@read", "+config", "-config|set", "+select|0"});
  EXPECT_TRUE(commands_.Allows(kGet, ""));
  EXPECT_FALSE(commands_.Allows(kSet, ""));
  EXPECT_TRUE(commands_.Allows(kConfig, ""));
  EXPECT_TRUE(commands_.Allows(kConfigGet, "get"));
  EXPECT_FALSE(commands_.Allows(kConfigSet, "set"));
  EXPECT_TRUE(commands_.Allows(kSelect, "0"));
  EXPECT_FALSE(commands_.Allows(kSelect, "1"));
  Commands({"+@all", "-get"});
  EXPECT_FALSE(commands_.allows_all());
  Commands({"+@all", "-get", "+get"});
  EXPECT_FALSE(commands_.allows_all());
  EXPECT_TRUE(commands_.Allows(kGet, ""));
}

TEST_F(Rules, CommandRulesAreChecked) {
  EXPECT_EQ(CommandError("+nosuch"), rule_errors::kUnknown);
  EXPECT_EQ(CommandError("+@nosuch"), rule_errors::kUnknown);
  EXPECT_EQ(CommandError("-config|nosuch"), rule_errors::kUnknown);
  EXPECT_EQ(CommandError("-get|argument"), rule_errors::kUnknown);
  EXPECT_EQ(CommandError("+config|nosuch"), rule_errors::kUnknown);
  EXPECT_EQ(CommandError("+config|get|maxmemory"), rule_errors::kArgumentOfSubcommand);
  EXPECT_EQ(CommandError("+select|"), rule_errors::kSyntax);
  // Lines of the ACL file and of the configuration file separate rules by spaces.
  EXPECT_EQ(CommandError("+select|1 2"), rule_errors::kSyntax);
  EXPECT_EQ(CommandError("+select|1\nuser"), rule_errors::kSyntax);
  EXPECT_EQ(commands_.Describe(), "-@all");
}

TEST_F(Rules, ASetOfRulesIsAppliedCompletelyOrNotAtAll) {
  ASSERT_TRUE(Set("a", {"on", ">pw", "%R~in*", "~both", "%W~in*", "&c", "(+get", "~x)"}).ok());
  EXPECT_EQ(Described("a"),
            "on #" + std::string(kHashOfPw) + " ~in* ~both resetchannels &c -@all (~x resetchannels -@all +get)");
  const std::string before = Described("a");
  EXPECT_EQ(Set("a", {"off", "wrong"}).text(), "Error in ACL SETUSER modifier 'wrong': Syntax error");
  EXPECT_EQ(Set("a", {"(+get"}).text(), "Unmatched parenthesis in acl selector starting at '(+get'.");
  EXPECT_EQ(Described("a"), before);
}

// Loading reads a selector's rules as words, so ACL SAVE must not write what it would read differently.
TEST_F(Rules, ASelectorIsRefusedThatCannotBeWritten) {
  for (const std::string_view bad : {R"((~"a\"b" +get))", "(~a) +get)", R"((&"x\"" +get))", R"((+select|"x\"y"))",
                                     R"((~"it's" +get))", "(~a +select|0) +get)"}) {
    EXPECT_TRUE(Set("a", {bad}).text().ends_with("': Syntax error")) << bad;
  }
  EXPECT_EQ(users_.Find("a"), nullptr);
  ASSERT_TRUE(Set("a", {R"(("~b(" +select|x)))", "~\"c)"}).ok());
  const std::string described = Described("a");
  std::vector<std::string> lines = {"b " + described.substr(0, described.find('~')) +
                                    described.substr(described.find('('))};
  ASSERT_TRUE(users_.LoadLines(lines).ok());
  EXPECT_EQ(users_.Find("b")->rules()->selectors()[1].Describe(), "~b( resetchannels -@all +select|x)");
}

// Databases follow Valkey 9.1: all by default, and a list replaces the list before it.
TEST_F(Rules, DatabasesAreNamedByAList) {
  ASSERT_TRUE(Set("a", {"db=5,1,5", "DB=3,0", "(+get db=2)"}).ok());
  EXPECT_EQ(Described("a"), "off resetchannels db=0,3 -@all (resetchannels db=2 -@all +get)");
  const auto rules = users_.Find("a")->rules();
  EXPECT_TRUE(rules->selectors().front().AllowsDatabase(3));
  EXPECT_FALSE(rules->selectors().front().AllowsDatabase(1));
  ASSERT_TRUE(Set("a", {"clearselectors", "resetdbs"}).ok());
  EXPECT_EQ(Described("a"), "off resetchannels resetdbs -@all");
  ASSERT_TRUE(Set("a", {"AllDbs"}).ok());
  EXPECT_EQ(Described("a"), "off resetchannels -@all");
  for (const std::string_view bad : {"db=", "db=x", "db=1,", "db=,1", "db=1,,2"}) {
    EXPECT_TRUE(Set("a", {bad}).text().ends_with("': Syntax error")) << bad;
  }
  for (const std::string_view bad : {"db=-1", "db=2147483648"}) {
    EXPECT_TRUE(Set("a", {bad}).text().ends_with("': The provided database ID is out of range")) << bad;
  }
  ASSERT_TRUE(Set("default", {"db=1"}).ok());
  EXPECT_FALSE(users_.Find("default")->is_unrestricted());
}

TEST_F(Rules, ADescriptionMakesTheSameUser) {
  ASSERT_TRUE(
      Set("a", {"on", ">pw", "%R~r", "&c", "+@read", "+select|0", "db=1,4", "(~x -@all +config|get resetdbs)"}).ok());
  ASSERT_TRUE(Set("default", {"sanitize-payload"}).ok());  // as "reset", which LoadLines puts before a line's rules
  Users again(SomeCommands(), pubsub_default_);
  ASSERT_TRUE(again.LoadLines(users_.Lines()).ok());
  EXPECT_EQ(again.Lines(), users_.Lines());
  std::string text;
  for (const std::string& line : users_.Lines()) text += "user " + line + "\n";
  Users from_file(SomeCommands(), pubsub_default_);
  ASSERT_TRUE(from_file.LoadText(text, "f").ok());
  EXPECT_EQ(from_file.Lines(), users_.Lines());
}

// A pattern with a quote made a configuration file that no server could load after CONFIG REWRITE.
TEST_F(Rules, LinesOfTheConfigurationFileAreQuoted) {
  ASSERT_TRUE(Set("a", {"on", "~it's", "&\"c"}).ok());
  Users again(SomeCommands(), pubsub_default_);
  ASSERT_TRUE(again.LoadLines(users_.QuotedLines()).ok());
  EXPECT_EQ(again.Find("a")->rules()->Describe(), Described("a"));
}

TEST_F(Rules, Passwords) {
  ASSERT_TRUE(Set("a", {"on", ">pw", ">other", "<other"}).ok());
  const auto user = users_.Find("a");
  EXPECT_TRUE(user->rules()->Accepts("pw"));
  EXPECT_FALSE(user->rules()->Accepts("other"));
  ASSERT_TRUE(Set("a", {"!" + std::string(kHashOfPw)}).ok());
  EXPECT_FALSE(user->rules()->Accepts("pw"));
  ASSERT_TRUE(Set("a", {"nopass"}).ok());
  EXPECT_TRUE(user->rules()->Accepts("anything"));
  ASSERT_TRUE(Set("a", {"off"}).ok());
  EXPECT_FALSE(user->rules()->Accepts("anything"));
}

TEST_F(Rules, ChannelsMatchByPatternAndPatternsLiterally) {
  ASSERT_TRUE(Set("a", {"&news.*"}).ok());
  const auto rules = users_.Find("a")->rules();
  const Selector& root = rules->selectors().front();
  EXPECT_TRUE(root.AllowsChannel("news.today", false));
  EXPECT_FALSE(root.AllowsChannel("old", false));
  EXPECT_TRUE(root.AllowsChannel("news.*", true));
  EXPECT_FALSE(root.AllowsChannel("news.t*", true));
  EXPECT_TRUE(users_.default_user()->rules()->selectors().front().AllowsChannel("any", true));
}

TEST_F(Rules, ADeletedUserLosesAllPermissions) {
  ASSERT_TRUE(Set("a", {"on", "nopass", "allkeys", "allchannels", "+@all"}).ok());
  ASSERT_TRUE(Set("b", {"on", "nopass", "allkeys", "allchannels", "+@all"}).ok());
  const auto a = users_.Remove("a");
  EXPECT_FALSE(a->is_unrestricted());
  EXPECT_EQ(users_.Find("a"), nullptr);
  const auto b = users_.Find("b");
  const auto gone = users_.LoadText("user c on\n", "f");
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(*gone, UserList{b});
  EXPECT_FALSE(b->is_unrestricted());
  EXPECT_EQ(users_.Find("b"), nullptr);
}

// Clients point to their user, so ACL LOAD of an unchanged file must keep it.
TEST_F(Rules, AUserThatIsInTheFileStaysAndGetsItsRules) {
  ASSERT_TRUE(Set("a", {"on", "nopass", "allkeys", "allchannels", "+@all"}).ok());
  ASSERT_TRUE(Set("b", {"on", "nopass", "~k", "+get"}).ok());
  const auto a = users_.Find("a");
  const auto b = users_.Find("b");
  const std::string rules_of_a = Described("a");
  const auto gone =
      users_.LoadText("user default on nopass ~* +get\nuser a on nopass ~* &* +@all\nuser b on +set\n", "f");
  ASSERT_TRUE(gone.ok());
  EXPECT_TRUE(gone->empty());
  EXPECT_EQ(users_.Find("a"), a);
  EXPECT_EQ(Described("a"), rules_of_a);
  EXPECT_EQ(users_.Find("b"), b);
  EXPECT_EQ(b->rules()->Describe(), users_.Find("b")->rules()->Describe());
  EXPECT_NE(b->rules()->Describe().find("+set"), std::string::npos);
  EXPECT_EQ(users_.Find("default"), users_.default_user());
  EXPECT_FALSE(users_.default_user()->is_unrestricted());
  EXPECT_EQ(users_.All().size(), 3u);
}

TEST_F(Rules, AFileWithAnErrorChangesNothing) {
  const auto loaded = users_.LoadText("user a on\nuser a off\nuser b +nosuch\nanything\n", "f");
  EXPECT_EQ(loaded.status().text(),
            "WARNING: Duplicate user 'a' found on line 2. f:3: Error in applying operation '+nosuch': "
            "Unknown command or category name in ACL. f:4 should start with user keyword followed by "
            "the username. WARNING: ACL errors detected, no change to the previously active ACL rules "
            "was performed");
  EXPECT_EQ(users_.All().size(), 1u);
}

TEST(AccessLog, CountsRepeatedRefusalsAndKeepsTheNewest) {
  std::atomic<int64_t> most{2};
  AccessLog log(most);
  const auto refusal = [](std::string object) {
    return AccessLogEntry{.reason = DenialReason::kKey, .object = std::move(object)};
  };
  log.Add(refusal("a"), 1000);
  log.Add(refusal("b"), 2000);
  log.Add(refusal("a"), 3000);
  std::vector<AccessLogEntry> entries = log.Newest(10);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].object, "a");
  EXPECT_EQ(entries[0].count, 2u);
  EXPECT_EQ(entries[0].created_ms, 1000);
  log.Add(refusal("a"), 70000);
  log.Add(refusal("c"), 70000);
  entries = log.Newest(10);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].count, 1u);
}

}  // namespace
}  // namespace cairn
