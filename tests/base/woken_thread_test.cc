// SPDX-License-Identifier: BSD-3-Clause
#include "base/woken_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace cairn {
namespace {

template <typename Condition>
void AwaitTrue(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(WokenThread, WorksOnlyWhenItIsWoken) {
  std::atomic<int> runs{0};
  WokenThread thread("test", [&runs] { ++runs; });
  EXPECT_EQ(runs, 0);
  thread.Wake();
  AwaitTrue([&runs] { return runs == 1; });
  thread.Wake();
  AwaitTrue([&runs] { return runs == 2; });
  thread.Stop();
  EXPECT_EQ(runs, 2);
}

// What the caller saw before it woke the thread must not be missed by work that has begun.
TEST(WokenThread, WorksOnceMoreIfItIsWokenDuringItsWork) {
  std::atomic<int> runs{0};
  std::atomic<bool> may_end{false};
  WokenThread thread("test", [&] {
    ++runs;
    AwaitTrue([&may_end] { return may_end.load(); });
  });
  thread.Wake();
  AwaitTrue([&runs] { return runs == 1; });
  thread.Wake();
  thread.Wake();
  may_end = true;
  AwaitTrue([&runs] { return runs == 2; });
  thread.Stop();
  EXPECT_EQ(runs, 2);
}

TEST(WokenThread, EndsItsWorkWhenItIsStopped) {
  std::atomic<bool> works{false};
  WokenThread* self = nullptr;
  WokenThread thread("test", [&] {
    works = true;
    AwaitTrue([&self] { return self->is_stopping(); });
  });
  self = &thread;
  thread.Wake();
  AwaitTrue([&works] { return works.load(); });
  thread.Stop();
  thread.Wake();  // no effect
  thread.Stop();
}

TEST(WokenThread, IsNotStartedBeforeItIsNeeded) {
  WokenThread thread("test", [] { FAIL() << "it was not woken"; });
  EXPECT_FALSE(thread.is_stopping());
}

}  // namespace
}  // namespace cairn
