// SPDX-License-Identifier: BSD-3-Clause
//
// The time that a library may take to load. A client's FUNCTION LOAD is limited (tests/integration/test_functions.py);
// a replicated or saved library is not, because a replica that lacks it differs from its primary.
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
    EXPECT_TRUE(CompileLibrary(scripting_, LibraryWithLoop(kTurns), 0).ok());
    return LibraryWithLoop(kTurns * 700'000 / std::max<int64_t>(MonotonicUs() - began_us, 1000));
  }

  const std::atomic<int64_t> busy_after_ms_{0};
  Scripting scripting_{busy_after_ms_, dispatcher_.busy_scripts(), dispatcher_.conditions(), [] { return false; },
                       16 << 20};
};

TEST_F(LibraryStoreTest, ALibraryOfThePrimarysStreamHasNoTimeLimit) {
  session_.is_primary = true;
  const std::string library = SlowLibrary();
  const std::string_view argv[] = {"FUNCTION", "LOAD", library};
  CommandWorker worker{txn(), random_, Lane::kSlow, positions_, stripes_};
  std::vector<QueuedCommand> ran;
  std::string out;
  Reply reply(out, 2);
  const Status loaded = dispatcher_.Apply(worker, session_, table_.ResolveAny(argv), argv, reply, false, ran);
  EXPECT_TRUE(loaded.ok()) << loaded.text();
  Commit();
  EXPECT_EQ(scripting_.libraries()->function_count(), 1u);
}

TEST_F(LibraryStoreTest, ASavedLibraryHasNoTimeLimit) {
  const std::string library = SlowLibrary();
  Begin();
  ASSERT_TRUE(LockLibraries(txn()).ok());
  const Status restored = RestoreLibraries(scripting_, txn(), {library}, RestorePolicy::kFlush);
  EXPECT_TRUE(restored.ok()) << restored.text();
  Finish();
  Commit();
  EXPECT_EQ(scripting_.libraries()->function_count(), 1u);
}

}  // namespace
}  // namespace cairn
