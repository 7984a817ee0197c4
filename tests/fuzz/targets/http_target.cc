// SPDX-License-Identifier: BSD-3-Clause
//
// HTTP: the head of a request to the metrics listener.
//
// Input: the bytes of a connection.
#include "base/assert.h"
#include "fuzz/targets/target.h"
#include "net/http_request.h"

namespace cairn {
namespace {

void Run(std::string_view input) {
  while (const size_t size = HttpHeadSize(input)) {
    ASSERT(size <= input.size(), "a head is in the bytes");
    const std::string_view head = input.substr(0, size);
    const HttpRequest request = ParseHttpHead(head);
    for (const std::string_view part : {request.method, request.path}) {
      const bool is_inside = part.empty() || (part.data() >= head.data() && part.end() <= head.end());
      ASSERT(is_inside, "a part of the request is in its head");
    }
    ASSERT(request.path.find('?') == std::string_view::npos, "a path has no query");
    input.remove_prefix(size);
  }
}

std::function<void(std::string_view)> Make() { return Run; }

std::vector<std::string> Seeds() {
  return {"GET /metrics?a=b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
          "HEAD /metrics HTTP/1.0\nConnection: keep-alive\n\n", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
          "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"};
}

}  // namespace

const FuzzTarget kHttpTarget = {.name = "http", .make = Make, .seeds = Seeds, .covers = "src/net/http_request"};

}  // namespace cairn
