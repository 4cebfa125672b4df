#include "bench/cost_model/kernel_groups.h"

#include <cmath>
#include <fstream>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "bench/cost_model/cost_data_set.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// The default schedule, and none at all, which takes `slowdown` as long.
KernelSamples Samples(const NamedKernel& kernel, double slowdown) {
  KernelSamples samples;
  samples.kernel = kernel;
  samples.default_ns = 1000;
  samples.calibration.threads = 1;
  const loops::Program program =
      loops::LowerToProgram(hlo::ParseHloText(kernel.module).value()).value();
  samples.samples.push_back(
      {.script = loops::PrintScript(loops::DefaultSchedule(program, {})),
       .message = "",
       .ns = 1000,
       .least_ns = 1000});
  samples.samples.push_back({.script = "",
                             .message = "",
                             .ratio = slowdown,
                             .ratio_low = slowdown,
                             .ratio_high = slowdown,
                             .ns = 1000,
                             .least_ns = 1000});
  return samples;
}

TEST(KernelGroups, TeachTimesAndTheirOrder) {
  HONE_ASSERT_OK_AND_ASSIGN(
      KernelGroup kernel,
      MakeKernelGroup(Samples(DrawKernel(0, 0), 3), /*with_graphs=*/true));
  const auto groups = KernelGroups(kernel);
  ASSERT_EQ(groups.size(), 2);
  EXPECT_EQ(groups[0].head, tuning::kKernelTimeHead);
  EXPECT_EQ(groups[1].head, tuning::kKernelScheduleHead);
  HONE_EXPECT_OK(learning::CheckGroups(tuning::KernelCostSpec(), groups));
  for (const learning::CostGroup& group : groups) {
    EXPECT_EQ(group.program, "matmul");
    ASSERT_EQ(group.samples.size(), 2);
    EXPECT_NEAR(group.samples[1].log_time, std::log(3000), 1e-9);
    EXPECT_EQ(group.samples[1].graph, kernel.schedules[1].graph);
    EXPECT_EQ(group.samples[1].config, kernel.schedules[1].config);
  }
  // One schedule has no order.
  kernel.schedules.pop_back();
  EXPECT_EQ(KernelGroups(kernel).size(), 1);
  kernel.schedules.pop_back();
  EXPECT_TRUE(KernelGroups(kernel).empty());
}

class KernelDataSetTest : public ::testing::Test {
 protected:
  KernelDataSetTest() {
    std::ofstream data(options_.data);
    for (int64_t i = 0; i < 30; ++i) {
      data << PrintKernelSamples(Samples(DrawKernel(0, i), 2)) << "\n";
    }
  }

  absl::StatusOr<learning::CostTrainingSet> Make(const std::string& split) {
    options_.split = split;
    return CostDataSets().Find("kernel").value()->make(options_);
  }
  std::string Write(const std::string& text) {
    const std::string path = folder_.path() + "/split.json";
    std::ofstream(path) << text;
    return path;
  }

  TemporaryDirectory folder_;
  CostDataOptions options_ = {.data = folder_.path() + "/data.jsonl"};
};

TEST_F(KernelDataSetTest, LeavesOutTheFamiliesOfTheManualSplit) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const learning::CostTrainingSet set,
      Make(HONE_SOURCE_DIR "/bench/data/cost_model/kernel_split.json:manual"));
  std::set<std::string> training, validation;
  for (const auto& group : set.training) training.insert(group.program);
  for (const auto& group : set.validation) validation.insert(group.program);
  EXPECT_TRUE(training.contains("matmul"));
  for (const char* held_out :
       {"attention", "depthwise", "logsumexp", "rms_norm", "scan", "swiglu",
        "batch_norm", "matmul_bias"}) {
    EXPECT_FALSE(training.contains(held_out)) << held_out;
  }
  for (const std::string& family : validation) {
    EXPECT_TRUE(family == "batch_norm" || family == "matmul_bias") << family;
  }
  EXPECT_FALSE(validation.empty());
}

TEST_F(KernelDataSetTest, TheRandomSplitIsThatOfAFileAlone) {
  const std::string path =
      Write(R"({"random": {"seed": 1, "validation": 0.3, "test": 0.3}})");
  HONE_ASSERT_OK_AND_ASSIGN(const learning::CostTrainingSet set, Make(path));
  HONE_ASSERT_OK_AND_ASSIGN(const learning::CostTrainingSet named,
                            Make(path + ":random"));
  EXPECT_EQ(set.training.size(), named.training.size());
  EXPECT_GT(set.validation.size(), 0);
  // Two groups of each of 30 kernels, but for those of the test part.
  EXPECT_LT(set.training.size() + set.validation.size(), 60);
}

TEST_F(KernelDataSetTest, NothingToTrainOnIsAnError) {
  EXPECT_THAT(Make(Write(R"({"a": {"test": 1.0}})") + ":a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no measured kernels that are trained on")));
  EXPECT_THAT(Make(Write(R"({"a": {"test": 1.0}})") + ":b"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no split 'b', expected one of: a")));
}

}  // namespace
}  // namespace hone::bench
