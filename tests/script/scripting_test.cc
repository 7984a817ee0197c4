// SPDX-License-Identifier: BSD-3-Clause
//
// Runs that take long, and the memory that Lua states share.
#include "script/scripting.h"

#include <gtest/gtest.h>

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

  // Loads a library that keeps so many kilobytes in the state.
  Status Load(LuaVm& vm, std::string name, int kilobytes) {
    Library library;
    library.id = scripting_.NewLibraryId();
    library.code = "#!lua name=" + name + "\nlocal kept, text = {}, ('x'):rep(1000) for i = 1, " +
                   std::to_string(kilobytes) + " do kept[i] = text .. i end\n" +
                   "redis.register_function('f', function() return kept[1] end)";
    library.head_size = TRY(ReadLibraryHead(library.code)).size;
    library.name = std::move(name);
    return vm.LoadLibrary(library, Libraries(), 0);
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

TEST_F(ScriptingTest, TheLimitFollowsTheMemoryBudget) {
  Scripting::Lease lease = scripting_.Borrow();
  EXPECT_FALSE(Load(*lease, "large", 20000).ok());
  scripting_.SetMostBytes(4 * kMostBytes);
  EXPECT_TRUE(Load(*lease, "large", 20000).ok());
}

}  // namespace
}  // namespace cairn
