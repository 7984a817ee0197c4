// SPDX-License-Identifier: BSD-3-Clause
//
// The page over HTTP: access to it, and recognition of this machine's addresses.
#include "net/http_endpoint.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "net/listener.h"

namespace cairn {
namespace {

int FreePort() {
  const int fd = *ListenTcp("127.0.0.1", 0, 1);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return ntohs(address.sin_port);
}

int Connect(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

std::string Fetch(int port, const std::string& request = "GET /page HTTP/1.0\r\n\r\n") {
  const int fd = Connect(port);
  EXPECT_EQ(send(fd, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, static_cast<size_t>(got));
  close(fd);
  return answer;
}

HttpSite SiteOf(std::string text) {
  return {.pages = {{.path = "/page", .content_type = "text/plain", .make = [text] { return text; }}},
          .may_read = [](bool) { return true; }};
}

TEST(HttpEndpointTest, ChecksThePermissionForEachRequest) {
  bool allowed = true;
  HttpSite site = SiteOf("the page");
  site.may_read = [&allowed](bool is_loopback) { return is_loopback && allowed; };
  const int port = FreePort();
  const auto endpoint = HttpEndpoint::Open({"127.0.0.1"}, port, site);
  ASSERT_TRUE(endpoint.ok());
  EXPECT_TRUE(Fetch(port).ends_with("the page"));
  allowed = false;
  const std::string refused = Fetch(port);
  EXPECT_LT(refused.find(" 403 "), refused.find('\r')) << refused;
  EXPECT_EQ(refused.find("the page"), refused.npos);
}

// Idle connections must neither keep others from the page nor use up descriptors.
TEST(HttpEndpointTest, AtTheLimitANewConnectionReplacesTheOneIdleLongest) {
  const int port = FreePort();
  const auto endpoint = HttpEndpoint::Open({"127.0.0.1"}, port, SiteOf("the page"));
  ASSERT_TRUE(endpoint.ok());
  std::vector<int> idle;
  for (int i = 0; i < 3 * kMostHttpConnections; ++i) idle.push_back(Connect(port));
  EXPECT_TRUE(Fetch(port).ends_with("the page"));
  int open = 0;
  for (const int fd : idle) {
    char byte;
    open += recv(fd, &byte, 1, MSG_DONTWAIT) < 0 ? 1 : 0;
    close(fd);
  }
  EXPECT_EQ(open, kMostHttpConnections - 1);
}

TEST(HttpEndpointTest, AnswersPipelinedRequestsAndSendsLargePagesInParts) {
  const int port = FreePort();
  const std::string page(8 << 20, 'x');
  const auto endpoint = HttpEndpoint::Open({"127.0.0.1"}, port, SiteOf(page));
  ASSERT_TRUE(endpoint.ok());
  const std::string answers = Fetch(port,
                                    "HEAD /page HTTP/1.1\r\n\r\nGET /page?q HTTP/1.1\r\n\r\n"
                                    "POST /page HTTP/1.1\r\ncontent-length: 3\r\n\r\n");
  const size_t body = answers.find(page);
  ASSERT_NE(body, answers.npos);
  EXPECT_EQ(answers.find("200 OK"), 9u);
  EXPECT_LT(answers.find("200 OK", 20), body);
  EXPECT_NE(answers.find("405 Method Not Allowed", body + page.size()), answers.npos);
  EXPECT_NE(Fetch(port, "nonsense\r\n\r\n").find(" 400 "), std::string::npos);
}

// Each page has its own headers; a policy for scripts belongs to the page that has some.
TEST(HttpEndpointTest, ServesEachPageAtItsPathWithItsHeaders) {
  HttpSite site = SiteOf("the page");
  site.pages.push_back(
      {.path = "/", .content_type = "text/html", .make = [] { return "home"; }, .headers = "X-Of: home\r\n"});
  const int port = FreePort();
  const auto endpoint = HttpEndpoint::Open({"127.0.0.1"}, port, site);
  ASSERT_TRUE(endpoint.ok());
  EXPECT_EQ(Fetch(port, "GET / HTTP/1.0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\nX-Of: home\r\n"
            "Connection: close\r\n\r\nhome");
  EXPECT_EQ(Fetch(port).find("X-Of"), std::string::npos);
  EXPECT_NE(Fetch(port, "GET /other HTTP/1.0\r\n\r\n").find(" 404 "), std::string::npos);
}

bool IsOfThisMachine(const char* text) {
  sockaddr_storage storage{};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    storage.ss_family = AF_INET;
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
    storage.ss_family = AF_INET6;
  }
  return IsLoopback(reinterpret_cast<const sockaddr&>(storage));
}

TEST(HttpEndpointTest, OnlyTheLoopbackInterfaceIsThisMachine) {
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1"}) EXPECT_TRUE(IsOfThisMachine(address)) << address;
  for (const char* address : {"126.0.0.1", "128.0.0.1", "192.168.0.1", "0.0.0.0", "::", "fe80::1"}) {
    EXPECT_FALSE(IsOfThisMachine(address)) << address;
  }
}

}  // namespace
}  // namespace cairn
