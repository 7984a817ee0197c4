// SPDX-License-Identifier: BSD-3-Clause
#include "net/http_request.h"

#include <strings.h>

namespace cairn {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

bool IsSameWord(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Removes and returns the text of `text` before `end`; all of it if there is no `end`.
std::string_view TakeUpTo(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  return taken;
}

}  // namespace

size_t HttpHeadSize(std::string_view bytes) {
  const size_t end = bytes.find(kHeadEnd);
  return end == bytes.npos ? 0 : end + kHeadEnd.size();
}

HttpRequest ParseHttpHead(std::string_view head) {
  HttpRequest request;
  std::string_view line = TakeUpTo(head, kLineEnd);
  request.method = TakeUpTo(line, " ");
  std::string_view target = TakeUpTo(line, " ");
  request.path = TakeUpTo(target, "?");
  request.is_valid = !request.method.empty() && request.path.starts_with('/') && line.starts_with("HTTP/1.");
  request.keeps_open = request.is_valid && line != "HTTP/1.0";
  while (!head.empty()) {
    std::string_view value = TakeUpTo(head, kLineEnd);
    const std::string_view name = TakeUpTo(value, ":");
    const bool has_body =
        (IsSameWord(name, "content-length") && Trim(value) != "0") || IsSameWord(name, "transfer-encoding");
    const bool asks_to_close = IsSameWord(name, "connection") && IsSameWord(Trim(value), "close");
    if (has_body || asks_to_close) request.keeps_open = false;
  }
  return request;
}

std::string FormatHttpAnswer(const HttpAnswer& answer, bool has_body, bool keeps_open) {
  std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " ";
  text.append(answer.reason).append("\r\nContent-Type: ").append(answer.content_type);
  text.append("\r\nContent-Length: ").append(std::to_string(answer.body.size())).append("\r\n");
  text.append(answer.headers).append(keeps_open ? "\r\n" : "Connection: close\r\n\r\n");
  if (has_body) text.append(answer.body);
  return text;
}

}  // namespace cairn
