// What a module does to the process that works on it is no matter of the
// daemon's.

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/daemon/child_processes.h"
#include "tests/daemon/daemon_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;

class IsolationTest : public DaemonTest {
 protected:
  // Returns when they have ended, so that nobody takes them for alive.
  static void KillChildren() {
    const std::vector<pid_t> children = ChildProcesses();
    for (const pid_t pid : children) kill(pid, SIGKILL);
    for (const pid_t pid : children) AwaitEnd(pid);
  }

  // Functions that call each other deeper than a stack is.
  static std::string DeepModule() {
    constexpr int kDepth = 20'000;
    std::string text =
        "HloModule deep\n\n"
        "c0 {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] add(p, p)\n}\n";
    for (int i = 1; i < kDepth; ++i) {
      absl::StrAppend(&text, "c", i,
                      " {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] "
                      "call(p), to_apply=c",
                      i - 1, "\n}\n");
    }
    absl::StrAppend(&text,
                    "ENTRY e {\n  x = f32[4] parameter(0)\n  ROOT r = f32[4] "
                    "call(x), to_apply=c",
                    kDepth - 1, "\n}\n");
    return text;
  }

  // Takes 400 GB.
  static constexpr absl::string_view kHuge = R"(HloModule huge

ENTRY e {
  x = f32[100000000000] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[100000000000] broadcast(zero), dimensions={}
  ROOT y = f32[100000000000] add(x, zeros)
}
)";
};

TEST_F(IsolationTest, ATuningWhoseProcessCrashesFailsAndItsModuleIsSetAside) {
  Start();
  v1::TuneRequest request;
  request.mutable_module()->set_content(DeepModule());
  request.mutable_spec()->set_optimizer("random");
  const google::longrunning::Operation operation = Tune(request);
  const google::longrunning::Operation ended = WaitFor(operation.name());
  EXPECT_THAT(ended.error().message(), HasSubstr("signal 11"));
  EXPECT_THAT(ended.error().message(), HasSubstr("3 times"));
  v1::TuneMetadata metadata;
  ASSERT_TRUE(ended.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.tuning().error().SerializeAsString(),
            ended.error().SerializeAsString());
  EXPECT_GE(Metric("hone_process_failures_total"), 3);

  google::longrunning::Operation refused;
  grpc::ClientContext context;
  const grpc::Status status = tunings_->Tune(&context, request, &refused);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "MODULE_QUARANTINED");
  v1::ListQuarantinedModulesResponse list;
  {
    grpc::ClientContext listing;
    HONE_EXPECT_GRPC_OK(admin_->ListQuarantinedModules(&listing, {}, &list));
  }
  ASSERT_EQ(list.modules_size(), 1);
  EXPECT_THAT(list.modules(0).reason(), HasSubstr("signal 11"));
  EXPECT_EQ(Metric("hone_modules_quarantined"), 1);
  v1::ReleaseModuleRequest release;
  release.set_digest(list.modules(0).digest());
  v1::ReleaseModuleResponse released;
  {
    grpc::ClientContext releasing;
    HONE_EXPECT_GRPC_OK(admin_->ReleaseModule(&releasing, release, &released));
  }
  grpc::ClientContext again;
  EXPECT_EQ(admin_->ReleaseModule(&again, release, &released).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Metric("hone_modules_quarantined"), 0);
  // Nobody else is touched.
  EXPECT_TRUE(Healthy(""));
  TuneToEnd(kModule);
}

TEST_F(IsolationTest, AModuleLargerThanTheMachineIsCompiledToItself) {
  Start();
  v1::CompileRequest request;
  request.mutable_module()->set_content(std::string(kHuge));
  request.mutable_patience()->set_seconds(20);
  v1::CompileResponse response;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(compile_->Compile(&context, request, &response));
  EXPECT_EQ(response.module(), kHuge);
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_THAT(response.decisions(0).missing(), HasSubstr("expected less"));
  EXPECT_THAT(
      WaitFor(OperationOf(response.decisions(0).tuning())).error().message(),
      HasSubstr("the default could be verified"));
  TuneToEnd(kModule);
}

TEST_F(IsolationTest, TuningsSurviveTheEndOfTheirProcesses) {
  Start();
  const std::string running = TuneWithoutEnd(1);
  KillChildren();
  // The next one waits for the same process.
  v1::GetTuningRequest get;
  get.set_name(running);
  v1::Tuning tuning;
  while (tuning.trials() < 1) {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(tunings_->GetTuning(&context, get, &tuning));
    ASSERT_THAT(tuning.state(),
                ::testing::AnyOf(v1::Tuning::PENDING, v1::Tuning::RUNNING));
  }
  v1::CancelTuningRequest cancel;
  cancel.set_name(running);
  v1::CancelTuningResponse cancelled;
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(tunings_->CancelTuning(&context, cancel, &cancelled));
  TuneToEnd(kModule);
}

TEST_F(IsolationTest, EnvironmentsEndWithTheirProcess) {
  Start();
  v1::OpenEnvironmentRequest request;
  request.mutable_module()->set_content(std::string(kModule));
  const auto open = [&] {
    grpc::ClientContext context;
    v1::OpenEnvironmentResponse opened;
    HONE_EXPECT_GRPC_OK(
        environments_->OpenEnvironment(&context, request, &opened));
    return opened.environment().name();
  };
  const auto step = [&](const std::string& name) {
    grpc::ClientContext context;
    v1::StepRequest taking;
    taking.set_name(name);
    taking.add_actions(0);
    v1::StepResponse taken;
    return environments_->Step(&context, taking, &taken);
  };
  const std::string name = open();
  const std::string other = open();
  HONE_EXPECT_GRPC_OK(step(name));
  KillChildren();
  const grpc::Status lost = step(name);
  EXPECT_EQ(lost.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(ErrorInfoOf(lost).reason(), "ENVIRONMENT_LOST");
  EXPECT_EQ(ErrorInfoOf(step(other)).reason(), "ENVIRONMENT_LOST");
  EXPECT_EQ(ErrorInfoOf(step(name)).reason(), "ENVIRONMENT_LOST");
  HONE_EXPECT_GRPC_OK(step(open()));
  EXPECT_EQ(Metric("hone_environments_open"), 1);
}

}  // namespace
}  // namespace hone::testing
