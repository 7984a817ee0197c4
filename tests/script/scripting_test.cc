// SPDX-License-Identifier: BSD-3-Clause
//
// Runs that take long, and the memory that Lua states share.
#include "script/scripting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "script/flags.h"
#include "script/script_call.h"
#include "server/families.h"
#include "storage/store_fixture.h"

namespace cairn {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;

class ScriptingTest : public StoreFixture {
 protected:
  void SetUp() override {
    StoreFixture::SetUp();
    Begin();
    context_ = std::make_unique<CommandContext>(txn(), session_, *table_.Find("eval"), table_, limits_, random_);
    context_->set_script_calls(&calls_);
    run_ = std::make_unique<ScriptRun>(*context_, scripting_, "name", std::span<const std::string_view>(), false);
    run_->started_us = MonotonicUs() - 1000000;
  }
  void TearDown() override {
    scripting_.EndBusy(*run_);
    Finish();
    Commit();
    StoreFixture::TearDown();
  }

  // Calls a command that writes, as the script does.
  CallResult Write() {
    constexpr std::string_view kArgv[] = {"set", "key", "value"};
    return CallCommand(*run_, kArgv, reply_);
  }
  bool HasWritten() {
    constexpr std::string_view kArgv[] = {"exists", "key"};
    EXPECT_EQ(CallCommand(*run_, kArgv, reply_), CallResult::kReplied);
    return reply_ == ":1\r\n";
  }
  std::string Killed() { return std::string(scripting_.Kill(false).text()); }

  // Loads a library that keeps so many kilobytes in the state. The strings are few, because Lua's hash reads too little
  // of them to tell them apart.
  Status Load(LuaVm& vm, std::string name, int kilobytes) {
    return LoadCode(vm, std::move(name),
                    "local kept, text = {}, ('x'):rep(100000) for i = 1, " + std::to_string(kilobytes / 100) +
                        " do kept[i] = text .. i end\nredis.register_function('f', function() return kept[1] end)");
  }
  Status LoadCode(LuaVm& vm, const std::string& name, std::string_view code) {
    Status loaded;
    do {  // on a busy machine it may take longer than a client's library may
      loaded = LoadInTime(vm, name, code);
    } while (loaded.text().find("timeout") != std::string_view::npos);
    return loaded;
  }
  Status LoadInTime(LuaVm& vm, std::string name, std::string_view code) {
    Library library;
    library.id = scripting_.NewLibraryId();
    library.code = "#!lua name=" + name + "\n" + std::string(code);
    library.head_size = TRY(ReadLibraryHead(library.code)).size;
    library.name = std::move(name);
    return vm.LoadLibrary(library, Libraries(), true);
  }

  static std::shared_ptr<const Script> MakeScript(const std::string& body) {
    return std::make_shared<const Script>(Sha1Hex(body), body, size_t{0}, uint32_t{kNoShebang});
  }
  // Compiles a script of so many bytes, which `add` adds to the cache. The result expires when neither the cache nor a
  // state keeps the script.
  template <typename Add>
  std::weak_ptr<const Script> Define(int number, size_t bytes, Add add) {
    const auto script = MakeScript("return " + std::to_string(number) + " --" + std::string(bytes, 'x'));
    Scripting::Lease vm = scripting_.Borrow();
    EXPECT_TRUE(vm->Compile(script).ok());
    add(script);
    return script;
  }
  // Runs the script as `run_`.
  void RunScript(const std::string& body) {
    const auto script = MakeScript(body);
    Scripting::Lease vm = scripting_.Borrow();
    EXPECT_TRUE(vm->Compile(script).ok());
    reply_.clear();
    Reply reply(reply_, 2);
    EXPECT_TRUE(vm->RunScript(*run_, *script, {}, {}, reply).ok());
    EXPECT_EQ(reply_, "$-1\r\n");
  }

  const CommandTable table_{AllFamilies()};
  Limits limits_;
  Session session_{1};
  Random random_{1};
  std::unique_ptr<ScriptCalls> calls_;
  const std::atomic<int64_t> busy_after_ms_{1};
  BusyScripts busy_;
  const Conditions conditions_;
  Scripting scripting_{busy_after_ms_, busy_, conditions_, [] { return false; }, kMostBytes};
  std::unique_ptr<CommandContext> context_;
  std::unique_ptr<ScriptRun> run_;
  std::string reply_;
};

// SCRIPT KILL replied OK during the first write, and the write was committed.
TEST_F(ScriptingTest, ABusyRunCannotBeKilledFromItsFirstWriteOn) {
  scripting_.LookAfter(*run_);
  ASSERT_TRUE(run_->is_busy);
  EXPECT_EQ(Write(), CallResult::kReplied);
  EXPECT_TRUE(Killed().starts_with("UNKILLABLE"));
  scripting_.LookAfter(*run_);
  EXPECT_TRUE(run_->stop.ok());
}

TEST_F(ScriptingTest, ARunThatBecomesBusyAfterItsFirstWriteCannotBeKilled) {
  EXPECT_EQ(Write(), CallResult::kReplied);
  scripting_.LookAfter(*run_);
  EXPECT_TRUE(Killed().starts_with("UNKILLABLE"));
}

TEST_F(ScriptingTest, AKilledRunDoesNotBeginToWrite) {
  scripting_.LookAfter(*run_);
  EXPECT_EQ(Killed(), "");
  EXPECT_EQ(Write(), CallResult::kEnded);
  EXPECT_TRUE(run_->stop.text().starts_with("ERR Script killed")) << run_->stop.text();
  run_->stop = Ok();
  EXPECT_FALSE(HasWritten());
}

// A state keeps its libraries and scripts when its run ends. When idle states held all the memory, each script failed.
TEST_F(ScriptingTest, ALoadGetsTheMemoryOfStatesThatNoRunUses) {
  {
    Scripting::Lease one = scripting_.Borrow();
    Scripting::Lease two = scripting_.Borrow();
    Scripting::Lease three = scripting_.Borrow();
    Scripting::Lease four = scripting_.Borrow();
    for (Scripting::Lease* const lease : {&one, &two, &three, &four}) {
      const Status loaded = Load(**lease, "small", 2500);
      EXPECT_TRUE(loaded.ok()) << loaded.text();
    }
    const Status refused = Load(*four, "large", 10000);
    EXPECT_NE(refused.text().find("not enough memory"), std::string_view::npos) << refused.text();
    EXPECT_TRUE(Load(*four, "small", 2500).ok());
  }
  EXPECT_GT(scripting_.vm_bytes(), 9u << 20);
  Scripting::Lease lease = scripting_.Borrow();
  const Status loaded = Load(*lease, "large", 10000);
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_LE(scripting_.vm_bytes(), kMostBytes);
}

// The reply was often "not enough memory", which Lua says when the allocator ends a run.
TEST_F(ScriptingTest, ALoadThatTakesTooLongSaysSo) {
  Scripting::Lease lease = scripting_.Borrow();
  const Status loaded = LoadInTime(*lease, "long", "while true do local text = ('x'):rep(100000) .. 'y' end");
  EXPECT_EQ(loaded.text(), "ERR Error registering functions: ERR FUNCTION LOAD timeout");
}

TEST_F(ScriptingTest, TheLimitFollowsTheMemoryBudget) {
  Scripting::Lease lease = scripting_.Borrow();
  scripting_.SetMostBytes(kMostBytes / 4);
  EXPECT_FALSE(Load(*lease, "large", 6000).ok());
  scripting_.SetMostBytes(kMostBytes);
  EXPECT_TRUE(Load(*lease, "large", 6000).ok());
}

// Lua's limit does not count the lines of redis.log, which are kept until the run ends.
TEST_F(ScriptingTest, ARunKeepsAtMostAMegabyteOfLogLines) {
  RunScript("local s = ('x'):rep(300000) for i = 1, 10 do redis.log(redis.LOG_DEBUG, s, i) end");
  EXPECT_TRUE(run_->log.empty()) << "the log drops such lines";
  EXPECT_FALSE(run_->log_is_cut);
  RunScript("local s = ('x'):rep(300000) for i = 1, 10 do redis.log(redis.LOG_WARNING, s, i) end");
  ASSERT_EQ(run_->log.size(), 4u);
  EXPECT_TRUE(run_->log[2].second.ends_with("xx 3"));
  EXPECT_LT(run_->log[3].second.size(), 200000u) << "the last line is cut";
  EXPECT_TRUE(run_->log_is_cut);
  RunScript("for i = 1, 1000 do redis.log(redis.LOG_WARNING, '') end");
  EXPECT_EQ(run_->log.size(), 4u);
}

TEST_F(ScriptingTest, AStateKeepsNoScriptThatTheCacheRefuses) {
  constexpr size_t kBytes = 5 << 20;  // the cache may have 4 MB
  const auto load = [this](const auto& script) { EXPECT_FALSE(scripting_.cache().AddLoaded(script)); };
  EXPECT_TRUE(Define(1, kBytes, load).expired());
  const auto evaluate = [this](const auto& script) { scripting_.cache().AddEvaluated(script); };
  EXPECT_TRUE(Define(2, kBytes, evaluate).expired());
}

// A state released evicted scripts only when it had compiled 600, whatever their bytes.
TEST_F(ScriptingTest, AStateKeepsFewBytesOfScriptsThatTheCacheHasEvicted) {
  std::vector<std::weak_ptr<const Script>> scripts;
  for (int i = 0; i < 60; ++i) {
    scripts.push_back(Define(i, 200000, [this](const auto& script) { scripting_.cache().AddEvaluated(script); }));
  }
  const auto is_kept = [](const std::weak_ptr<const Script>& script) { return !script.expired(); };
  const auto kept = std::count_if(scripts.begin(), scripts.end(), is_kept);
  EXPECT_GE(kept, 20) << "the cache has 4 MB of them";
  EXPECT_LE(kept, 27) << "the state keeps 1 MB more";
}

// Two threads that evaluate a new script at the same time make two objects of it.
TEST_F(ScriptingTest, AScriptThatTheCacheHasInAnotherObjectCountsAsEvicted) {
  const auto first = MakeScript("return 1");
  for (const bool loads : {false, true}) {
    const auto second = MakeScript("return 1");
    scripting_.cache().AddEvaluated(first);
    if (loads) {
      EXPECT_TRUE(scripting_.cache().AddLoaded(second));
    } else {
      scripting_.cache().AddEvaluated(second);
    }
    EXPECT_TRUE(scripting_.cache().Find(first->sha) == first);
    EXPECT_FALSE(first->is_evicted.load());
    EXPECT_TRUE(second->is_evicted.load());
  }
}

// A thread that has found a script runs it, and adds it again, while another thread evicts it.
TEST_F(ScriptingTest, AScriptThatIsAddedAgainDoesNotCountAsEvicted) {
  ScriptCache& cache = scripting_.cache();
  for (const bool loads : {false, true}) {
    const auto script = MakeScript(loads ? "return 2" : "return 1");
    script->is_evicted = true;
    if (loads) {
      EXPECT_TRUE(cache.AddLoaded(script));
    } else {
      cache.AddEvaluated(script);
    }
    EXPECT_TRUE(cache.Find(script->sha) == script);
    EXPECT_FALSE(script->is_evicted.load());
  }
}

// At a start all libraries shared one state, whose memory did not suffice for what clients had loaded one by one.
TEST_F(ScriptingTest, AStartLoadsAllLibrariesThatClientsHaveLoaded) {
  const auto code = [](int number) {
    const std::string name = std::to_string(number);
    return "#!lua name=lib" + name + "\nlocal t = {} for i = 1, 250000 do t[i] = i end\nredis.register_function('f" +
           name + "', function() return #t end)";
  };
  std::vector<std::string> codes;
  for (int number = 0; number < 8; ++number) codes.push_back(code(number));
  const Status loaded = scripting_.Load(codes);
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_EQ(scripting_.libraries()->function_count(), codes.size());
  EXPECT_LE(scripting_.vm_bytes(), kMostBytes);
}

TEST_F(ScriptingTest, ALibraryThatCannotBeLoadedAtAStartIsNamed) {
  const Status loaded = scripting_.Load({"#!lua name=broken\nerror('boom')"});
  EXPECT_NE(loaded.text().find("broken"), std::string_view::npos) << loaded.text();
}

// The server keeps descriptions outside Lua, whose limit counts a text once that many functions share.
TEST_F(ScriptingTest, TheDescriptionsOfALibraryAreBounded) {
  Scripting::Lease lease = scripting_.Borrow();
  const std::string begin = "local d = ('x'):rep(1000000) for i = 1, ";
  const std::string end =
      " do redis.register_function{function_name = 'f' .. i, description = d, callback = function() end} end";
  EXPECT_TRUE(LoadCode(*lease, "few", begin + "10" + end).ok());
  const Status refused = LoadCode(*lease, "many", begin + "20" + end);
  EXPECT_NE(refused.text().find("exceed the memory limit"), std::string_view::npos) << refused.text();
}

}  // namespace
}  // namespace cairn
