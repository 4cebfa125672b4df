// Every limit of daemon/limits.def is reached once.

#include "daemon/limits.h"

#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/analysis/evaluation_cost.h"
#include "hlo/read_module.h"
#include "tests/daemon/limits_fixture.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {

const std::map<std::string, LimitsTest::Case>& LimitsTest::Cases() {
  static const auto& cases = *new std::map<std::string, Case>{
      {"batch_steps", &LimitsTest::BatchSteps},
      {"calibration_levels", &LimitsTest::CalibrationLevels},
      {"compile_tasks", &LimitsTest::CompileTasks},
      {"completions", &LimitsTest::Completions},
      {"device_text_bytes", &LimitsTest::DeviceText},
      {"environment_calls", &LimitsTest::EnvironmentCalls},
      {"environment_idle", &LimitsTest::EnvironmentIdle},
      {"environment_memory_bytes", &LimitsTest::EnvironmentMemory},
      {"http_connections", &LimitsTest::HttpConnections},
      {"http_head_bytes", &LimitsTest::HttpHead},
      {"max_budget", &LimitsTest::BudgetTime},
      {"max_budget_trials", &LimitsTest::BudgetTrials},
      {"max_bytes_in_flight", &LimitsTest::BytesInFlight},
      {"max_chunk_bytes", &LimitsTest::LargeChunk},
      {"max_client_bytes_in_flight", &LimitsTest::ClientBytesInFlight},
      {"max_environments", &LimitsTest::Environments},
      {"max_evaluation_bytes", &LimitsTest::EvaluationBytes},
      {"max_evaluation_flops", &LimitsTest::EvaluationFlops},
      {"max_module_bytes", &LimitsTest::ModuleBytes},
      {"max_queued_tunings", &LimitsTest::QueuedTunings},
      {"max_running_tunings", &LimitsTest::RunningTunings},
      {"max_streams_per_connection", &LimitsTest::StreamsPerConnection},
      {"max_upload_bytes", &LimitsTest::UploadBytes},
      {"max_uploads", &LimitsTest::Uploads},
      {"max_waiting_calls", &LimitsTest::WaitingCalls},
      {"message_bytes", &LimitsTest::MessageBytes},
      {"min_chunk_bytes", &LimitsTest::SmallChunk},
      {"open_calls", &LimitsTest::OpenCalls},
      {"outcome_message_bytes", &LimitsTest::OutcomeMessage},
      {"page_size", &LimitsTest::PageSize},
      {"process_memory_bytes", &LimitsTest::ProcessMemory},
      {"query_digests", &LimitsTest::QueryDigests},
      {"request_id_bytes", &LimitsTest::RequestId},
      {"request_id_waits", &LimitsTest::RequestIdWaits},
      {"rpc_memory_bytes", &LimitsTest::RpcMemory},
      {"timing_samples", &LimitsTest::TimingSamples},
      {"token_bytes", &LimitsTest::Token},
      {"upload_idle", &LimitsTest::IdleUpload},
      {"work_candidates", &LimitsTest::WorkCandidates},
      {"work_error_bytes", &LimitsTest::WorkError},
      {"worker_capabilities", &LimitsTest::WorkerCapabilities},
      {"worker_devices", &LimitsTest::WorkerDevices},
      {"worker_name_bytes", &LimitsTest::WorkerName},
      {"workers", &LimitsTest::Workers},
      {"workers_per_client", &LimitsTest::WorkersPerClient},
  };
  return cases;
}

namespace {

TEST_P(LimitsTest, IsReached) {
  const auto found = Cases().find(name());
  ASSERT_NE(found, Cases().end()) << "no case reaches " << name();
  (this->*found->second)();
}

INSTANTIATE_TEST_SUITE_P(All, LimitsTest,
                         ::testing::ValuesIn(daemon::Limits().begin(),
                                             daemon::Limits().end()),
                         [](const auto& line) {
                           return std::string(line.param.name);
                         });

TEST(Limits, EveryCaseIsOfALimit) {
  EXPECT_EQ(LimitsTest::Cases().size(), daemon::Limits().size());
}

TEST(Limits, EveryBundledModuleFits) {
  const daemon::LimitValues limits;
  int modules = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           HONE_SOURCE_DIR "/bench/data/corpus")) {
    if (file.path().extension() != ".zst") continue;
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ReadModuleFile(file.path().string()));
    const hlo::EvaluationCost cost = hlo::EstimateEvaluation(module);
    EXPECT_GT(cost.bytes, 0) << file.path();
    EXPECT_LT(cost.flops, static_cast<double>(limits.max_evaluation_flops));
    EXPECT_LT(cost.bytes, static_cast<double>(limits.max_evaluation_bytes));
    ++modules;
  }
  EXPECT_GT(modules, 10);
}

using LimitValuesTest = DaemonTest;

TEST_F(LimitValuesTest, AreMetrics) {
  Start();
  for (const daemon::Limit& limit : daemon::Limits()) {
    const double value = limit.value(config_);
    EXPECT_EQ(Metric(absl::StrCat("hone_limit_value{limit=\"",
                                  std::string(limit.name), "\"}")),
              value == 0 ? -1 : value)
        << limit.name;
  }
}

}  // namespace
}  // namespace hone::testing
