// SPDX-License-Identifier: BSD-3-Clause
//
// The set of libraries: names of libraries are unique, and so are names of functions across all libraries, ignoring
// case.
#include "script/libraries.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::shared_ptr<const Library> MakeLibrary(std::string name, std::vector<std::string> functions) {
  auto library = std::make_shared<Library>();
  library->name = std::move(name);
  for (std::string& function : functions) library->functions.push_back({std::move(function), {}, 0});
  return library;
}

TEST(Libraries, FindsAFunctionIgnoringCase) {
  Libraries libraries;
  ASSERT_TRUE(libraries.Add(MakeLibrary("lib", {"Sum", "other"})).ok());
  const Libraries::Found found = libraries.FindFunction("sUM");
  ASSERT_NE(found.library, nullptr);
  EXPECT_EQ(found.function->name, "Sum");
  EXPECT_EQ(libraries.FindFunction("none").library, nullptr);
  EXPECT_EQ(libraries.function_count(), 2u);
}

TEST(Libraries, TwoLibrariesCannotShareAFunction) {
  Libraries libraries;
  ASSERT_TRUE(libraries.Add(MakeLibrary("one", {"f"})).ok());
  EXPECT_EQ(libraries.Add(MakeLibrary("two", {"F"})).text(), "ERR Function F already exists");
}

// A library of a few bytes can give long descriptions to many functions.
TEST(Libraries, TheirBytesIncludeDescriptions) {
  const auto library = std::make_shared<Library>();
  library->name = "lib";
  library->functions.push_back({"f", std::string(5000, 'x'), 0});
  Libraries libraries;
  ASSERT_TRUE(libraries.Add(library).ok());
  EXPECT_GT(libraries.bytes(), 5000u);
  EXPECT_EQ(libraries.bytes(), library->bytes());
}

TEST(Libraries, ALibraryReplacesOneOfTheSameName) {
  Libraries libraries;
  ASSERT_TRUE(libraries.Add(MakeLibrary("lib", {"a", "b"})).ok());
  ASSERT_TRUE(libraries.Add(MakeLibrary("lib", {"b", "c"})).ok());
  EXPECT_EQ(libraries.FindFunction("a").library, nullptr);
  EXPECT_NE(libraries.FindFunction("c").library, nullptr);
  libraries.Remove("lib");
  EXPECT_EQ(libraries.function_count(), 0u);
}

}  // namespace
}  // namespace cairn
