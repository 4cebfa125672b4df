#include <algorithm>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "base/hash.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

class ModuleServiceTest : public DaemonTest {
 protected:
  ModuleServiceTest() {
    config_.max_module_bytes = 8 << 20;
    Start();
  }

  // Uploads `bytes` in chunks of `chunk` bytes under the header given.
  grpc::Status Upload(const std::string& digest, size_t announced,
                      const std::string& bytes, size_t chunk = 1 << 20) {
    grpc::ClientContext context;
    v1::UploadResponse response;
    auto writer = modules_->Upload(&context, &response);
    v1::UploadRequest part;
    part.mutable_header()->set_digest(digest);
    part.mutable_header()->set_size_bytes(static_cast<int64_t>(announced));
    bool open = writer->Write(part);
    for (size_t at = 0; open && at < bytes.size(); at += chunk) {
      part.set_chunk(bytes.substr(at, chunk));
      open = writer->Write(part);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (status.ok()) {
      EXPECT_EQ(response.digest(), digest);
    }
    return status;
  }

  std::vector<std::string> Missing(const std::vector<std::string>& digests) {
    grpc::ClientContext context;
    v1::QueryModulesRequest request;
    for (const std::string& digest : digests) request.add_digests(digest);
    v1::QueryModulesResponse response;
    HONE_EXPECT_GRPC_OK(modules_->QueryModules(&context, request, &response));
    return {response.missing().begin(), response.missing().end()};
  }

  // 3 MiB that do not repeat.
  static std::string Bytes() {
    std::string bytes(3 << 20, '\0');
    uint32_t state = 1;
    for (char& byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<char>(state >> 24);
    }
    return bytes;
  }
};

// What a client does not read stays in memory.
TEST_F(ModuleServiceTest, DownloadsAreHeldAgainstTheirClient) {
  server_.reset();
  config_.max_client_bytes_in_flight = 12 << 20;
  Start();
  const std::string bytes(8 << 20, 'x');
  const std::string digest = Sha256Hex(bytes);
  HONE_EXPECT_GRPC_OK(Upload(digest, bytes.size(), bytes));
  const std::string used = "hone_limit_used{limit=\"max_bytes_in_flight\"}";
  EXPECT_EQ(Metric(used), 0);
  v1::DownloadRequest request;
  request.set_digest(digest);
  {
    grpc::ClientContext context;
    const auto unread = modules_->Download(&context, request);
    while (Metric(used) < 8 << 20) std::this_thread::yield();
    grpc::ClientContext second;
    const auto refused = modules_->Download(&second, request);
    v1::DownloadResponse part;
    EXPECT_FALSE(refused->Read(&part));
    const grpc::Status status = refused->Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(ErrorInfoOf(status).reason(), "OVERLOADED");
    context.TryCancel();
    unread->Finish();
  }
  // They give it back.
  const auto status_of_one = [&] {
    grpc::ClientContext context;
    const auto reader = modules_->Download(&context, request);
    v1::DownloadResponse part;
    while (reader->Read(&part)) {
    }
    return reader->Finish().error_code();
  };
  while (status_of_one() != grpc::StatusCode::OK) std::this_thread::yield();
}

TEST_F(ModuleServiceTest, AnUploadIsOverWithItsAnswer) {
  server_.reset();
  config_.max_uploads = 1;
  Start();
  for (int i = 0; i < 50; ++i) {
    const std::string bytes(1000, static_cast<char>(i));
    HONE_EXPECT_GRPC_OK(Upload(Sha256Hex(bytes), bytes.size(), bytes));
  }
}

TEST_F(ModuleServiceTest, WhatIsUploadedComesBack) {
  const std::string bytes = Bytes();
  const std::string digest = Sha256Hex(bytes);
  EXPECT_EQ(Missing({digest}), std::vector<std::string>{digest});
  HONE_EXPECT_GRPC_OK(Upload(digest, bytes.size(), bytes));
  HONE_EXPECT_GRPC_OK(Upload(digest, bytes.size(), bytes, 64 << 10));
  EXPECT_TRUE(Missing({digest}).empty());

  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_digest(digest);
  auto reader = modules_->Download(&context, request);
  std::string received;
  v1::DownloadResponse part;
  while (reader->Read(&part)) {
    EXPECT_LE(part.chunk().size(), 1u << 20);
    received += part.chunk();
  }
  HONE_EXPECT_GRPC_OK(reader->Finish());
  EXPECT_EQ(received, bytes);

  grpc::ClientContext get_context;
  v1::GetModuleRequest get;
  get.set_digest(digest);
  v1::StoredModule module;
  HONE_EXPECT_GRPC_OK(modules_->GetModule(&get_context, get, &module));
  EXPECT_EQ(module.size_bytes(), static_cast<int64_t>(bytes.size()));
}

TEST_F(ModuleServiceTest, UploadedModulesAreTunedByDigest) {
  const std::string module(kModule);
  HONE_EXPECT_GRPC_OK(Upload(Sha256Hex(module), module.size(), module));
  v1::TuneRequest request;
  request.mutable_module()->set_digest(Sha256Hex(module));
  EXPECT_TRUE(WaitFor(Tune(request).name()).has_response());
}

TEST_F(ModuleServiceTest, BadUploadsAreRefusedAndLeaveNothing) {
  const std::string bytes = Bytes();
  const std::string digest = Sha256Hex(bytes);
  const std::string other = Sha256Hex("other");
  const auto reason = [](const grpc::Status& status) {
    return ErrorInfoOf(status).reason();
  };
  EXPECT_EQ(reason(Upload(other, bytes.size(), bytes)), "DIGEST_MISMATCH");
  EXPECT_EQ(reason(Upload(digest, bytes.size() + 1, bytes)), "SIZE_MISMATCH");
  EXPECT_EQ(reason(Upload(digest, bytes.size() - 1, bytes)), "SIZE_MISMATCH");
  EXPECT_EQ(reason(Upload(digest, bytes.size(), bytes, 1000)), "BAD_CHUNK");
  EXPECT_EQ(reason(Upload(digest, bytes.size(), bytes, 2 << 20)), "BAD_CHUNK");
  EXPECT_EQ(reason(Upload(digest, 9 << 20, bytes)), "MODULE_TOO_LARGE");
  EXPECT_EQ(reason(Upload(digest, 0, "")), "INVALID_FIELD");
  EXPECT_EQ(Missing({digest, other}),
            (std::vector<std::string>{digest, other}));
  // The memory that they held is free again.
  HONE_EXPECT_GRPC_OK(Upload(digest, bytes.size(), bytes));
}

TEST_F(ModuleServiceTest, AnUploadNeedsAHeader) {
  grpc::ClientContext context;
  v1::UploadResponse response;
  auto writer = modules_->Upload(&context, &response);
  v1::UploadRequest part;
  part.set_chunk("x");
  writer->Write(part);
  writer->WritesDone();
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ModuleServiceTest, ACancelledUploadEnds) {
  grpc::ClientContext context;
  v1::UploadResponse response;
  auto writer = modules_->Upload(&context, &response);
  v1::UploadRequest part;
  part.mutable_header()->set_digest(Sha256Hex("x"));
  part.mutable_header()->set_size_bytes(1);
  writer->Write(part);
  context.TryCancel();
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(server_->Drain());
}

TEST_F(ModuleServiceTest, UnknownModulesAreNotFound) {
  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_digest(Sha256Hex("nothing"));
  auto reader = modules_->Download(&context, request);
  v1::DownloadResponse part;
  EXPECT_FALSE(reader->Read(&part));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "MODULE_UNKNOWN");

  grpc::ClientContext get_context;
  v1::GetModuleRequest get;
  get.set_digest(Sha256Hex("nothing"));
  v1::StoredModule module;
  EXPECT_EQ(modules_->GetModule(&get_context, get, &module).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ModuleServiceTest, QueriesAreBounded) {
  grpc::ClientContext context;
  v1::QueryModulesRequest request;
  for (int i = 0; i <= 10'000; ++i) request.add_digests(Sha256Hex("x"));
  v1::QueryModulesResponse response;
  EXPECT_EQ(modules_->QueryModules(&context, request, &response).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace hone::testing
