// How clients reach the daemon: Unix sockets, TCP, TLS.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/access/unix_listener.h"
#include "storage/memory_store.h"
#include "tests/daemon/access/make_certificate.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Makes a socket file as a daemon that was killed leaves it.
void MakeStaleSocket(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = AddressOf(path);
  ASSERT_EQ(
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
      0);
  close(fd);
}

class TransportsTest : public DaemonTest {
 protected:
  TransportsTest() {
    fs::create_directories(folder_.path());
    config_.state = folder_.path() + "/state";
    config_.listen.clear();
  }

  grpc::StatusCode Ask(const std::string& token = "") {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(60));
    if (!token.empty()) {
      context.AddMetadata("authorization", "Bearer " + token);
    }
    v1::GetServerInfoResponse info;
    return admin_->GetServerInfo(&context, {}, &info).error_code();
  }

  void MakeCertificate(const std::string& name) {
    testing::MakeCertificate(folder_.path(), name);
  }

  std::string Pem(const std::string& file) const {
    return ReadFile(folder_.path() + "/" + file);
  }

  void ConnectWithTls(const std::string& authority,
                      const std::string& client = "") {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = Pem(authority + ".ca.pem");
    if (!client.empty()) {
      options.pem_private_key = Pem(client + ".key");
      options.pem_cert_chain = Pem(client + ".pem");
    }
    Connect(server_->grpc_address(), grpc::SslCredentials(options));
  }

  void UseTls() {
    MakeCertificate("server");
    config_.listen = {"127.0.0.1:0"};
    config_.tokens = folder_.path() + "/tokens";
    WriteTokens(config_.tokens, {{"ci", "lookup"}});
    config_.tls_cert = folder_.path() + "/server.pem";
    config_.tls_key = folder_.path() + "/server.key";
  }

  const TemporaryDirectory folder_;
};

TEST_F(TransportsTest, TheDefaultIsASocketForTheOwner) {
  // Without a token, although others would need one.
  config_.tokens = folder_.path() + "/tokens";
  WriteTokens(config_.tokens, {});
  StartOnDisk(config_.state);
  const std::string path = config_.state + "/hone.sock";
  EXPECT_THAT(server_->grpc_addresses(), ElementsAre("unix:" + path));
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0600);
  ASSERT_EQ(stat(config_.state.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700);
  EXPECT_EQ(Ask(), grpc::StatusCode::OK);
  TuneToEnd(kModule);
  server_.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TransportsTest, SeveralAddressesServeTheSame) {
  config_.listen = {"unix:" + folder_.path() + "/a", "127.0.0.1:0",
                    "unix:" + folder_.path() + "/b", "127.0.0.1:0"};
  Start();
  ASSERT_EQ(server_->grpc_addresses().size(), 4);
  for (const std::string& address : server_->grpc_addresses()) {
    Connect(address, grpc::InsecureChannelCredentials());
    EXPECT_EQ(Ask(), grpc::StatusCode::OK) << address;
  }
}

TEST_F(TransportsTest, AStaleSocketIsReplacedAndALiveOneIsNot) {
  fs::create_directories(config_.state);
  MakeStaleSocket(config_.state + "/hone.sock");
  Start();
  EXPECT_EQ(Ask(), grpc::StatusCode::OK);
  daemon::Config second = config_;
  EXPECT_THAT(
      daemon::Server::Start(second, std::make_unique<storage::MemoryStore>()),
      StatusIs(absl::StatusCode::kUnavailable,
               HasSubstr("cannot listen on unix:" + config_.state)));
  // The first has kept its socket.
  Connect(server_->grpc_address(), grpc::InsecureChannelCredentials());
  EXPECT_EQ(Ask(), grpc::StatusCode::OK);
}

TEST_F(TransportsTest, ASocketNeedsAPathThatFits) {
  const auto start = [this] {
    return daemon::Server::Start(config_,
                                 std::make_unique<storage::MemoryStore>())
        .status();
  };
  const std::string file = folder_.path() + "/file";
  std::ofstream(file) << "precious";
  config_.listen = {"unix:" + file};
  EXPECT_THAT(start(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("is no socket")));
  EXPECT_EQ(ReadFile(file), "precious");
  config_.listen = {"unix:/" + std::string(107, 'x')};
  EXPECT_THAT(start(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("expected 1 to 107")));
  config_.listen = {"unix:/nonexistent/folder/hone.sock"};
  EXPECT_THAT(start(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("cannot make the socket")));
}

TEST_F(TransportsTest, AnotherUserIsRefused) {
  // Only root can become another user.
  if (geteuid() != 0) return;
  const std::string path = folder_.path() + "/open";
  std::atomic<int> accepted = 0;
  HONE_ASSERT_OK_AND_ASSIGN(const auto listener,
                            daemon::UnixListener::Start(path, [&](int fd) {
                              ++accepted;
                              (void)!write(fd, "x", 1);
                              close(fd);
                            }));
  // As if the permissions of the file did not protect it.
  ASSERT_EQ(chmod(path.c_str(), 0777), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  const sockaddr_un address = AddressOf(path);
  const auto received = [&](uid_t user) {
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      if (setuid(user) != 0 ||
          connect(fd, reinterpret_cast<const sockaddr*>(&address),
                  sizeof(address)) != 0) {
        _exit(9);
      }
      _exit(static_cast<int>(std::max<ssize_t>(0, read(fd, &byte, 1))));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(received(65534), 0);
  EXPECT_EQ(received(0), 1);
  EXPECT_EQ(accepted, 1);
}

TEST_F(TransportsTest, TlsAndATokenAreBothNeeded) {
  UseTls();
  Start();
  ConnectWithTls("server");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::OK);
  EXPECT_EQ(Ask("secret"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Ask(), grpc::StatusCode::UNAUTHENTICATED);
  Connect(server_->grpc_address(), grpc::InsecureChannelCredentials());
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::UNAVAILABLE);
  MakeCertificate("other");
  ConnectWithTls("other");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TransportsTest, ClientsNeedACertificateIfTheirAuthorityIsConfigured) {
  UseTls();
  MakeCertificate("client");
  MakeCertificate("stranger");
  config_.tls_client_ca = folder_.path() + "/client.ca.pem";
  Start();
  ConnectWithTls("server", "client");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::OK);
  // The certificate is no token.
  EXPECT_EQ(Ask(), grpc::StatusCode::UNAUTHENTICATED);
  ConnectWithTls("server");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::UNAVAILABLE);
  ConnectWithTls("server", "stranger");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TransportsTest, ANewCertificateNeedsNoRestart) {
  UseTls();
  MakeCertificate("next");
  // As operators do it: one link to the folder of both files is replaced.
  const fs::path folder = folder_.path();
  for (const char* name : {"server", "next"}) {
    fs::create_directories(folder / (std::string("tls-") + name));
    for (const char* end : {".pem", ".key"}) {
      fs::copy(folder / (std::string(name) + end),
               folder / (std::string("tls-") + name) /
                   ("daemon" + std::string(end)));
    }
  }
  fs::create_directory_symlink("tls-server", folder / "tls");
  config_.tls_cert = folder / "tls/daemon.pem";
  config_.tls_key = folder / "tls/daemon.key";
  Start();
  ConnectWithTls("server");
  EXPECT_EQ(Ask("secret-ci"), grpc::StatusCode::OK);
  const auto old_client = std::move(admin_);
  const auto old_channel = channel_;

  fs::create_directory_symlink("tls-next", folder / "tls.new");
  fs::rename(folder / "tls.new", folder / "tls");
  do {
    ConnectWithTls("next");
  } while (Ask("secret-ci") != grpc::StatusCode::OK);
  // Connections that are open stay so.
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer secret-ci");
  v1::GetServerInfoResponse info;
  HONE_EXPECT_GRPC_OK(old_client->GetServerInfo(&context, {}, &info));
}

TEST_F(TransportsTest, CertificatesThatDoNotFitAreAnErrorOfTheStart) {
  UseTls();
  MakeCertificate("other");
  const auto start = [this] {
    return daemon::Server::Start(config_,
                                 std::make_unique<storage::MemoryStore>())
        .status();
  };
  config_.tls_key = folder_.path() + "/other.key";
  EXPECT_THAT(start(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("other.key"), HasSubstr("expected"))));
  config_.tls_key = folder_.path() + "/server.key";
  config_.tls_cert = folder_.path() + "/nothing.pem";
  EXPECT_THAT(start(), StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("nothing.pem")));
}

}  // namespace
}  // namespace hone::testing
