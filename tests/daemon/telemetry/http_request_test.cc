#include "daemon/telemetry/http_request.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hone::daemon {
namespace {

int Parse(const std::string& head,
          const AllowedHosts& hosts = AllowedHosts("127.0.0.1", {})) {
  HttpRequest request;
  return ParseHttpRequest(head, hosts, request);
}

int GetFrom(const std::string& host, const AllowedHosts& hosts) {
  return Parse(absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", host), hosts);
}

TEST(HttpRequest, TakesPathAndMethod) {
  HttpRequest request;
  EXPECT_EQ(ParseHttpRequest("HEAD /metrics?a=b HTTP/1.1\r\nhost: localhost",
                             AllowedHosts("127.0.0.1", {}), request),
            200);
  EXPECT_TRUE(request.is_head);
  EXPECT_EQ(request.path, "/metrics");
}

TEST(HttpRequest, BadHeadsAreRefused) {
  EXPECT_EQ(Parse(""), 400);
  EXPECT_EQ(Parse("GET /"), 400);
  EXPECT_EQ(Parse("GET x HTTP/1.1\r\nHost: localhost"), 400);
  EXPECT_EQ(Parse("GET  HTTP/1.1 x\r\nHost: localhost"), 400);
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nHost: localhost\r\nnonsense"), 400);
  EXPECT_EQ(Parse("GET / HTTP/2.0\r\nHost: localhost"), 505);
  EXPECT_EQ(Parse("POST / HTTP/1.1\r\nHost: localhost"), 405);
  EXPECT_EQ(Parse(std::string("GET / HTTP/1.1\r\n\0: x", 20)), 400);
}

TEST(HttpRequest, HostsThatWereNotConfiguredAreRefused) {
  const AllowedHosts loopback("127.0.0.1", {});
  for (const char* host :
       {"localhost", "LocalHost:7421", "127.0.0.1:7421", "[::1]:7421"}) {
    EXPECT_EQ(GetFrom(host, loopback), 200) << host;
  }
  for (const char* host :
       {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7421",
        "192.0.2.1", "[::2]", "", "evil.example#localhost", "a@localhost"}) {
    EXPECT_EQ(GetFrom(host, loopback), 403) << host;
  }
  const AllowedHosts named("192.0.2.1", {"hone.example"});
  EXPECT_EQ(GetFrom("192.0.2.1:7421", named), 200);
  EXPECT_EQ(GetFrom("Hone.Example:7421", named), 200);
  EXPECT_EQ(GetFrom("192.0.2.2", named), 403);
  // No page can have a numeric address as its own name and be another's.
  const AllowedHosts all("0.0.0.0", {});
  EXPECT_EQ(GetFrom("192.0.2.2:7421", all), 200);
  EXPECT_EQ(GetFrom("[2001:db8::1]:7421", all), 200);
  EXPECT_EQ(GetFrom("evil.example", all), 403);
}

TEST(HttpRequest, ARequestHasOneHost) {
  EXPECT_EQ(Parse("GET / HTTP/1.1"), 400);
  EXPECT_EQ(Parse("GET / HTTP/1.0"), 200);
  EXPECT_EQ(Parse("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost"), 400);
}

TEST(HttpRequest, OtherOriginsAreRefused) {
  const std::string get = "GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: ";
  EXPECT_EQ(Parse(get + "http://localhost:7421"), 200);
  for (const char* origin :
       {"http://evil.example", "null", "", "file://localhost",
        "http://localhost.evil.example"}) {
    EXPECT_EQ(Parse(get + origin), 403) << origin;
  }
}

}  // namespace
}  // namespace hone::daemon
