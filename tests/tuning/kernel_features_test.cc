#include "tuning/tasks/kernel_features.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "costmodels/loop_features.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "optimizers/moves.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/scripted_kernels.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;

constexpr char kMatmul[] = R"(HloModule matmul
ENTRY main {
  a = f32[48,40] parameter(0)
  b = f32[40,56] parameter(1)
  ROOT c = f32[48,56] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

class KernelFeatureMakerTest : public ::testing::Test {
 protected:
  static KernelProblemOptions Options(backends::KernelMeasurer& kernels) {
    const hlo::Module module = ParseOrDie(kMatmul);
    KernelProblemOptions options;
    options.module = hlo::PrintModule(module);
    options.program = loops::LowerToProgram(module).value();
    options.device = ScriptedKernels::Device("cpu:a");
    options.device.machine.threads = 1;
    options.kernels = &kernels;
    return options;
  }

  ScriptedKernels kernels_;
  const KernelProblem problem_{Options(kernels_)};
  KernelFeatureMaker maker_{problem_};
};

TEST_F(KernelFeatureMakerTest, MakesThoseOfTheCandidatesProgram) {
  Rng rng(1);
  std::vector<int32_t> actions;
  std::set<std::string> programs;
  for (int i = 0; i < 40; ++i) {
    const auto features = maker_.Of({actions});
    HONE_ASSERT_OK(features.status());
    const space::StatePtr state = problem_.StateOf({actions}).value();
    const KernelProblem::Schedule schedule = KernelProblem::ScheduleAt(state);
    const costmodels::LoopFeatures expected =
        costmodels::LoopFeaturesOf(schedule.program, problem_.machine());
    EXPECT_EQ((*features)->config, expected.kernel);
    EXPECT_EQ((*features)->graph->node_features, expected.graph.node_features);
    EXPECT_EQ((*features)->roofline_ns, expected.roofline_ns);
    EXPECT_EQ((*features)->program_key, schedule.program_key);
    programs.insert(loops::PrintProgram(schedule.program));
    actions = optimizers::EditSequence(problem_, actions, rng);
  }
  EXPECT_GT(programs.size(), 10);
  EXPECT_TRUE(kernels_.requests.empty());
}

TEST_F(KernelFeatureMakerTest, RemembersPrograms) {
  EXPECT_EQ(maker_.Of({}).value(), maker_.Of({}).value());
  EXPECT_EQ(maker_.OfState(problem_.InitialState()), maker_.Of({}).value());
}

TEST_F(KernelFeatureMakerTest, RefusesIllegalCandidates) {
  EXPECT_THAT(maker_.Of({{-1}}),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

}  // namespace
}  // namespace hone::tuning
