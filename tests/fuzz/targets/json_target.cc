// SPDX-License-Identifier: BSD-3-Clause
//
// JSON: documents and paths. The text of a document is canonical, and a match leads to the value that it names.
//
// Input: a path, a line end, a document.
#include "base/assert.h"
#include "fuzz/targets/target.h"
#include "types/json_path.h"
#include "types/json_value.h"

namespace cairn {
namespace {

void Run(std::string_view input) {
  const size_t end = std::min(input.find('\n'), input.size());
  JsonWork work;
  const Result<JsonPath> path = JsonPath::Parse(input.substr(0, end), work);
  const Result<JsonValue> document = ParseJson(input.substr(std::min(end + 1, input.size())));
  if (!document.ok()) return;
  const std::string text = JsonText(*document);
  const Result<JsonValue> again = ParseJson(text);
  ASSERT(again.ok() && JsonText(*again) == text, "the text of a document is canonical");
  if (!path.ok()) return;
  const auto matches = path->Match(*document, work);
  if (!matches.ok()) return;
  JsonValue copy = *document;
  for (const JsonMatch& match : *matches) {
    ASSERT(ValueAt(copy, match.location) == *match.value, "a location leads to the value");
  }
  ASSERT(!path->IsStatic() || matches->size() <= 1, "a static path has one match");
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  const std::string document =
      R"({"a":[1,2.5,-3e300,null,true,{"b":"\u00e9\n","c":{}}],"b":"x","n":18446744073709551615})";
  std::vector<std::string> seeds;
  for (const char* path : {"$", ".", "$.a[0]", "$..b", "$.a[-1]['b',\"c\"]", "$.a[1:5:2]", "$[*].*", "a.b", "$.a[0,2]",
                           "$.a[?(@.b=='x' && !($.n>1))]", "$..[?(@.b=~'^a.*$' || @ <= 2.5)]", "$.a[?@.c!=null]"}) {
    seeds.push_back(path + ("\n" + document));
  }
  return seeds;
}

}  // namespace

const FuzzTarget kJsonTarget = {.name = "json", .make = Make, .seeds = Seeds, .covers = "src/types/json_"};

}  // namespace cairn
