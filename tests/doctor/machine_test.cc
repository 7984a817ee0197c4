// SPDX-License-Identifier: BSD-3-Clause
#include "doctor/machine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cairn {
namespace {

// The server turns huge pages off for itself if memory-budget is small. Then the machine's setting has no effect on it.
// In containers, another server may have the same process id.
TEST(DoctorMachine, AProcessIsKnownByItsNameAndItsAge) {
  char name[17] = {};
  ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(IsProcess(child, name, 0));
  EXPECT_FALSE(IsProcess(child, "another", 0));
  EXPECT_FALSE(IsProcess(child, name, 100'000));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(DoctorMachine, HasNoHugePagesForAProcessThatHasTurnedThemOff) {
  const std::string before = ReadMachine(getpid(), testing::TempDir()).huge_pages;
  if (before.empty()) GTEST_SKIP() << "the kernel has no huge pages";
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  const std::string disabled = ReadMachine(getpid(), testing::TempDir()).huge_pages;
  prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  EXPECT_EQ(disabled, "");
  EXPECT_EQ(ReadMachine(getpid(), testing::TempDir()).huge_pages, before);
}

}  // namespace
}  // namespace cairn
