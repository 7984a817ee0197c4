// SPDX-License-Identifier: BSD-3-Clause
//
// The time and the memory that a library may take to load. A client's FUNCTION LOAD is limited; a replicated or saved
// library is not, because a replica that lacks it differs from its primary, which may have a larger memory budget.
#include "script/library_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "command/dispatcher_fixture.h"
#include "command/parts.h"
#include "script/families.h"
#include "script/scripting.h"

namespace cairn {
namespace {

class LibraryStoreTest : public DispatcherFixture {
 protected:
  LibraryStoreTest() { Bind(table_, FunctionCommands(), scripting_); }

  static std::string LibraryWithLoop(int64_t turns) {
    return "#!lua name=slow\nfor i = 1, " + std::to_string(turns) +
           " do end\nredis.register_function('f', function() return 1 end)";
  }
  // A library that loads for some 700 ms on this machine. A client's library may load for 500 ms.
  std::string SlowLibrary() {
    constexpr int64_t kTurns = 10'000'000;
    const int64_t began_us = MonotonicUs();
    EXPECT_TRUE(CompileLibrary(scripting_, LibraryWithLoop(kTurns), false).ok());
    return LibraryWithLoop(kTurns * 700'000 / std::max<int64_t>(MonotonicUs() - began_us, 1000));
  }
  // A library that needs twice the memory of all Lua states, and 20 MB of descriptions.
  static std::string LargeLibrary() {
    return "#!lua name=large\nlocal t = {} for i = 1, 1200000 do t[i] = i end local d = ('x'):rep(1000000)\n"
           "for i = 1, 20 do redis.register_function{function_name = 'large' .. i, description = d, "
           "callback = function() return #t end} end";
  }

  Status FunctionLoad(std::string_view library) {
    const std::string_view argv[] = {"FUNCTION", "LOAD", "REPLACE", library};
    CommandWorker worker{txn(), random_, Lane::kSlow, positions_, stripes_};
    std::vector<QueuedCommand> ran;
    std::string out;
    Reply reply(out, 2);
    Status loaded = dispatcher_.Apply(worker, session_, table_.ResolveAny(argv), argv, reply, false, ran);
    Commit();
    return loaded;
  }

  const std::atomic<int64_t> busy_after_ms_{0};
  Scripting scripting_{busy_after_ms_, dispatcher_.busy_scripts(), dispatcher_.conditions(), [] { return false; },
                       16 << 20};
};

TEST_F(LibraryStoreTest, ALibraryOfThePrimarysStreamHasNoTimeLimit) {
  session_.is_primary = true;
  const Status loaded = FunctionLoad(SlowLibrary());
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_EQ(scripting_.libraries()->function_count(), 1u);
}

TEST_F(LibraryStoreTest, OnlyALibraryOfThePrimarysStreamHasNoMemoryLimit) {
  EXPECT_FALSE(FunctionLoad(LargeLibrary()).ok());
  session_.is_primary = true;
  const Status loaded = FunctionLoad(LargeLibrary());
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  EXPECT_EQ(scripting_.libraries()->function_count(), 20u);
  session_.is_primary = false;
  EXPECT_FALSE(FunctionLoad(LargeLibrary()).ok());
}

TEST_F(LibraryStoreTest, ASavedLibraryHasNoLimits) {
  Begin();
  ASSERT_TRUE(LockLibraries(txn()).ok());
  const Status restored = RestoreLibraries(scripting_, txn(), {SlowLibrary(), LargeLibrary()}, RestorePolicy::kFlush);
  EXPECT_TRUE(restored.ok()) << restored.text();
  Finish();
  Commit();
  EXPECT_EQ(scripting_.libraries()->function_count(), 21u);
}

}  // namespace
}  // namespace cairn
