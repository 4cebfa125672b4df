#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/proto/io.h"
#include "hlo/read_module.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CompileServiceTest : public DaemonTest {
 protected:
  CompileServiceTest() {
    config_.max_queued_tunings = 0;
    Start();
  }

  v1::CompileResponse Compile(const v1::CompileRequest& request) {
    grpc::ClientContext context;
    v1::CompileResponse response;
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
    EXPECT_EQ(response.decisions_size(), 1);
    return response;
  }

  static v1::CompileRequest RequestFor(const std::string& module) {
    v1::CompileRequest request;
    request.mutable_module()->set_content(module);
    request.add_specs();
    return request;
  }

  // The answer once the verified default is known: a process may just start.
  v1::CompileResponse CompileByDefault(const v1::CompileRequest& request) {
    v1::CompileRequest patient = request;
    patient.mutable_patience()->set_seconds(1);
    v1::CompileResponse response;
    do {
      response = Compile(patient);
    } while (response.decisions(0).source() == v1::Decision::DEFAULT &&
             !response.decisions(0).missing().empty());
    return response;
  }

  std::string Download(const std::string& digest) {
    grpc::ClientContext context;
    v1::DownloadRequest request;
    request.set_digest(digest);
    auto reader = modules_->Download(&context, request);
    std::string bytes;
    for (v1::DownloadResponse part; reader->Read(&part);) bytes += part.chunk();
    HONE_EXPECT_GRPC_OK(reader->Finish());
    return bytes;
  }

  static int64_t Ops(const v1::CompileResponse& response) {
    const auto module = hlo::ParseHlo(response.module(), "response");
    return module.ok() ? hlo::CountOps(*module) : -1;
  }
};

TEST_F(CompileServiceTest, WithoutPatienceTheModuleOrItsDefaultComesAtOnce) {
  const v1::CompileResponse first = Compile(RequestFor(std::string(kModule)));
  const v1::Decision& decision = first.decisions(0);
  // Which of them is up to the machine's speed.
  if (decision.source() == v1::Decision::DEFAULT) {
    if (decision.missing().empty()) {
      EXPECT_NE(decision.verification().method(), "");
      EXPECT_EQ(Ops(first), decision.cost());
    } else {
      EXPECT_EQ(first.module(), kModule);
    }
  }
}

TEST_F(CompileServiceTest, DefaultThenFromTheCache) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->set_optimizer("random");
  request.mutable_specs(0)->mutable_budget()->mutable_time()->set_seconds(2);
  request.mutable_specs(0)->mutable_budget()->set_trials(1'000'000'000);
  const v1::CompileResponse first = CompileByDefault(request);
  const v1::Decision& decision = first.decisions(0);
  EXPECT_EQ(decision.source(), v1::Decision::DEFAULT);
  EXPECT_EQ(decision.task(), "pass_order");
  EXPECT_EQ(decision.cost(), decision.default_cost());
  EXPECT_EQ(Ops(first), decision.cost());
  EXPECT_NE(decision.verification().method(), "");
  ASSERT_THAT(decision.tuning(), StartsWith("projects/default/tunings/"));

  WaitFor(OperationOf(decision.tuning()));
  const v1::CompileResponse second = Compile(request);
  EXPECT_EQ(second.decisions(0).source(), v1::Decision::CACHE);
  EXPECT_EQ(second.decisions(0).tuning(), decision.tuning());
  EXPECT_LE(second.decisions(0).cost(), decision.cost());
  EXPECT_EQ(Ops(second), second.decisions(0).cost());
  EXPECT_EQ(second.decisions(0).record().best_cost(),
            second.decisions(0).cost());
}

TEST_F(CompileServiceTest, PatienceWaitsForTheWinner) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const std::string mlp,
      hlo::ReadFileBytes(HONE_SOURCE_DIR
                         "/bench/data/corpus/mlp.train.hlo.zst"));
  v1::CompileRequest request = RequestFor(mlp);
  request.mutable_specs(0)->mutable_budget()->set_trials(5);
  request.mutable_patience()->set_seconds(240);
  const v1::CompileResponse response = Compile(request);
  const v1::Decision& decision = response.decisions(0);
  EXPECT_EQ(decision.source(), v1::Decision::TUNED);
  EXPECT_LE(decision.cost(), decision.default_cost());
  EXPECT_EQ(Ops(response), decision.cost());
  EXPECT_NE(decision.record().verification().method(), "");
}

// Without a worker there is no target, and no default schedule. A compiler gets
// its module back, at once and with the reason.
TEST_F(CompileServiceTest, WithoutADeviceTheModuleComesBack) {
  v1::CompileRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  request.add_specs()->set_task("kernel");
  request.mutable_patience()->set_seconds(5);
  for (const char* target : {"", "cpu:0123456789abcdef"}) {
    request.mutable_specs(0)->set_target(target);
    v1::CompileResponse response;
    grpc::ClientContext context;
    // Less than the fleet waits for a device.
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
    ASSERT_EQ(response.decisions_size(), 1);
    EXPECT_EQ(response.decisions(0).source(), v1::Decision::DEFAULT);
    EXPECT_EQ(response.decisions(0).task(), "kernel");
    EXPECT_THAT(response.decisions(0).missing(), HasSubstr("no worker offers"));
    EXPECT_EQ(response.module(), kModule);
  }
}

TEST_F(CompileServiceTest, PatienceThatRunsOutGivesTheDefault) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->set_optimizer("random");
  request.mutable_specs(0)->mutable_budget()->set_trials(1'000'000'000);
  const v1::CompileResponse response = CompileByDefault(request);
  EXPECT_EQ(response.decisions(0).source(), v1::Decision::DEFAULT);
  EXPECT_NE(response.decisions(0).tuning(), "");
}

TEST_F(CompileServiceTest, AFullQueueStillCompiles) {
  TuneWithoutEnd(1);
  const v1::CompileResponse response =
      CompileByDefault(RequestFor(std::string(kModule)));
  EXPECT_EQ(response.decisions(0).source(), v1::Decision::DEFAULT);
  EXPECT_EQ(response.decisions(0).tuning(), "");
  EXPECT_GT(Ops(response), 0);
}

TEST_F(CompileServiceTest, WritesProtosWhenAsked) {
  const v1::Record record = TuneToEnd(kModule);
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_patience()->set_seconds(60);
  const v1::CompileResponse text = Compile(request);
  request.set_format(v1::MODULE_FORMAT_PROTO);
  const v1::CompileResponse proto = Compile(request);
  EXPECT_EQ(proto.decisions(0).source(), v1::Decision::CACHE);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module from_text,
                            hlo::ParseHloText(text.module()));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module from_proto,
                            hlo::ParseHloProto(proto.module()));
  EXPECT_EQ(hlo::Fingerprint(from_text), hlo::Fingerprint(from_proto));
}

// The second task works on the module of the first.
TEST_F(CompileServiceTest, TasksAreAppliedOneAfterTheOther) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->mutable_options()->mutable_pass_order()->set_score(
      v1::PassOrderOptions::OPS);
  request.add_specs()->mutable_options()->mutable_pass_order()->set_score(
      v1::PassOrderOptions::XLA);
  request.mutable_patience()->set_seconds(240);
  for (const v1::Decision::Source source :
       {v1::Decision::TUNED, v1::Decision::CACHE}) {
    v1::CompileResponse response;
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
    ASSERT_EQ(response.decisions_size(), 2);
    const v1::Decision& first = response.decisions(0);
    const v1::Decision& second = response.decisions(1);
    EXPECT_EQ(first.source(), source) << first.DebugString();
    EXPECT_EQ(second.source(), source) << second.DebugString();
    EXPECT_EQ(first.unit(), "ops");
    EXPECT_EQ(second.unit(), "ns");
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module between,
        hlo::ParseHloText(Download(first.record().tuned_module_digest())));
    EXPECT_EQ(second.record().key().module_fingerprint(),
              hlo::Fingerprint(between));
    EXPECT_EQ(response.module(),
              Download(second.record().tuned_module_digest()));
  }
}

TEST_F(CompileServiceTest, ATaskWithoutAnAnswerLeavesTheModuleToTheNext) {
  const v1::Record record = TuneToEnd(kModule);
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->set_task("kernel");
  request.add_specs();
  request.add_specs()->set_task("kernel");
  request.mutable_patience()->set_seconds(60);
  v1::CompileResponse response;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
  ASSERT_EQ(response.decisions_size(), 3);
  EXPECT_THAT(response.decisions(0).missing(), HasSubstr("no worker offers"));
  EXPECT_EQ(response.decisions(1).source(), v1::Decision::CACHE);
  EXPECT_THAT(response.decisions(2).missing(), HasSubstr("no worker offers"));
  EXPECT_EQ(Ops(response), record.best_cost());
}

TEST_F(CompileServiceTest, TheTasksShareThePatience) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  for (int seed = 1; seed <= 2; ++seed) {
    if (seed == 2) request.add_specs();
    v1::TuningSpec& spec = *request.mutable_specs(seed - 1);
    spec.set_optimizer("random");
    spec.set_seed(static_cast<uint64_t>(seed));
    spec.mutable_budget()->set_trials(1'000'000'000);
  }
  // The first tuning does not end, and for the second there is no room; both
  // tasks get their turn and their default.
  request.mutable_patience()->set_seconds(4);
  v1::CompileResponse response;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
  ASSERT_EQ(response.decisions_size(), 2);
  EXPECT_NE(response.decisions(0).tuning(), "");
  EXPECT_EQ(response.decisions(1).tuning(), "");
  for (const v1::Decision& decision : response.decisions()) {
    EXPECT_EQ(decision.source(), v1::Decision::DEFAULT);
    EXPECT_EQ(decision.missing(), "");
  }
}

TEST_F(CompileServiceTest, TooManyOrUnknownTasksAreRefused) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.add_specs()->set_task("knitting");
  v1::CompileResponse response;
  {
    grpc::ClientContext context;
    EXPECT_EQ(compile_->Compile(&context, request, &response).error_code(),
              grpc::StatusCode::NOT_FOUND);
  }
  request.mutable_specs()->RemoveLast();
  while (request.specs_size() < 9) request.add_specs();
  grpc::ClientContext context;
  const grpc::Status status = compile_->Compile(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("field"), "specs");
}

TEST_F(CompileServiceTest, TheModuleComesByDigestWhenAsked) {
  TuneToEnd(kModule);
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_patience()->set_seconds(60);
  const v1::CompileResponse inlined = Compile(request);
  EXPECT_EQ(inlined.module_digest(), "");
  request.set_by_digest(true);
  // A proto is stored for no other reason.
  request.set_format(v1::MODULE_FORMAT_PROTO);
  const v1::CompileResponse response = Compile(request);
  EXPECT_EQ(response.module(), "");
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ParseHloProto(Download(response.module_digest())));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module text,
                            hlo::ParseHloText(inlined.module()));
  EXPECT_EQ(hlo::Fingerprint(module), hlo::Fingerprint(text));
}

TEST_F(CompileServiceTest, MalformedModulesAreNamedWithTheirPlace) {
  v1::CompileRequest request = RequestFor("HloModule m\n\nENTRY e {\n  x = \n");
  request.mutable_module()->set_file_name("bad.hlo");
  request.mutable_patience()->set_seconds(60);
  grpc::ClientContext context;
  v1::CompileResponse response;
  const grpc::Status status = compile_->Compile(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "MALFORMED_MODULE");
  EXPECT_THAT(status.error_message(), StartsWith("bad.hlo:"));
  EXPECT_THAT(status.error_message(), HasSubstr("expected"));
}

TEST_F(CompileServiceTest, UnknownNamesListTheKnownOnes) {
  v1::CompileRequest request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->set_optimizer("magic");
  v1::CompileResponse response;
  {
    grpc::ClientContext context;
    const grpc::Status status = compile_->Compile(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(status.error_message(), HasSubstr("random"));
  }
  request = RequestFor(std::string(kModule));
  request.mutable_specs(0)->set_task("knitting");
  grpc::ClientContext context;
  const grpc::Status status = compile_->Compile(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("pass_order"));
}

TEST_F(CompileServiceTest, ModulesOverGrpcsDefaultLimitAreTakenInline) {
  // Twice gRPC's default of 4 MiB.
  const std::string padded =
      "// " + std::string(8 << 20, 'x') + "\n" + std::string(kModule);
  const v1::CompileResponse response = CompileByDefault(RequestFor(padded));
  EXPECT_GT(Ops(response), 0);
}

TEST_F(CompileServiceTest, MessagesOverTheLimitAreRefused) {
  const v1::CompileRequest request = RequestFor(std::string(17 << 20, 'x'));
  grpc::ClientContext context;
  v1::CompileResponse response;
  EXPECT_EQ(compile_->Compile(&context, request, &response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace hone::testing
