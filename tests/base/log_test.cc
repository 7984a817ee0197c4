// SPDX-License-Identifier: BSD-3-Clause
//
// The log file: programs such as logrotate rename it while the server runs.
#include "base/log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cairn {
namespace {

class LogFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "cairn-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_TRUE(OpenLog(Path("log"), error_)) << error_;
  }
  void TearDown() override {
    EXPECT_TRUE(OpenLog("", error_)) << error_;
    std::filesystem::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  bool Has(const std::string& name, const std::string& message) const {
    std::ifstream file(Path(name));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return text.find(message) != std::string::npos;
  }

  std::string folder_;
  std::string error_;
};

TEST_F(LogFileTest, ARenamedFileGetsNoMoreLines) {
  Log(LogSeverity::kNotice, "one");
  std::filesystem::rename(Path("log"), Path("log.1"));
  Log(LogSeverity::kNotice, "two");
  EXPECT_TRUE(Has("log.1", "one"));
  EXPECT_FALSE(Has("log.1", "two"));
  EXPECT_TRUE(Has("log", "two"));
  std::filesystem::rename(Path("log"), Path("log.2"));
  std::ofstream(Path("log")).flush();  // as logrotate does with `create`
  Log(LogSeverity::kNotice, "three");
  EXPECT_TRUE(Has("log", "three"));
  EXPECT_FALSE(Has("log.2", "three"));
}

TEST_F(LogFileTest, ADeletedFileIsMadeAgain) {
  Log(LogSeverity::kNotice, "one");
  std::filesystem::remove(Path("log"));
  Log(LogSeverity::kNotice, "two");
  EXPECT_TRUE(Has("log", "two"));
}

// The lines go on in the old file, and to the path as soon as that is possible.
TEST_F(LogFileTest, APathThatCannotBeOpenedLosesNoLine) {
  std::filesystem::rename(Path("log"), Path("log.1"));
  std::filesystem::create_directory(Path("log"));
  Log(LogSeverity::kNotice, "one");
  EXPECT_TRUE(Has("log.1", "one"));
  std::filesystem::remove(Path("log"));
  Log(LogSeverity::kNotice, "two");
  EXPECT_TRUE(Has("log", "two"));
}

TEST_F(LogFileTest, AFileThatCannotBeOpenedIsAnError) {
  EXPECT_FALSE(OpenLog(Path("none/log"), error_));
  EXPECT_NE(error_.find("No such file or directory"), std::string::npos) << error_;
}

}  // namespace
}  // namespace cairn
