// SPDX-License-Identifier: BSD-3-Clause
//
// The head of an HTTP request: the part of RFC 9112 that a read-only page needs. Bodies are not read; a connection
// that sends one is closed after the answer.
//
// Thread: any; pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn {

struct HttpRequest {
  std::string_view method;
  std::string_view path;    // without the query
  bool is_valid = false;    // the first line is valid for HTTP/1
  bool keeps_open = false;  // another request may follow
};

// The size of the first head in `bytes`, with its empty line; 0: it is incomplete.
size_t HttpHeadSize(std::string_view bytes);

// REQUIRES: `head` is complete. The request views it.
HttpRequest ParseHttpHead(std::string_view head);

struct HttpAnswer {
  int status = 200;
  std::string_view reason;
  std::string_view content_type;
  std::string_view body;
  std::string_view headers = {};  // more lines, each with its line end
};
// The bytes of an answer. Without `has_body`, for HEAD, it contains only the size of the body.
std::string FormatHttpAnswer(const HttpAnswer& answer, bool has_body, bool keeps_open);

}  // namespace cairn
