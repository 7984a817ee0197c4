// SPDX-License-Identifier: BSD-3-Clause
//
// JSON values and paths: texts are canonical, and no document or path can break the parsers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "storage/command_state.h"
#include "types/json_path.h"
#include "types/json_value.h"

namespace cairn {
namespace {

std::string Roundtrip(std::string_view text) {
  const Result<JsonValue> value = ParseJson(text);
  return value.ok() ? JsonText(*value) : std::string(value.status().text());
}

Result<JsonPath> ParsePath(std::string_view text) {
  JsonWork work;
  return JsonPath::Parse(text, work);
}

std::string Nested(int levels) {
  return std::string(static_cast<size_t>(levels), '[') + std::string(static_cast<size_t>(levels), ']');
}

// A row holds the text, and JSON.GET returns it without a parse.
TEST(JsonValue, HasOneTextWhateverTheInput) {
  EXPECT_EQ(Roundtrip(R"( { "a" : [ 1 , 2.50 , true ] } )"), R"({"a":[1,2.5,true]})");
  EXPECT_EQ(Roundtrip(R"("\u00e9\/\u0001\n")"), "\"\xc3\xa9/\\u0001\\n\"");
  EXPECT_EQ(Roundtrip(R"({"a":1,"b":2,"a":3})"), R"({"a":3,"b":2})");
  EXPECT_EQ(Roundtrip("[9223372036854775807,9223372036854775808,-9223372036854775808]"),
            "[9223372036854775807,9223372036854775808,-9223372036854775808]");
}

TEST(JsonValue, KnowsTheBytesOfALayout) {
  const JsonLayout layout{.indent = "--", .newline = "\n", .space = "   "};
  for (const std::string_view text : {"1", "[]", "{}", "[1,[2,{}],3]", R"({"a":[1,{"b":"c"}],"d":{"e":null}})"}) {
    const Result<JsonValue> value = ParseJson(text);
    ASSERT_TRUE(value.ok());
    for (const int level : {0, 1, 5}) {
      std::string out;
      AppendJson(*value, layout, out, level);
      EXPECT_EQ(text.size() + layout.Bytes(*value, level), out.size()) << out;
    }
  }
}

// Every function on values recurses, so the limit protects the stack.
TEST(JsonValue, HasAtMost128Levels) {
  EXPECT_EQ(Roundtrip(Nested(kMostJsonLevels)), Nested(kMostJsonLevels));
  EXPECT_TRUE(Roundtrip(Nested(kMostJsonLevels + 1)).starts_with("ERR recursion limit exceeded"));
  EXPECT_TRUE(Roundtrip(std::string(1'000'000, '[')).starts_with("ERR recursion limit exceeded"));
}

// The SAX parser would skip the one, and end at the other.
TEST(JsonValue, IsNoTextWithAByteOrderMarkOrAZeroByte) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Roundtrip("1\0junk"s), "ERR expected value at line 1 column 2");
  EXPECT_EQ(Roundtrip("[1] \0"s), "ERR expected value at line 1 column 5");
  EXPECT_EQ(Roundtrip("[1,\0]"s), "ERR expected value at line 1 column 4");
  EXPECT_EQ(Roundtrip("\xef\xbb\xbf[1]"), "ERR expected value at line 1 column 1");
  EXPECT_EQ(Roundtrip("\"\xef\xbb\xbf\\u0000\""), "\"\xef\xbb\xbf\\u0000\"");
}

// Each value takes more memory than its text: a request must not exceed the memory of the server.
TEST(JsonValue, TakesNoMoreMemoryThanAllowed) {
  std::string zeros = "[0";
  for (int i = 1; i < 1000; ++i) zeros += ",0";
  zeros += "]";
  const std::string members = R"({"a":"text","a name longer than others":[{},null,true,1.5,"more text"]})";
  for (const std::string& text : {zeros, members, std::string(R"("text")")}) {
    const size_t memory = JsonMemory(*ParseJson(text));
    EXPECT_TRUE(ParseJson(text, memory).ok()) << text;
    EXPECT_EQ(ParseJson(text, memory - 1).status().text(), kJsonTooLarge) << text;
  }
  EXPECT_GT(JsonMemory(*ParseJson(zeros)), 10 * zeros.size());
}

// A document with many members must not take quadratic time.
TEST(JsonValue, ParsesManyMembers) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"" + std::to_string(i) + "\":0,";
  text += "\"0\":1}";
  const Result<JsonValue> value = ParseJson(text);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->object().size(), 100'000u);
  EXPECT_EQ(std::get<int64_t>(value->object()[0].value.data), 1);
}

JsonValue RandomValue(std::mt19937& random, int level) {
  switch (random() % (level < 4 ? 8 : 6)) {
    case 0: return {};
    case 1: return {random() % 2 == 0};
    case 2: return {static_cast<int64_t>(random()) - 1'000'000};
    case 3: return {std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 600) - 300)};
    case 4: return {UINT64_MAX - random()};
    case 5: return {std::string(random() % 4, static_cast<char>(random() % 128))};
    case 6: {
      JsonValue::Array items;
      for (unsigned i = random() % 4; i > 0; --i) items.push_back(RandomValue(random, level + 1));
      return {std::move(items)};
    }
    default: {
      JsonValue::Object members;
      for (unsigned i = random() % 4; i > 0; --i) {
        members.push_back({std::string(1, static_cast<char>('a' + i)), RandomValue(random, level + 1)});
      }
      return {std::move(members)};
    }
  }
}

// Damaged documents and random paths are refused or accepted, but never crash; an accepted text is canonical.
TEST(JsonValue, SurvivesRandomDocumentsAndPaths) {
  std::mt19937 random(7);
  constexpr std::string_view kParts[] = {"$",  ".", "..", "*", "[", "]",  "?", "(",  ")",  "@",  "a", "b",  "'",
                                         "\"", "0", "-1", ":", ",", "==", "<", "=~", "&&", "||", "!", "\\", " "};
  for (int i = 0; i < 20'000; ++i) {
    const JsonValue value = RandomValue(random, 0);
    std::string text = JsonText(value);
    ASSERT_EQ(Roundtrip(text), text);
    std::string path = "$";
    for (unsigned n = random() % 8; n > 0; --n) path += kParts[random() % std::size(kParts)];
    if (const Result<JsonPath> parsed = ParsePath(path); parsed.ok()) {
      JsonWork work;
      const auto matches = parsed->Match(value, work);
      ASSERT_TRUE(matches.ok()) << path;
      JsonValue copy = value;
      for (const JsonMatch& match : *matches) ASSERT_TRUE(ValueAt(copy, match.location) == *match.value) << path;
    }
    text[random() % text.size()] = static_cast<char>(random());
    if (const Result<JsonValue> damaged = ParseJson(text); damaged.ok()) {
      const std::string canonical = JsonText(*damaged);
      ASSERT_EQ(Roundtrip(canonical), canonical);
    }
  }
}

// A step of two bytes takes about a hundred bytes of memory, and a regular expression much more.
TEST(JsonPath, HasALimitedSize) {
  std::string longest = "$";
  while (longest.size() + 2 <= JsonPath::kMostBytes) longest += ".a";
  EXPECT_TRUE(ParsePath(longest).ok());
  EXPECT_TRUE(ParsePath(longest + ".a").status().text().ends_with("maximum of 64 KB"));
  const auto path_of = [](int patterns) {
    std::string path = "$[?(@.a=~'x'";
    for (int i = 1; i < patterns; ++i) path += "||@.a=~'x'";
    return ParsePath(path + ")]");
  };
  EXPECT_TRUE(path_of(JsonPath::kMostPatterns).ok());
  EXPECT_FALSE(path_of(JsonPath::kMostPatterns + 1).ok());
}

// The state of a command on the fast lane that has done nothing yet.
CommandState OnFastLane() {
  CommandState command;
  command.Begin(Lane::kFast, 0, false);
  return command;
}

// A path may match a value many times; the time that it takes is bounded.
TEST(JsonPath, RefusesToMatchTooManyValues) {
  const Result<JsonValue> value = ParseJson("[" + Nested(100) + "," + Nested(100) + "]");
  ASSERT_TRUE(value.ok());
  const Result<JsonPath> path = ParsePath("$..[*]..[*]..[*]..[*]..[*]");
  ASSERT_TRUE(path.ok());
  JsonWork work;
  EXPECT_TRUE(path->Match(*value, work).status().Is(Code::kReply));
  // On the fast lane it runs again.
  CommandState command = OnFastLane();
  work = {.command = &command};
  EXPECT_TRUE(path->Match(*value, work).status().Is(Code::kWouldWait));
}

// A client that was killed may have sent a path that takes long.
TEST(JsonPath, StopsMatchingWhenTheClientIsGone) {
  const Result<JsonValue> value = ParseJson("[[1],[2]]");
  const Result<JsonPath> path = ParsePath("$[*][*]");
  ASSERT_TRUE(value.ok() && path.ok());
  CommandState command;
  command.Begin(Lane::kSlow, 0, false);
  bool is_gone = false;
  command.StopAt(&is_gone);
  JsonWork work = {.command = &command};
  EXPECT_TRUE(path->Match(*value, work).ok());
  is_gone = true;
  EXPECT_EQ(path->Match(*value, work).status().text(), "ERR stopped");
}

// Indexes may repeat, so a small document may have any number of matches.
TEST(JsonPath, MatchesTakeALimitedMemory) {
  constexpr uint64_t kMostBytes = 1 << 20;
  const Result<JsonValue> value = ParseJson("[[1]]");
  ASSERT_TRUE(value.ok());
  const auto path_of = [](int repeats) {
    std::string step = "[0";
    for (int i = 1; i < repeats; ++i) step += ",0";
    step += "]";
    return ParsePath("$" + step + step);
  };
  JsonWork work = {.most_bytes = kMostBytes};
  EXPECT_TRUE(path_of(50)->Match(*value, work).ok());
  EXPECT_GT(work.bytes, 50 * 50 * sizeof(JsonMatch));
  work = {.most_bytes = kMostBytes};
  EXPECT_EQ(path_of(100)->Match(*value, work).status().text(), kJsonTooLarge);
}

// A filter compares one child after the other, and never has the matches of all of them in memory.
TEST(JsonPath, MatchesOfAFilterTakeMemoryOneAfterTheOther) {
  std::string children = "[[0]";
  for (int i = 1; i < 1000; ++i) children += ",[0]";
  const Result<JsonValue> value = ParseJson(children + "]");
  ASSERT_TRUE(value.ok());
  for (const char* text : {"$[?(@[0]==1)]", "$[?(!@[0])]"}) {
    const Result<JsonPath> path = ParsePath(text);
    ASSERT_TRUE(path.ok());
    JsonWork work = {.most_bytes = 1000};
    const auto matches = path->Match(*value, work);
    ASSERT_TRUE(matches.ok()) << text;
    EXPECT_TRUE((*matches).empty());
    EXPECT_EQ(work.bytes, 0u);
  }
}

// The visits of a path on a document.
uint64_t VisitsOf(const std::string& path, std::string_view document) {
  const Result<JsonValue> value = ParseJson(document);
  const Result<JsonPath> parsed = ParsePath(path);
  JsonWork work;
  EXPECT_TRUE(value.ok() && parsed.ok() && parsed->Match(*value, work).ok()) << path.substr(0, 20);
  return work.visits;
}

// A path has up to 64 KB, and most of it may visit no value.
TEST(JsonPath, CountsItsConstantsNamesAndIndexes) {
  std::string constants = "$[?(2<1";
  std::string names = "$[*]['a'";
  std::string indexes = "$[*][9";
  for (int i = 1; i < 3200; ++i) {
    constants += "||2<1";
    names += ",'a'";
    indexes += ",9";
  }
  EXPECT_GT(VisitsOf(constants + ")]", "[0,0,0]"), 3 * 3200u);
  EXPECT_GT(VisitsOf(names + "]", "[{},{},{}]"), 3 * 3200u);
  EXPECT_GT(VisitsOf(indexes + "]", "[[],[],[]]"), 3 * 200u);
}

// A regular expression of some bytes may stand for a program of thousands of instructions.
TEST(JsonPath, CountsTheCompilationOfRegularExpressions) {
  const std::string longest(JsonPath::kMostPatternBytes, 'x');
  JsonWork work;
  EXPECT_TRUE(JsonPath::Parse("$[?(@=~'" + longest + "')]", work).ok());
  EXPECT_GT(work.visits, 1000 * longest.size());
  EXPECT_EQ(ParsePath("$[?(@=~'x" + longest + "')]").status().text(),
            "ERR the regular expression exceeds the maximum of 1 KB");
  CommandState command = OnFastLane();
  work = {.command = &command};
  EXPECT_TRUE(JsonPath::Parse("$[?(@=~'" + longest + "')]", work).status().Is(Code::kWouldWait));

  const auto document = [](const std::string& first, const std::string& second) {
    return R"({"t":[["x",")" + first + R"("],["x",")" + second + R"("],["x",")" + second + R"("]]})";
  };
  const std::string path = "$.t[?(@[0]=~@[1])]";
  EXPECT_LT(VisitsOf(path, document("x", "x")), 2 * 6000u) << "equal expressions are compiled once";
  EXPECT_GT(VisitsOf(path, document("x", "y")), 2 * 6000u);
  EXPECT_GT(VisitsOf(path, document(longest, longest)), 1000 * longest.size());
  const Result<JsonValue> value = ParseJson(document("x", "x" + longest));
  ASSERT_TRUE(value.ok());
  work = {};
  EXPECT_EQ(ParsePath(path)->Match(*value, work).status().text(),
            "ERR the regular expression exceeds the maximum of 1 KB");
}

// RE2's slowest automaton may follow all instructions at each byte.
TEST(JsonPath, CountsTheInstructionsOfARegularExpressionForEachByte) {
  const std::string document = "[\"" + std::string(60'000, 'a') + "\"]";
  EXPECT_LT(VisitsOf("$[?(@=~'b')]", document), 60'000u);
  EXPECT_GT(VisitsOf("$[?(@=~'[ab]*a[ab]{1000}c')]", document), 60'000u * 1000 / kJsonBytesPerVisit);
  EXPECT_GT(VisitsOf("$[?(@=~'[ab]{1000}c')]", R"(["","",""])"), 3 * 1000u / kJsonBytesPerVisit);
  std::string too_large;
  for (int i = 0; i < 30; ++i) too_large += "[ab]{1000}";
  EXPECT_LT(VisitsOf("$[?(@=~'" + too_large + "')]", document), 10u) << "no program takes so much memory";
}

// A filter compares two values of the document for each child, so its work is a product of their sizes.
TEST(JsonPath, CountsTheValuesAndTextsThatAFilterCompares) {
  std::string array = "[0";
  std::string object = R"({"m":0)";
  for (int i = 1; i < 1000; ++i) {
    array += "," + std::to_string(i);
    object += ",\"m" + std::to_string(i) + "\":0";
  }
  array += "]";
  object += "}";
  const std::string text = '"' + std::string(100'000, 'x') + '"';
  std::string children = "[0";
  for (int i = 1; i < 100; ++i) children += ",0";
  children += "]";
  for (const std::string& value : {array, object, text}) {
    const Result<JsonValue> document = ParseJson(R"({"a":)" + value + R"(,"b":)" + value + R"(,"c":)" + children + "}");
    ASSERT_TRUE(document.ok());
    std::vector<std::string> operators = {"==", "!="};
    if (value == text) operators.insert(operators.end(), {"<", "<=", ">", ">="});
    for (const std::string& comparison : operators) {
      const Result<JsonPath> path = ParsePath("$.c[?($.a" + comparison + "$.b)]");
      ASSERT_TRUE(path.ok());
      CommandState command = OnFastLane();
      JsonWork work = {.command = &command};
      EXPECT_TRUE(path->Match(*document, work).status().Is(Code::kWouldWait)) << comparison;
      work = {.visits = JsonWork::kMostVisits - CommandState::kFastLaneSteps * JsonWork::kVisitsPerStep};
      EXPECT_TRUE(path->Match(*document, work).status().Is(Code::kReply)) << comparison;
      work = {};
      const auto matches = path->Match(*document, work);
      ASSERT_TRUE(matches.ok());
      EXPECT_EQ((*matches).size(), comparison.find('=') != std::string::npos && comparison != "!=" ? 100 : 0);
    }
  }
}

}  // namespace
}  // namespace cairn
