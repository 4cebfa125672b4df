// Who may call which method.

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor_database.h>

#include "base/hash.h"
#include "daemon/access/methods.h"
#include "storage/memory_store.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The methods of the API, from the descriptors of the generated code.
std::vector<std::string> MethodsOfTheApi() {
  std::vector<std::string> files;
  google::protobuf::DescriptorPool::internal_generated_database()
      ->FindAllFileNames(&files);
  std::vector<std::string> methods;
  for (const std::string& name : files) {
    if (!absl::StartsWith(name, "hone/v1/") &&
        !absl::StartsWith(name, "google/longrunning/")) {
      continue;
    }
    const auto* file =
        google::protobuf::DescriptorPool::generated_pool()->FindFileByName(
            name);
    for (int i = 0; i < file->service_count(); ++i) {
      const auto* service = file->service(i);
      for (int j = 0; j < service->method_count(); ++j) {
        methods.push_back(absl::StrCat(service->full_name(), "/",
                                       service->method(j)->name()));
      }
    }
  }
  return methods;
}

class AccessTest : public DaemonTest {
 protected:
  AccessTest() {
    std::filesystem::create_directories(folder_.path());
    config_.tokens = folder_.path() + "/tokens";
  }

  absl::StatusCode Call(const std::string& method, const std::string& token) {
    return CallRaw("/" + method, "", token).status().code();
  }

  const TemporaryDirectory folder_;
};

TEST(MethodTable, HasEveryMethodOfTheApiAndNoOther) {
  const std::vector<std::string> api = MethodsOfTheApi();
  EXPECT_GT(api.size(), 25);
  for (const std::string& method : api) {
    EXPECT_NE(daemon::FindMethod(method), nullptr)
        << method << " is not in daemon/access/methods.cc";
  }
  std::vector<std::string> table;
  for (const daemon::Method& method : daemon::Methods()) {
    table.emplace_back(method.name);
  }
  EXPECT_THAT(table, ::testing::UnorderedElementsAreArray(api));
}

TEST_F(AccessTest, EveryMethodNeedsItsRole) {
  WriteTokens(config_.tokens, {{"lookup", "lookup"},
                               {"tune", "tune"},
                               {"worker", "worker"},
                               {"admin", "admin"}});
  Start();
  for (const daemon::Method& method : daemon::Methods()) {
    const std::string name(method.name);
    EXPECT_EQ(Call(name, ""), absl::StatusCode::kUnauthenticated) << name;
    EXPECT_EQ(Call(name, "secret"), absl::StatusCode::kUnauthenticated) << name;
    for (const std::string& client : daemon::RoleNames()) {
      const bool allowed =
          client == daemon::RoleName(method.role) || client == "admin" ||
          (client == "tune" && method.role == daemon::Role::kLookup);
      const absl::StatusCode code = Call(name, "secret-" + client);
      if (allowed) {
        EXPECT_NE(code, absl::StatusCode::kPermissionDenied) << name << client;
        EXPECT_NE(code, absl::StatusCode::kUnauthenticated) << name << client;
      } else {
        EXPECT_EQ(code, absl::StatusCode::kPermissionDenied) << name << client;
      }
    }
  }
  const double methods = static_cast<double>(daemon::Methods().size());
  EXPECT_EQ(Metric("hone_rpcs_rejected_total{reason=\"unauthenticated\"}"),
            2 * methods);
}

TEST_F(AccessTest, ADeniedLookupOfARememberedRecordSaysNothing) {
  WriteTokens(config_.tokens, {{"all", "admin"}, {"worker", "worker"}});
  // The owner's socket needs no token.
  config_.state = folder_.path();
  config_.listen = {"unix:" + folder_.path() + "/s", "127.0.0.1:0"};
  Start();
  const v1::Record record = TuneToEnd(kModule);
  v1::LookupRequest request;
  request.set_module_fingerprint(record.key().module_fingerprint());
  Connect(server_->grpc_addresses()[1], grpc::InsecureChannelCredentials());
  const std::string method = "/hone.v1.CacheService/Lookup";
  // Twice, so that the daemon remembers it.
  for (int i = 0; i < 2; ++i) {
    HONE_EXPECT_OK(CallRaw(method, request.SerializeAsString(), "secret-all"));
  }
  EXPECT_THAT(CallRaw(method, request.SerializeAsString(), "secret-worker"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("the role lookup")));
  EXPECT_THAT(CallRaw(method, request.SerializeAsString()),
              StatusIs(absl::StatusCode::kUnauthenticated,
                       HasSubstr("authorization: Bearer")));
}

TEST_F(AccessTest, TokensAreReadAgain) {
  WriteTokens(config_.tokens, {{"old", "admin"}});
  Start();
  const std::string method = "hone.v1.AdminService/GetServerInfo";
  EXPECT_EQ(Call(method, "secret-old"), absl::StatusCode::kOk);
  WriteTokens(config_.tokens, {{"new", "admin"}});
  HONE_ASSERT_OK(server_->Reload());
  EXPECT_EQ(Call(method, "secret-old"), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Call(method, "secret-new"), absl::StatusCode::kOk);
  // A bad file changes nothing.
  std::ofstream(config_.tokens) << "new admin secret-new\n";
  EXPECT_THAT(server_->Reload(), StatusIs(absl::StatusCode::kInvalidArgument,
                                          Not(HasSubstr("secret-new"))));
  EXPECT_EQ(Call(method, "secret-new"), absl::StatusCode::kOk);
  // The file is watched, too.
  WriteTokens(config_.tokens, {{"newest", "admin"}});
  while (Call(method, "secret-newest") != absl::StatusCode::kOk) {
  }
  EXPECT_EQ(Call(method, "secret-new"), absl::StatusCode::kUnauthenticated);
  // Its mode, too: what was refused for it is read once it is right.
  const auto set_group_writable = [&](std::filesystem::perm_options how) {
    std::filesystem::permissions(config_.tokens,
                                 std::filesystem::perms::group_write, how);
  };
  const std::string more =
      absl::StrCat("more admin ", Sha256Hex("secret-more"));
  set_group_writable(std::filesystem::perm_options::add);
  std::ofstream(config_.tokens, std::ios::app) << more << "\n";
  EXPECT_FALSE(server_->Reload().ok());
  EXPECT_EQ(Call(method, "secret-more"), absl::StatusCode::kUnauthenticated);
  set_group_writable(std::filesystem::perm_options::remove);
  while (Call(method, "secret-more") != absl::StatusCode::kOk) {
  }
}

TEST_F(AccessTest, OfTwoTokensNoneIsTrusted) {
  WriteTokens(config_.tokens, {{"a", "admin"}});
  Start();
  for (const bool twice : {false, true}) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "bearer secret-a");
    if (twice) context.AddMetadata("authorization", "Bearer secret-a");
    v1::GetServerInfoResponse info;
    EXPECT_EQ(admin_->GetServerInfo(&context, {}, &info).error_code(),
              twice ? grpc::StatusCode::UNAUTHENTICATED : grpc::StatusCode::OK);
  }
}

TEST_F(AccessTest, ABadFileOfTokensIsAnErrorOfTheStart) {
  EXPECT_THAT(
      daemon::Server::Start(config_, std::make_unique<storage::MemoryStore>()),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/tokens")));
}

}  // namespace
}  // namespace hone::testing
