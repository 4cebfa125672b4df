// The cases of LimitsTest about the HTTP port and tokens.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "base/temporary_directory.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/limits_fixture.h"
#include "tests/daemon/telemetry/socket.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

int PortOf(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

}  // namespace

void LimitsTest::HttpConnections() {
  Start();
  std::vector<std::unique_ptr<Socket>> sockets;
  for (int i = 0; i < 513; ++i) {
    sockets.push_back(
        std::make_unique<Socket>(PortOf(server_->http_address())));
    ASSERT_TRUE(sockets.back()->connected());
  }
  // The first has made room for the last.
  EXPECT_EQ(sockets.front()->Receive(), "");
  sockets.back()->Send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(sockets.back()->Receive(), ::testing::EndsWith("ok\n"));
}

void LimitsTest::HttpHead() {
  Start();
  const auto ask = [&](size_t bytes) {
    const std::string line = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ";
    Socket socket(PortOf(server_->http_address()));
    socket.Send(line + std::string(bytes - line.size() - 4, 'x') + "\r\n\r\n");
    return socket.Receive();
  };
  EXPECT_THAT(ask(8 << 10), ::testing::StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask((8 << 10) + 5), ::testing::StartsWith("HTTP/1.1 431 "));
}

void LimitsTest::Token() {
  const TemporaryDirectory folder;
  config_.tokens = folder.path() + "/tokens";
  const std::string fits(1024, 'a');
  const std::string longer(1025, 'b');
  WriteTokens(config_.tokens, {});
  std::ofstream(config_.tokens)
      << "fits admin " << Sha256Hex(fits) << "\nlonger admin "
      << Sha256Hex(longer) << "\n";
  Start();
  const std::string method = "/hone.v1.AdminService/GetServerInfo";
  HONE_EXPECT_OK(CallRaw(method, "", fits).status());
  EXPECT_EQ(CallRaw(method, "", longer).status().code(),
            absl::StatusCode::kUnauthenticated);
}

}  // namespace hone::testing
