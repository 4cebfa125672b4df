// Streams whose clients go away at any moment.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "daemon/access/methods.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

constexpr int kRounds = 300;

class StreamCallTest : public DaemonTest {
 protected:
  // Waits for the end of all calls, and checks that each has been counted.
  void ExpectAllEnded() {
    for (const daemon::Method& method : daemon::Methods()) {
      const std::string series =
          absl::StrCat("hone_rpc_in_flight{method=\"", method.name, "\"}");
      while (Metric(series) > 0) std::this_thread::yield();
      EXPECT_EQ(Metric(series), 0) << method.name;
    }
  }

  // Cancels from another thread, at a moment that nobody chooses.
  static std::thread CancelSoon(grpc::ClientContext& context) {
    return std::thread([&context] {
      std::this_thread::yield();
      context.TryCancel();
    });
  }
};

TEST_F(StreamCallTest, CancelledUploads) {
  Start();
  const std::string bytes(200 << 10, 'x');
  for (int i = 0; i < kRounds; ++i) {
    grpc::ClientContext context;
    v1::UploadResponse response;
    const auto writer = modules_->Upload(&context, &response);
    std::thread cancel = CancelSoon(context);
    v1::UploadRequest part;
    part.mutable_header()->set_digest(Sha256Hex(bytes));
    part.mutable_header()->set_size_bytes(static_cast<int64_t>(bytes.size()));
    writer->Write(part);
    part.set_chunk(bytes);
    writer->Write(part);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    EXPECT_TRUE(status.ok() ||
                status.error_code() == grpc::StatusCode::CANCELLED)
        << status.error_message();
    cancel.join();
  }
  ExpectAllEnded();
}

TEST_F(StreamCallTest, CancelledDownloadsAndWatches) {
  Start();
  const std::string tuning = TuneWithoutEnd(1);
  v1::DownloadRequest download;
  download.set_digest(Sha256Hex(NumberedModule(1)));
  v1::WatchTuningRequest watch;
  watch.set_name(tuning);
  for (int i = 0; i < kRounds; ++i) {
    grpc::ClientContext first;
    grpc::ClientContext second;
    const auto parts = modules_->Download(&first, download);
    const auto updates = tunings_->WatchTuning(&second, watch);
    std::thread cancel_first = CancelSoon(first);
    std::thread cancel_second = CancelSoon(second);
    v1::DownloadResponse part;
    while (parts->Read(&part)) {
    }
    v1::WatchTuningResponse update;
    while (updates->Read(&update)) {
    }
    parts->Finish();
    EXPECT_EQ(updates->Finish().error_code(), grpc::StatusCode::CANCELLED);
    cancel_first.join();
    cancel_second.join();
  }
  ExpectAllEnded();
}

TEST_F(StreamCallTest, DeadlinesThatPass) {
  Start();
  v1::WatchTuningRequest watch;
  watch.set_name(TuneWithoutEnd(1));
  for (int i = 0; i < 100; ++i) {
    // From one that has passed to one that does during the call.
    const auto deadline =
        std::chrono::system_clock::now() + std::chrono::microseconds(50 * i);
    grpc::ClientContext first;
    grpc::ClientContext second;
    first.set_deadline(deadline);
    second.set_deadline(deadline);
    v1::UploadResponse response;
    const auto writer = modules_->Upload(&first, &response);
    const auto updates = tunings_->WatchTuning(&second, watch);
    v1::WatchTuningResponse update;
    while (updates->Read(&update)) {
    }
    EXPECT_FALSE(writer->Finish().ok());
    EXPECT_FALSE(updates->Finish().ok());
  }
  ExpectAllEnded();
}

TEST_F(StreamCallTest, AClientThatSendsNothingDoesNotKeepTheDaemon) {
  config_.drain_grace = absl::ZeroDuration();
  Start();
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::UploadRequest>>> writers;
  std::vector<v1::UploadResponse> responses(20);
  for (v1::UploadResponse& response : responses) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    writers.push_back(modules_->Upload(contexts.back().get(), &response));
  }
  while (Metric("hone_rpc_in_flight{method=\"hone.v1.ModuleService/Upload\"}") <
         20) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(server_->Drain());
  for (const auto& writer : writers) EXPECT_FALSE(writer->Finish().ok());
}

}  // namespace
}  // namespace hone::testing
