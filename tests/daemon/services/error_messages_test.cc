// What errors tell clients.

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "base/rng.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

namespace fs = std::filesystem;

// A module whose compressed bytes are kept in a file; each `n` is another.
std::string LargeModule(int n) {
  Rng rng(static_cast<uint64_t>(n));
  constexpr int kElements = 40'000;
  std::vector<uint32_t> values;
  for (int i = 0; i < kElements; ++i) {
    values.push_back(static_cast<uint32_t>(rng.Next()));
  }
  return absl::StrCat("HloModule large\n\nENTRY main {\n  ROOT c = u32[",
                      kElements, "]{0} constant({", absl::StrJoin(values, ", "),
                      "})\n}\n");
}

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ErrorMessagesTest : public DaemonTest {
 protected:
  template <typename Stub, typename Request, typename Response>
  static grpc::Status Call(Stub& stub,
                           grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                        const Request&,
                                                        Response*),
                           const Request& request) {
    grpc::ClientContext context;
    Response response;
    return (stub.*method)(&context, request, &response);
  }

  grpc::Status Download(const std::string& digest) {
    grpc::ClientContext context;
    v1::DownloadRequest request;
    request.set_digest(digest);
    const auto reader = modules_->Download(&context, request);
    v1::DownloadResponse part;
    while (reader->Read(&part)) {
    }
    return reader->Finish();
  }

  grpc::Status Upload(const std::string& bytes) {
    grpc::ClientContext context;
    v1::UploadResponse response;
    const auto writer = modules_->Upload(&context, &response);
    v1::UploadRequest part;
    part.mutable_header()->set_digest(Sha256Hex(bytes));
    part.mutable_header()->set_size_bytes(static_cast<int64_t>(bytes.size()));
    writer->Write(part);
    part.set_chunk(bytes);
    writer->Write(part);
    writer->WritesDone();
    return writer->Finish();
  }
};

TEST_F(ErrorMessagesTest, ErrorsOfTheStoreDoNotNameItsFolder) {
  const TemporaryDirectory state;
  StartOnDisk(state.path());
  const std::string digest = Sha256Hex(LargeModule(0));
  HONE_EXPECT_GRPC_OK(Upload(LargeModule(0)));
  // As when somebody has moved the files.
  fs::rename(state.path() + "/blobs", state.path() + "/moved");
  std::ofstream(state.path() + "/blobs") << "no folder";

  v1::TuneRequest tune;
  tune.mutable_module()->set_content(LargeModule(1));
  v1::TuneRequest tune_stored;
  tune_stored.mutable_module()->set_digest(digest);
  tune_stored.set_skip_cache(true);
  v1::CompileRequest compile;
  compile.mutable_module()->set_digest(digest);
  v1::OpenEnvironmentRequest open;
  open.mutable_module()->set_digest(digest);
  v1::GetModuleRequest get;
  get.set_digest(digest);
  const std::vector<grpc::Status> statuses = {
      Upload(LargeModule(2)),
      Download(digest),
      Call(*modules_, &v1::ModuleService::Stub::GetModule, get),
      Call(*tunings_, &v1::TuningService::Stub::Tune, tune),
      Call(*tunings_, &v1::TuningService::Stub::Tune, tune_stored),
      Call(*compile_, &v1::CompileService::Stub::Compile, compile),
      Call(*environments_, &v1::EnvironmentService::Stub::OpenEnvironment,
           open)};
  int errors_of_the_store = 0;
  for (const grpc::Status& status : statuses) {
    EXPECT_THAT(status.error_message(), Not(HasSubstr(state.path())));
    EXPECT_THAT(status.error_details(), Not(HasSubstr(state.path())));
    if (status.error_message().find("STATE/blobs") != std::string::npos) {
      ++errors_of_the_store;
    }
  }
  EXPECT_GE(errors_of_the_store, 4);
}

TEST_F(ErrorMessagesTest, LongNamesAreCut) {
  Start();
  const std::string name(5000, 'n');
  v1::TuneRequest tune;
  tune.mutable_module()->set_content(std::string(kModule));
  const auto with_spec =
      [&](const std::function<void(v1::TuningSpec&)>& change) {
        v1::TuneRequest request = tune;
        change(*request.mutable_spec());
        return Call(*tunings_, &v1::TuningService::Stub::Tune, request);
      };
  v1::TuneRequest malformed;
  malformed.mutable_module()->set_content("HloModule " + name + "\n" + name);
  malformed.mutable_module()->set_file_name(name);
  v1::TuneRequest unknown;
  unknown.mutable_module()->set_digest(name);
  v1::GetTuningRequest get;
  get.set_name("projects/default/tunings/" + name);
  v1::CancelTuningRequest cancel;
  cancel.set_name(name);
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(name);
  v1::LookupRequest task = lookup;
  task.set_task(name);
  v1::StepRequest step;
  step.set_name("projects/default/environments/" + name);
  step.add_actions(0);
  google::longrunning::WaitOperationRequest wait;
  wait.set_name("projects/default/operations/" + name);
  google::longrunning::ListOperationsRequest list;
  list.set_name(name);
  v1::ListTuningsRequest page;
  page.set_page_token(name);
  using Operations = google::longrunning::Operations::Stub;
  const std::vector<grpc::Status> statuses = {
      with_spec([&](v1::TuningSpec& spec) { spec.set_task(name); }),
      with_spec([&](v1::TuningSpec& spec) { spec.set_target(name); }),
      with_spec([&](v1::TuningSpec& spec) { spec.set_optimizer(name); }),
      Call(*tunings_, &v1::TuningService::Stub::Tune, malformed),
      Call(*tunings_, &v1::TuningService::Stub::Tune, unknown),
      Call(*tunings_, &v1::TuningService::Stub::GetTuning, get),
      Call(*tunings_, &v1::TuningService::Stub::CancelTuning, cancel),
      Call(*tunings_, &v1::TuningService::Stub::ListTunings, page),
      Call(*cache_, &v1::CacheService::Stub::Lookup, lookup),
      Call(*cache_, &v1::CacheService::Stub::Lookup, task),
      Call(*environments_, &v1::EnvironmentService::Stub::Step, step),
      Call(*operations_, &Operations::WaitOperation, wait),
      Call(*operations_, &Operations::ListOperations, list),
      Download(name)};
  for (size_t i = 0; i < statuses.size(); ++i) {
    const grpc::Status& status = statuses[i];
    EXPECT_FALSE(status.ok()) << i;
    EXPECT_THAT(status.error_code(), AnyOf(grpc::StatusCode::INVALID_ARGUMENT,
                                           grpc::StatusCode::NOT_FOUND))
        << i << status.error_message();
    EXPECT_LT(status.error_message().size(), 1000) << i;
    EXPECT_LT(status.error_details().size(), 2000) << i;
    EXPECT_NE(ErrorInfoOf(status).reason(), "") << i;
  }
}

}  // namespace
}  // namespace hone::testing
