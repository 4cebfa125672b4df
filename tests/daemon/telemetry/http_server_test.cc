#include "daemon/telemetry/http_server.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/daemon/telemetry/socket.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::Socket;
using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpServer::Handlers handlers) {
    HONE_ASSERT_OK_AND_ASSIGN(
        server_, HttpServer::Start("127.0.0.1:0", std::move(handlers), {}));
  }
  void Start() {
    Start({.metrics = [] { return "m 1\n"; }, .ready = [] { return true; }});
  }
  std::string Ask(const std::string& request) {
    Socket socket(server_->port());
    socket.Send(request);
    return socket.Receive();
  }
  std::string Get(const std::string& path) {
    return Ask(
        absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, Answers) {
  Start();
  EXPECT_THAT(Get("/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                                     HasSubstr("Content-Length: 3\r\n"),
                                     EndsWith("\r\n\r\nok\n")));
  EXPECT_THAT(Get("/metrics"),
              AllOf(HasSubstr("version=0.0.4"), EndsWith("\r\n\r\nm 1\n")));
  EXPECT_THAT(Ask("HEAD /metrics HTTP/1.0\r\n\r\n"),
              AllOf(HasSubstr("Content-Length: 4\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(Get("/nothing"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("http_hosts")));
  EXPECT_THAT(Ask(std::string(10'000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST_F(HttpServerTest, ASplitRequestIsOne) {
  Start();
  Socket socket(server_->port());
  for (const char c : std::string("GET /healthz HTTP/1.0\r\n\r\n")) {
    socket.Send(std::string(1, c));
  }
  EXPECT_THAT(socket.Receive(), EndsWith("ok\n"));
}

TEST_F(HttpServerTest, SlowClientsDelayNeitherOthersNorTheEnd) {
  Start();
  std::vector<std::unique_ptr<Socket>> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(std::make_unique<Socket>(server_->port()));
    slow.back()->Send("G");
  }
  EXPECT_THAT(Get("/healthz"), EndsWith("ok\n"));
  EXPECT_THAT(Get("/metrics"), EndsWith("m 1\n"));
  // Without a wait for their timeouts, as all are still there.
  server_.reset();
  for (const auto& socket : slow) EXPECT_EQ(socket->Receive(), "");
}

TEST_F(HttpServerTest, NewClientsReplaceTheOldestOfTooMany) {
  Start();
  std::vector<std::unique_ptr<Socket>> slow;
  for (int i = 0; i < 600; ++i) {
    slow.push_back(std::make_unique<Socket>(server_->port()));
    ASSERT_TRUE(slow.back()->connected());
  }
  EXPECT_THAT(Get("/healthz"), EndsWith("ok\n"));
  EXPECT_EQ(slow.front()->Receive(), "");
}

TEST_F(HttpServerTest, SlowMetricsDelayNothingElse) {
  absl::Notification asked, open;
  int collections = 0;
  Start({.metrics =
             [&] {
               if (++collections == 1) {
                 asked.Notify();
                 open.WaitForNotification();
               }
               return absl::StrCat("m ", collections, "\n");
             },
         .ready = [] { return false; }});
  std::string first, second;
  std::thread scrape([&] { first = Get("/metrics"); });
  asked.WaitForNotification();
  EXPECT_THAT(Get("/healthz"), EndsWith("ok\n"));
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 503 "));
  std::thread another([&] { second = Get("/metrics"); });
  open.Notify();
  scrape.join();
  another.join();
  EXPECT_THAT(first, EndsWith("m 1\n"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("m "));
}

TEST(HttpServerStart, APortThatIsTakenIsAnError) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto server,
                            HttpServer::Start("127.0.0.1:0", {}, {}));
  const std::string address = absl::StrCat("127.0.0.1:", server->port());
  EXPECT_THAT(HttpServer::Start(address, {}, {}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(address)));
  EXPECT_THAT(
      HttpServer::Start("nowhere", {}, {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("HOST:PORT")));
}

}  // namespace
}  // namespace hone::daemon
