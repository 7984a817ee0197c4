// SPDX-License-Identifier: BSD-3-Clause
//
// The table of directives and what stands on it: values, the configuration file, CONFIG SET's all
// or nothing, CONFIG REWRITE, the reference page and conf/cairn.conf.
#include "config/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <sstream>

#include "acl/users.h"
#include "base/words.h"
#include "config/config_file.h"
#include "config/config_reference.h"

namespace cairn {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::filesystem::path Source(const char* name) { return std::filesystem::path(CAIRN_SOURCE_DIR) / name; }

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    char pattern[] = "/tmp/cairn-config-XXXXXX";
    dir_ = mkdtemp(pattern);
  }
  ~ConfigTest() override { std::filesystem::remove_all(dir_); }

  std::string Write(const std::string& text, const std::string& name = "cairn.conf") {
    const std::filesystem::path path = dir_ / name;
    std::ofstream(path) << text;
    return path;
  }
  // The error's text, or nothing.
  std::string Load(const std::string& text) {
    config_.BeginSource();
    return std::string(LoadConfigFile(Write(text), config_).text());
  }
  std::string Set(const Pairs& pairs) { return std::string(config_.SetAll(pairs, true).text()); }
  std::string Get(std::string_view name) {
    const auto found = config_.Get(std::span(&name, 1));
    return found.empty() ? "(none)" : found.front().second;
  }
  // What the file holds after a rewrite.
  std::string Rewritten(const std::string& text) {
    EXPECT_EQ(Load(text), "");
    EXPECT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
    return ReadFile(dir_ / "cairn.conf");
  }

  std::filesystem::path dir_;
  Config config_;
};

// ---- the table

TEST(DirectiveTest, EveryNameIsThereOnce) {
  std::set<std::string_view> names;
  for (const Directive& directive : AllDirectives()) {
    EXPECT_TRUE(names.insert(directive.name).second) << directive.name;
    if (!directive.alias.empty()) {
      EXPECT_TRUE(names.insert(directive.alias).second) << directive.alias;
    }
    EXPECT_FALSE(directive.help.empty()) << directive.name;
    EXPECT_TRUE(directive.kind != Kind::kChoice || !directive.choices.empty()) << directive.name;
    EXPECT_TRUE(directive.kind != Kind::kSpecial || directive.special != nullptr) << directive.name;
  }
}

// What CONFIG REWRITE writes must mean what it was written from.
TEST(DirectiveTest, EveryDefaultReadsBackFromItsOwnLines) {
  const Config config;
  for (const Directive& directive : AllDirectives()) {
    Config copy;
    copy.BeginSource();
    for (const std::string& line : config.Lines(directive)) {
      const auto words = SplitWords(line);
      ASSERT_TRUE(words) << line;
      EXPECT_TRUE(copy.Apply(directive, std::span(*words).subspan(1)).ok()) << line;
    }
    EXPECT_TRUE(copy.IsDefault(directive)) << directive.name;
  }
}

// types/limits.h must be right without a Config too: tests of types/ have none.
TEST(DirectiveTest, LimitsStartAtTheTablesDefaults) {
  const Limits limits;
  for (const Directive& directive : AllDirectives()) {
    const auto* target = std::get_if<std::atomic<int64_t> Limits::*>(&directive.target);
    if (target == nullptr) continue;
    Config config;
    EXPECT_EQ((limits.**target).load(), (config.limits().**target).load()) << directive.name;
  }
}

TEST(DirectiveTest, TheReferencePageIsTheOneInDocs) {
  EXPECT_EQ(ReadFile(Source("docs/configuration.md")), ReferencePage())
      << "run: cairn-server --list-directives > docs/configuration.md";
}

// conf/cairn.conf: every directive once, at its default; one that has none stands in a comment.
TEST(DirectiveTest, TheSampleFileNamesEveryDirectiveAtItsDefault) {
  Config config;
  config.BeginSource();
  const Status loaded = LoadConfigFile(Source("conf/cairn.conf"), config);
  ASSERT_TRUE(loaded.ok()) << loaded.text();
  std::multiset<std::string> names;
  std::istringstream lines(ReadFile(Source("conf/cairn.conf")));
  for (std::string line; std::getline(lines, line);) {
    for (const char* const bare : {"# listen", "# user", "# rename-command", "# database"}) {
      if (line == bare) line.erase(0, 2);
    }
    const auto words = SplitWords(line);
    if (words && !words->empty() && !line.starts_with('#')) names.insert(words->front());
  }
  for (const Directive& directive : AllDirectives()) {
    EXPECT_TRUE(config.IsDefault(directive)) << directive.name;
    const size_t times = directive.name == "client-output-buffer-limit" ? 3 : 1;
    EXPECT_EQ(names.count(std::string(directive.name)), times) << directive.name;
    EXPECT_EQ(names.count(std::string(directive.alias)), 0u) << directive.alias;
  }
}

// ---- the file

TEST_F(ConfigTest, AFileSetsWhatItSays) {
  EXPECT_EQ(Load("# comment\n\n  PORT 7000\nlogfile \"a b\\x41\"\nmemory-budget 64mb\r\nhz 20\nhz 30\n"), "");
  EXPECT_EQ(config_.settings().port, 7000);
  EXPECT_EQ(config_.Text("logfile"), "a bA");
  EXPECT_EQ(config_.settings().memory_budget, 64 << 20);
  EXPECT_EQ(config_.settings().hz, 30);
}

TEST_F(ConfigTest, AnAliasSetsTheDirectiveItStandsFor) {
  EXPECT_EQ(Load("hash-max-ziplist-entries 7\n"), "");
  EXPECT_EQ(config_.limits().hash_max_listpack_entries, 7);
  EXPECT_EQ(Get("hash-max-listpack-entries"), "7");
}

TEST_F(ConfigTest, LinesOfARepeatableDirectiveAddUpWithinTheirSource) {
  EXPECT_EQ(Load("listen 127.0.0.1:7001 io-threads 2 qps-limit 10 readonly tls\nlisten "
                 "unix:/tmp/x\nlisten [::1]:7002\n"),
            "");
  auto listeners = config_.Listeners();
  ASSERT_EQ(listeners.size(), 3u);
  EXPECT_EQ(listeners[0].address, "127.0.0.1");
  EXPECT_EQ(listeners[0].port, 7001);
  EXPECT_EQ(listeners[0].io_threads, 2);
  EXPECT_EQ(listeners[0].qps_limit, 10);
  EXPECT_TRUE(listeners[0].read_only);
  EXPECT_TRUE(listeners[0].tls);
  EXPECT_FALSE(listeners[1].tls);
  EXPECT_EQ(listeners[1].unix_path, "/tmp/x");
  EXPECT_EQ(listeners[2].address, "::1");
  config_.BeginSource();  // the command line comes after the file
  const std::vector<std::string> words = {"listen", "*:7003"};
  EXPECT_TRUE(ApplyDirective("command line", words, config_).ok());
  ASSERT_EQ(config_.Listeners().size(), 1u);
  EXPECT_EQ(config_.Listeners()[0].port, 7003);
}

TEST_F(ConfigTest, TheSocketOfAListenerMayHaveAnyName) {
  const std::string text = "listen \"unix:/tmp/a b\" readonly\nlisten \"unix:/tmp/a'b\\\"c\" readonly\n";
  EXPECT_EQ(Rewritten(text), text);
  const auto listeners = config_.Listeners();
  ASSERT_EQ(listeners.size(), 2u);
  EXPECT_EQ(listeners[0].unix_path, "/tmp/a b");
  EXPECT_EQ(listeners[1].unix_path, "/tmp/a'b\"c");
}

TEST_F(ConfigTest, AnIncludedFileIsReadInPlace) {
  Write("maxclients 5\nhz 7\n", "part.conf");
  EXPECT_EQ(Load("maxclients 4\ninclude " + (dir_ / "part*.conf").string() + "\nhz 8\n"), "");
  EXPECT_EQ(config_.settings().maxclients, 5);
  EXPECT_EQ(config_.settings().hz, 8);
}

TEST_F(ConfigTest, AWrongLineIsNamedWithItsFileAndWhatWouldBeRight) {
  const std::string file = dir_ / "cairn.conf";
  EXPECT_EQ(Load("port 1\n\nprot 7000\n"), file + ", line 3: unknown directive 'prot'; is 'port' meant?");
  EXPECT_EQ(Load("hz abc\n"), file +
                                  ", line 1: 'hz abc': argument couldn't be parsed into an integer. The directive "
                                  "is: hz <number>, from 1 to 500");
  EXPECT_EQ(Load("active-expire-effort 11\n"),
            file +
                ", line 1: 'active-expire-effort 11': argument must be between 1 and 10 inclusive. The directive "
                "is: active-expire-effort <number>, from 1 to 10");
  EXPECT_EQ(Load("memory-budget 3xb\n"), file +
                                             ", line 1: 'memory-budget 3xb': argument must be a "
                                             "memory value. The directive is: memory-budget "
                                             "<bytes>, with a unit if wanted: kb, mb, gb");
  EXPECT_EQ(Load("port 1 2\n"), file +
                                    ", line 1: 'port 1 2': wrong number of arguments. The directive is: port "
                                    "<number>, from 0 to 65535");
  EXPECT_EQ(Load("dir \"x\n"), file + ", line 1: a quote is not closed, or closed in the middle of a word");
  EXPECT_EQ(Load("daemonize maybe\n"), file +
                                           ", line 1: 'daemonize maybe': argument must be 'yes' or 'no'. The "
                                           "directive is: daemonize yes | no");
  EXPECT_EQ(Load("include /nowhere/x.conf\n"),
            "cannot read the configuration file /nowhere/x.conf: No such file or directory "
            "(included by " +
                file + ", line 1)");
}

TEST_F(ConfigTest, APasswordIsNotShownInAnError) {
  EXPECT_EQ(Load("requirepass top secret\n").find("secret"), std::string::npos);
}

TEST_F(ConfigTest, FilesThatIncludeEachOtherEndInAnError) {
  const std::string error = Load("include " + (dir_ / "cairn.conf").string() + "\n");
  EXPECT_NE(error.find("more than 16 deep"), std::string::npos) << error;
}

// ---- CONFIG SET

TEST_F(ConfigTest, SetAllSetsAllOrNothing) {
  EXPECT_EQ(Set({{"maxclients", "50"}, {"hz", "20"}}), "");
  EXPECT_EQ(Set({{"maxclients", "60"}, {"hz", "x"}}),
            "ERR CONFIG SET failed (possibly related to argument 'hz') - argument couldn't be "
            "parsed into an integer");
  EXPECT_EQ(Set({{"maxclients", "60"}, {"nonsense", "1"}}),
            "ERR Unknown option or number of arguments for CONFIG SET - 'nonsense'");
  EXPECT_EQ(Set({{"maxclients", "60"}, {"databases", "3"}}),
            "ERR CONFIG SET failed (possibly related to argument 'databases') - can't set "
            "immutable config");
  EXPECT_EQ(Set({{"maxclients", "60"}, {"MAXCLIENTS", "61"}}),
            "ERR CONFIG SET failed (possibly related to argument 'MAXCLIENTS') - duplicate parameter");
  EXPECT_EQ(config_.settings().maxclients, 50);
  EXPECT_EQ(Get("maxclients"), "50");
}

TEST_F(ConfigTest, AWatcherThatRefusesUndoesEverything) {
  int64_t applied = 0;
  config_.Watch("maxclients", [&] {
    applied = config_.settings().maxclients;
    return Ok();
  });
  config_.Watch("hz", [&] { return config_.settings().hz > 100 ? Status::Reply("too often") : Ok(); });
  EXPECT_EQ(Set({{"maxclients", "7"}, {"hz", "101"}}),
            "ERR CONFIG SET failed (possibly related to argument 'hz') - too often");
  EXPECT_EQ(config_.settings().maxclients, 10000);
  EXPECT_EQ(applied, 10000);
  EXPECT_EQ(Get("hz"), "10");
  EXPECT_EQ(Set({{"maxclients", "7"}, {"hz", "100"}}), "");
  EXPECT_EQ(applied, 7);
}

TEST_F(ConfigTest, AClassOfClientsThatIsNotNamedKeepsItsLimits) {
  EXPECT_EQ(Set({{"client-output-buffer-limit", "normal 1mb 1k 10"}}), "");
  EXPECT_EQ(Get("client-output-buffer-limit"),
            "normal 1048576 1000 10 slave 268435456 67108864 60 pubsub 33554432 "
            "8388608 60");
  const OutputLimit& normal = config_.settings().output_limits[static_cast<int>(ClientClass::kNormal)];
  EXPECT_EQ(normal.hard_bytes, 1 << 20);
  EXPECT_EQ(normal.soft_bytes, 1000);
  EXPECT_EQ(normal.soft_seconds, 10);
  EXPECT_EQ(config_.settings().output_limits[static_cast<int>(ClientClass::kReplica)].soft_seconds, 60);
}

TEST_F(ConfigTest, AUserIsDefinedOnceAndNotShown) {
  EXPECT_EQ(Load("user app on \"(+get ~a)\"\nuser other\n"), "");
  EXPECT_EQ(config_.Words("user"), (std::vector<std::string>{"app on \"(+get ~a)\"", "other"}));
  EXPECT_NE(Load("user app\nuser app\n"), "");
  EXPECT_EQ(Set({{"user", "x"}}), "ERR Unknown option or number of arguments for CONFIG SET - 'user'");
}

// ---- CONFIG GET

TEST_F(ConfigTest, GetShowsEachNameOnceUnderTheNameAsked) {
  const std::string_view patterns[] = {"hash-max-*", "MaxClients", "hash-*-value"};
  std::vector<std::string> names;
  for (const auto& [name, value] : config_.Get(patterns)) names.push_back(name);
  const std::vector<std::string> expected = {"MaxClients", "hash-max-listpack-entries", "hash-max-listpack-value",
                                             "hash-max-ziplist-entries", "hash-max-ziplist-value"};
  EXPECT_EQ(names, expected);
}

// As in Redis, the first argument that names a directive decides how its name is spelled.
TEST_F(ConfigTest, GetShowsANameOnceIfSeveralArgumentsMatchIt) {
  const std::string_view patterns[] = {"Slave-Priority", "slave-priority", "*-priority", "REPLICA-PRIORITY"};
  std::vector<std::string> names;
  for (const auto& [name, value] : config_.Get(patterns)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"Slave-Priority", "replica-priority"}));
}

TEST_F(ConfigTest, GetShowsAnAbsoluteFolder) {
  EXPECT_EQ(Get("dir"), (std::filesystem::current_path() / "data").string());
  EXPECT_EQ(Load("dir /srv/cairn\n"), "");
  EXPECT_EQ(Get("dir"), "/srv/cairn");
}

// ---- CONFIG REWRITE

TEST_F(ConfigTest, RewriteKeepsCommentsOrderAndSpellings) {
  const std::string text = "# top\nmemory-budget 1024mb\n\n  hz   10\n# mid\nPort '7000'\ninclude " +
                           Write("maxclients 10\n", "part.conf") + "\n# end\n";
  EXPECT_EQ(Rewritten(text), text + "\n# Generated by CONFIG REWRITE\nmaxclients 10\n");
}

// The last line of a directive counts, so a line before the include would not.
TEST_F(ConfigTest, RewriteAddsALineBehindAnIncludedFileThatSaysSomethingElse) {
  const std::string part = Write("maxclients 10\nhz 50\nrequirepass x\ntimeout 3\n", "part.conf");
  EXPECT_EQ(Load("hz 20\nmaxclients 5\nport 7000\ninclude " + part + "\n"), "");
  EXPECT_EQ(Set({{"maxclients", "10000"}, {"hz", "30"}, {"requirepass", "y"}}), "");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  const std::string once = ReadFile(dir_ / "cairn.conf");
  EXPECT_EQ(once.substr(0, once.find('\n')), "port 7000");
  Config again;
  again.BeginSource();
  ASSERT_TRUE(LoadConfigFile(dir_ / "cairn.conf", again).ok());
  EXPECT_EQ(again.settings().maxclients, 10000);
  EXPECT_EQ(again.settings().hz, 30);
  EXPECT_EQ(again.Text("requirepass"), "y");
  EXPECT_EQ(again.Number("timeout"), 3);
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), once);
}

// The options of an included file stay in force unless a line removes them.
TEST_F(ConfigTest, RewriteResetsTheDatabasesOfAnIncludedFile) {
  const std::string part = Write("database 3 storage-mode memory\ndatabase 4 durability always\n", "part.conf");
  const std::string start = "include " + part + "\n\n# Generated by CONFIG REWRITE\n";
  EXPECT_EQ(Load("include " + part + "\n"), "");
  EXPECT_EQ(Set({{"database", "3 storage-mode ssd"}}), "");
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
    EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), start + "database \"\"\ndatabase 4 durability always\n");
  }
  EXPECT_EQ(Set({{"database", ""}}), "");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), start + "database \"\"\n");
  Config again;
  again.BeginSource();
  ASSERT_TRUE(LoadConfigFile(dir_ / "cairn.conf", again).ok());
  EXPECT_EQ(again.Words("database"), std::vector<std::string>());
}

// A second line would be a listener on a port that is taken, or an error.
TEST_F(ConfigTest, RewriteLeavesToIncludedFilesWhatMayNotBeThereTwice) {
  Write("listen 127.0.0.1:7001\n", "inner.conf");
  const std::string part =
      Write("user app on nopass\nrename-command FLUSHALL drop\ninclude " + (dir_ / "inner*.conf").string() + "\n",
            "part.conf");
  const std::string text = "include " + part + "\nlisten 127.0.0.1:7002\nuser other on nopass\n";
  EXPECT_EQ(Rewritten(text), text);
  config_.Keep("user", {"app off nopass", "new on nopass"});
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), "include " + part + "\nlisten 127.0.0.1:7002\nuser new on nopass\n");
}

TEST_F(ConfigTest, RewriteReplacesInPlaceAndAddsTheRestAtTheEnd) {
  EXPECT_EQ(Load("hz 20\n# between\nhz 30\nsave 60 1\nrequirepass \"old\"\n"), "");
  EXPECT_EQ(Set({{"hz", "40"}, {"requirepass", "new \"one\""}, {"save", "60 1 70 2"}, {"timeout", "5"}}), "");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"),
            "hz 40\n# between\nsave 60 1\nrequirepass \"new \\\"one\\\"\"\n\n# Generated by CONFIG "
            "REWRITE\n"
            "timeout 5\nsave 70 2\n");
  Config again;
  again.BeginSource();
  EXPECT_TRUE(LoadConfigFile(dir_ / "cairn.conf", again).ok());
  EXPECT_EQ(again.Text("requirepass"), "new \"one\"");
  EXPECT_EQ(again.settings().hz, 40);
}

TEST_F(ConfigTest, RewriteMakesAFileThatIsNotThere) {
  EXPECT_EQ(Set({{"hz", "20"}}), "");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "new.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "new.conf"), "# Generated by CONFIG REWRITE\nhz 20\n");
  EXPECT_FALSE(RewriteConfigFile(dir_ / "nowhere" / "new.conf", config_).ok());
}

// The file would lose the lines behind the error.
TEST_F(ConfigTest, RewriteFailsIfAFileCannotBeRead) {
  const std::string text = "hz 20\ninclude " + dir_.string() + "\n";
  Write(text);
  EXPECT_FALSE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), text);
}

// CONFIG SET puts all values in place before their watchers accept them.
TEST_F(ConfigTest, RewriteWritesNoValueThatAWatcherRefuses) {
  const std::string path = Write("");
  const std::atomic<int64_t> pubsub_default{1};
  const Users users(Catalogue({}, {}), pubsub_default);
  std::future<Status> rewritten;
  config_.Watch("hz", [&] {
    rewritten =
        std::async(std::launch::async, [&] { return RewriteConfig(config_, users, path, RewriteScope::kChanged); });
    static_cast<void>(rewritten.wait_for(std::chrono::milliseconds(100)));
    return Status::Reply("refused");
  });
  EXPECT_NE(Set({{"hz", "20"}}), "");
  EXPECT_TRUE(rewritten.get().ok());
  EXPECT_EQ(ReadFile(path).find("hz"), std::string::npos);
}

// A second rewrite finds nothing to change.
TEST_F(ConfigTest, RewriteTwiceIsRewriteOnce) {
  EXPECT_EQ(Load(ReadFile(Source("conf/cairn.conf"))), "");
  EXPECT_EQ(Set({{"client-output-buffer-limit", "pubsub 1mb 1mb 1"}, {"notify-keyspace-events", "KEA"}}), "");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  const std::string once = ReadFile(dir_ / "cairn.conf");
  ASSERT_TRUE(RewriteConfigFile(dir_ / "cairn.conf", config_).ok());
  EXPECT_EQ(ReadFile(dir_ / "cairn.conf"), once);
  EXPECT_NE(once.find("client-output-buffer-limit pubsub 1mb 1mb 1\n"), std::string::npos);
  EXPECT_NE(once.find("notify-keyspace-events AKE\n"), std::string::npos);
}

}  // namespace
}  // namespace cairn
