// SPDX-License-Identifier: BSD-3-Clause
//
// RESP: the requests of a client. They must not depend on the pieces in which the bytes arrive.
//
// Input: the size of a piece, then the bytes of a connection.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "fuzz/targets/target.h"
#include "resp/request_parser.h"

namespace cairn {
namespace {

using Request = std::vector<std::string>;

struct Parsed {
  std::vector<Request> requests;
  std::string error;

  bool operator==(const Parsed&) const = default;
};

void CheckLookAhead(const RequestParser& parser, std::vector<Request>& expected) {
  constexpr size_t kMost = 4;
  expected.clear();
  parser.LookAhead(
      kMost, [&expected](std::span<const std::string_view> argv) { expected.emplace_back(argv.begin(), argv.end()); });
}

Parsed Parse(std::string_view bytes, size_t piece, bool authenticated) {
  const RequestLimits limits{.max_bulk_bytes = 1 << 20, .authenticated = authenticated};
  RequestParser parser;
  Parsed parsed;
  while (!bytes.empty()) {
    const size_t size = std::min(piece, bytes.size());
    std::memcpy(parser.Reserve(size), bytes.data(), size);
    parser.Filled(size);
    bytes.remove_prefix(size);
    std::vector<Request> expected;
    CheckLookAhead(parser, expected);
    for (size_t i = 0;; ++i) {
      const RequestParser::Outcome outcome = parser.Next(limits);
      if (outcome == RequestParser::Outcome::kError) {
        parsed.error = parser.error();
        return parsed;
      }
      if (outcome == RequestParser::Outcome::kIncomplete) break;
      parsed.requests.emplace_back(parser.argv().begin(), parser.argv().end());
      ASSERT(i >= expected.size() || parsed.requests.back() == expected[i], "a request is as it was announced");
    }
  }
  return parsed;
}

std::string Encoded(const std::vector<Request>& requests) {
  std::string bytes;
  for (const Request& request : requests) {
    if (request.empty()) continue;
    bytes += "*" + std::to_string(request.size()) + "\r\n";
    for (const std::string& word : request) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

void Run(std::string_view input) {
  const uint8_t choice = TakeChoice(input);
  const bool authenticated = choice % 2 == 0;
  const Parsed whole = Parse(input, std::max<size_t>(input.size(), 1), authenticated);
  ASSERT(Parse(input, 1 + choice / 2, authenticated) == whole, "requests do not depend on the pieces");
  if (!authenticated) return;
  Parsed again = Parse(Encoded(whole.requests), SIZE_MAX, true);
  std::vector<Request> expected = whole.requests;
  std::erase_if(expected, [](const Request& request) { return request.empty(); });
  ASSERT(again.error.empty() && again.requests == expected, "encoded requests are the same");
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  const std::string long_line(70'000, 'x');  // longer than a line may be
  return {Chosen(255, long_line + "\r\n"),
          Chosen(254, "PING\r\nSET k " + long_line),
          Chosen(254, "*1\r\n$" + long_line),
          Chosen(254, "*2\r\n$3\r\nGET\r\n$70000\r\n" + long_line + "\r\n"),
          Chosen(0, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n"),
          Chosen(9, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nline\r\nline\r\n\r\n"),
          Chosen(6, "SET k \"a\\x41\\n\" 'b'\r\nPING\n\r\n"),
          Chosen(3, "*-1\r\n*0\r\n*1\r\n$0\r\n\r\n"),
          Chosen(2, "*1\r\n$-1\r\n"),
          Chosen(2, "*1048577\r\n"),
          Chosen(2, "*1\r\n$1048577\r\n")};
}

}  // namespace

const FuzzTarget kRespTarget = {
    .name = "resp", .make = Make, .seeds = Seeds, .covers = "src/resp/request_parser", .most_bytes = 80'000};

}  // namespace cairn
