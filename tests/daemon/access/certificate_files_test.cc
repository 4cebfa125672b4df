// Which content of the files of a TLS server is in use, and what connections
// get of it.

#include "daemon/access/certificate_files.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/temporary_directory.h"
#include "daemon/access/transport_credentials.h"
#include "daemon/config.h"
#include "daemon/telemetry/logging.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "tests/daemon/access/make_certificate.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

namespace fs = std::filesystem;
using daemon::CertificateFiles;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Answering final : public v1::AdminService::CallbackService {
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest*,
                                          v1::GetServerInfoResponse*) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

// The files of the server are tls.pem, tls.key and, once UseClientCa has put
// one there, tls.ca.pem.
class CertificateFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    MakeCertificate(folder_.path(), "server");
    MakeCertificate(folder_.path(), "next");
    UsePair("server");
  }

  std::string Path(const std::string& file) const {
    return folder_.path() + "/" + file;
  }
  std::string Pem(const std::string& file) const {
    return ReadFile(Path(file));
  }
  // Replaces a file in one step, so that no round sees half of it.
  void Write(const std::string& file, const std::string& bytes) {
    HONE_ASSERT_OK(WriteFileAtomically(Path(file), bytes));
  }

  // The two files are not replaced at once.
  void UsePair(const std::string& name) {
    Write("tls.pem", Pem(name + ".pem"));
    Write("tls.key", Pem(name + ".key"));
  }
  void UseClientCa(const std::string& name) {
    Write("tls.ca.pem", Pem(name + ".ca.pem"));
    paths_.client_ca = Path("tls.ca.pem");
  }

  void Open() {
    HONE_ASSERT_OK_AND_ASSIGN(files_, CertificateFiles::Create(paths_));
  }

  // Serves on `hosts`, each at any port.
  void Serve(const std::vector<std::string>& hosts) {
    const auto credentials = daemon::TlsCredentials(files_);
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    ports_.resize(hosts.size());
    for (size_t i = 0; i < hosts.size(); ++i) {
      builder.AddListeningPort(hosts[i] + ":0", credentials, &ports_[i]);
    }
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  // Returns true if a new connection to a port gets a certificate that the
  // authority of `server` signs, and that of `client` is accepted.
  bool Connects(const std::string& server, const std::string& client = "",
                size_t port = 0) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = Pem(server + ".ca.pem");
    if (!client.empty()) {
      options.pem_private_key = Pem(client + ".key");
      options.pem_cert_chain = Pem(client + ".pem");
    }
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::AdminService::NewStub(
        grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", ports_[port]),
                                  grpc::SslCredentials(options), arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(60));
    v1::GetServerInfoResponse ignored;
    const grpc::StatusCode code =
        stub->GetServerInfo(&context, {}, &ignored).error_code();
    EXPECT_THAT(code, ::testing::AnyOf(grpc::StatusCode::OK,
                                       grpc::StatusCode::UNAVAILABLE));
    return code == grpc::StatusCode::OK;
  }

  const TemporaryDirectory folder_;
  CertificateFiles::Paths paths_ = {
      .chain = Path("tls.pem"), .key = Path("tls.key"), .client_ca = ""};
  std::shared_ptr<CertificateFiles> files_;
  std::vector<int> ports_;
  Answering service_;
  std::unique_ptr<grpc::Server> server_;
};

// Content that cannot be used, and the file that an error has to name.
struct Bad {
  std::string file;
  std::string reason;
  std::function<void()> make;
};

class BadCertificateFilesTest : public CertificateFilesTest {
 protected:
  void SetUp() override {
    CertificateFilesTest::SetUp();
    UseClientCa("server");
    RunOpenSsl(
        folder_.path(),
        {"genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out " +
             Path("rsa.key"),
         absl::StrCat("ec -aes128 -passout pass:secret -in ",
                      Path("server.key"), " -out ", Path("locked.key")),
         absl::StrCat("req -x509 -newkey rsa:512 -nodes -days 2 -subj /CN=weak "
                      "-keyout ",
                      Path("weak.key"), " -out ", Path("weak.pem"))});
  }

  // What is bad about some file while the others are those of "server".
  std::vector<Bad> All() {
    const std::string chain = Pem("server.pem") + Pem("server.ca.pem");
    const auto write = [this](const std::string& file, std::string bytes) {
      return [this, file, bytes = std::move(bytes)] { Write(file, bytes); };
    };
    const auto remove = [this](const std::string& file) {
      return [this, file] { fs::remove(Path(file)); };
    };
    const auto half = [](const std::string& text) {
      return text.substr(0, text.size() / 2);
    };
    return {
        {"tls.key", "key values mismatch", write("tls.key", Pem("next.key"))},
        {"tls.key", "key type mismatch", write("tls.key", Pem("rsa.key"))},
        {"tls.key", "", write("tls.key", Pem("locked.key"))},
        {"tls.key", "", write("tls.key", half(Pem("server.key")))},
        {"tls.key", "", write("tls.key", "")},
        {"tls.key", "No such file", remove("tls.key")},
        {"tls.key", "key values mismatch", write("tls.pem", Pem("next.pem"))},
        {"tls.pem", "", write("tls.pem", half(Pem("server.pem")))},
        // gRPC would serve the first certificate without the second.
        {"tls.pem", "", write("tls.pem", chain.substr(0, chain.size() - 100))},
        {"tls.pem", "", write("tls.pem", Pem("server.key"))},
        {"tls.pem", "", write("tls.pem", "")},
        {"tls.pem", "", write("tls.pem", std::string(1, '\0') + chain)},
        {"tls.pem", "key too small", write("tls.pem", Pem("weak.pem"))},
        {"tls.pem", "No such file", remove("tls.pem")},
        {"tls.pem", "is no regular file",
         [this] {
           fs::remove(Path("tls.pem"));
           fs::create_directory(Path("tls.pem"));
         }},
        {"tls.pem", "is no regular file",
         [this] {
           fs::remove(Path("tls.pem"));
           mkfifo(Path("tls.pem").c_str(), 0600);
         }},
        {"tls.ca.pem", "", write("tls.ca.pem", "")},
        {"tls.ca.pem", "", write("tls.ca.pem", half(Pem("server.ca.pem")))},
        {"tls.ca.pem", "",
         write("tls.ca.pem", Pem("server.ca.pem") + half(Pem("next.ca.pem")))},
        {"tls.ca.pem", "No such file", remove("tls.ca.pem")},
    };
  }

  void Restore() {
    for (const char* file : {"tls.pem", "tls.key", "tls.ca.pem"}) {
      fs::remove(Path(file));
    }
    UsePair("server");
    UseClientCa("server");
  }
};

TEST_F(BadCertificateFilesTest, AreAnErrorOfTheStart) {
  for (const Bad& bad : All()) {
    bad.make();
    EXPECT_THAT(CertificateFiles::Create(paths_),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr(Path(bad.file) + ": cannot be used"),
                               HasSubstr(bad.reason), HasSubstr("expected"),
                               ::testing::Not(HasSubstr("\n")))));
    Restore();
  }
  HONE_EXPECT_OK(CertificateFiles::Create(paths_));
}

TEST_F(BadCertificateFilesTest, LeaveTheOldContentInUse) {
  Open();
  const daemon::Certificates content = *files_->Current();
  for (const Bad& bad : All()) {
    bad.make();
    for (int round = 0; round < 2; ++round) {
      EXPECT_THAT(
          files_->Refresh(),
          StatusIs(absl::StatusCode::kInvalidArgument,
                   AllOf(HasSubstr(Path(bad.file)), HasSubstr(bad.reason))));
    }
    EXPECT_EQ(*files_->Current(), content);
    Restore();
    HONE_EXPECT_OK(files_->Refresh());
    EXPECT_EQ(*files_->Current(), content);
  }
  UsePair("next");
  HONE_EXPECT_OK(files_->Refresh());
  EXPECT_EQ(files_->Current()->chain, Pem("next.pem"));
}

TEST_F(BadCertificateFilesTest, LetClientsConnectWithTheOldContent) {
  Open();
  Serve({"localhost"});
  ASSERT_TRUE(Connects("server", "server"));
  for (const Bad& bad : All()) {
    bad.make();
    EXPECT_FALSE(files_->Refresh().ok());
    EXPECT_TRUE(Connects("server", "server")) << bad.file << bad.reason;
    Restore();
  }
  EXPECT_FALSE(Connects("server"));
  UsePair("next");
  HONE_EXPECT_OK(files_->Refresh());
  EXPECT_TRUE(Connects("next", "server"));
  EXPECT_FALSE(Connects("server", "server"));
}

TEST_F(CertificateFilesTest, ContentThatFitsComesIntoUse) {
  UseClientCa("server");
  Open();
  const auto old = files_->Current();
  HONE_EXPECT_OK(files_->Refresh());
  EXPECT_EQ(files_->Current(), old);
  // With a comment, and with the certificates that sign it.
  const std::string chain =
      absl::StrCat("Of next:\n", Pem("next.pem"), "\n", Pem("next.ca.pem"));
  Write("tls.key", Pem("next.key"));
  EXPECT_FALSE(files_->Refresh().ok());
  Write("tls.pem", chain);
  Write("tls.ca.pem", Pem("server.ca.pem") + Pem("next.ca.pem"));
  HONE_EXPECT_OK(files_->Refresh());
  const auto now = files_->Current();
  EXPECT_EQ(now->chain, chain);
  EXPECT_EQ(now->key, Pem("next.key"));
  EXPECT_EQ(now->client_ca, Pem("tls.ca.pem"));
  // Who has the old content keeps it.
  EXPECT_EQ(old->chain, Pem("server.pem"));
}

TEST_F(CertificateFilesTest, EachChangeIsLoggedOnce) {
  daemon::SetUpLogging(daemon::Config{});
  Open();
  const auto lines_with = [](const std::string& log, const std::string& text) {
    return static_cast<int>(
               std::vector<std::string>(absl::StrSplit(log, text)).size()) -
           1;
  };
  const auto log_of_rounds = [this] {
    for (int round = 0; round < 3; ++round) (void)files_->Refresh();
    return ::testing::internal::GetCapturedStderr();
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(lines_with(log_of_rounds(), Path("tls")), 0);

  for (const std::string& bytes : {Pem("next.key"), std::string()}) {
    ::testing::internal::CaptureStderr();
    Write("tls.key", bytes);
    const std::string log = log_of_rounds();
    EXPECT_EQ(lines_with(log, Path("tls.key") + ": cannot be used"), 1) << log;
    EXPECT_EQ(lines_with(log, "; the old certificates stay in use"), 1) << log;
    EXPECT_EQ(lines_with(log, "PRIVATE"), 0);
  }
  ::testing::internal::CaptureStderr();
  Write("tls.key", Pem("server.key"));
  const std::string log = log_of_rounds();
  EXPECT_EQ(lines_with(log, "read the certificates again"), 1) << log;
  EXPECT_EQ(lines_with(log, Path("tls.pem")), 1) << log;
}

TEST_F(CertificateFilesTest, EachPortOfAServerGetsNewContent) {
  Open();
  Serve({"127.0.0.1", "localhost"});
  for (const std::string name : {"next", "server"}) {
    UsePair(name);
    HONE_EXPECT_OK(files_->Refresh());
    for (const size_t port : {0u, 1u}) {
      EXPECT_TRUE(Connects(name, "", port));
      EXPECT_FALSE(Connects(name == "next" ? "server" : "next", "", port));
    }
  }
}

TEST_F(CertificateFilesTest, ANewAuthorityForClientsReplacesTheOldOne) {
  UseClientCa("server");
  Open();
  Serve({"127.0.0.1"});
  EXPECT_TRUE(Connects("server", "server"));
  EXPECT_FALSE(Connects("server", "next"));
  UseClientCa("next");
  HONE_EXPECT_OK(files_->Refresh());
  EXPECT_FALSE(Connects("server", "server"));
  EXPECT_TRUE(Connects("server", "next"));
}

TEST_F(CertificateFilesTest, ClientsConnectWhileContentChanges) {
  Open();
  Serve({"127.0.0.1"});
  Write("both.ca.pem", Pem("server.ca.pem") + Pem("next.ca.pem"));
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([this] {
      for (int n = 0; n < 20; ++n) EXPECT_TRUE(Connects("both"));
    });
  }
  for (const std::string name : {"next", "server", "next", "server", "next"}) {
    UsePair(name);
    HONE_EXPECT_OK(files_->Refresh());
    EXPECT_TRUE(Connects(name));
  }
  for (std::thread& client : clients) client.join();
}

TEST_F(CertificateFilesTest, GrpcKeepsTheFilesAsLongAsThePort) {
  Open();
  const std::weak_ptr<CertificateFiles> files = files_;
  Serve({"127.0.0.1"});
  files_.reset();
  EXPECT_FALSE(files.expired());
  EXPECT_TRUE(Connects("server"));
  server_.reset();
  // gRPC ends connections on threads of its own.
  while (!files.expired()) std::this_thread::yield();
}

}  // namespace
}  // namespace hone::testing
