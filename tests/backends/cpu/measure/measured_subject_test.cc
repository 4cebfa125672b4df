#include "backends/cpu/measure/measured_subject.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/loaded_object.h"
#include "backends/plan_script.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/canonical.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two kernels, as a sort is one of its own.
constexpr char kModule[] = R"(HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[8] parameter(0)
  y = f32[8] add(x, x)
  z = f32[8] sort(y), dimensions={0}, to_apply=less
  ROOT w = f32[8] negate(z)
}
)";

std::vector<float> Results(const MeasuredSubject& subject,
                           const std::string& script) {
  const auto code = subject.Schedule(script);
  HONE_EXPECT_OK(code.status());
  const auto object = (*code)->Compile("entry");
  HONE_EXPECT_OK(object.status());
  const auto loaded = LoadedObject::Create(*object);
  HONE_EXPECT_OK(loaded.status());
  const std::vector<float> x = {3, 1, 2, 8, 5, 4, 7, 6};
  std::vector<float> result(8);
  // Not all subjects have the number.
  const int32_t n = 0;
  const void* arguments[] = {x.data(), &n};
  void* results[] = {result.data()};
  EXPECT_EQ((*(*loaded)->Entry("entry"))(nullptr, arguments, results), HONE_OK);
  return result;
}

TEST(MeasuredSubject, AModuleIsScheduledKernelByKernel) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto subject,
      MeasuredSubject::Create(kModule, KernelForm::kModule));
  EXPECT_TRUE(subject->has_reference());
  ASSERT_EQ(subject->result_shapes().size(), 1);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(kModule));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::ModulePlan plan,
                            LowerToCanonicalPlan(module));
  std::vector<std::vector<loops::Step>> none(plan.kernels.size());
  std::vector<std::vector<loops::Step>> defaults;
  for (const loops::Program& kernel : plan.kernels) {
    defaults.push_back(loops::DefaultSchedule(kernel, loops::Machine{}));
  }
  const std::vector<float> expected = {-2, -4, -6, -8, -10, -12, -14, -16};
  EXPECT_EQ(Results(*subject, PrintPlanScript(none)), expected);
  EXPECT_EQ(Results(*subject, PrintPlanScript(defaults)), expected);
  none.emplace_back();
  EXPECT_THAT(subject->Schedule(PrintPlanScript(none)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected one for each of")));
  EXPECT_THAT(subject->Schedule("kernel\nfly 0\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")));
}

TEST(MeasuredSubject, ALoopProgramHasItsInterfaceAndNoReference) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module, hlo::ParseHloText(R"(
HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  n = s32[] parameter(1)
  ROOT y = f32[8] negate(x)
})"));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program lowered,
                            loops::LowerToProgram(module));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::CanonicalProgram(lowered));
  HONE_ASSERT_OK_AND_ASSIGN(
      const auto subject, MeasuredSubject::Create(loops::PrintProgram(program),
                                                  KernelForm::kProgram));
  EXPECT_FALSE(subject->has_reference());
  const hlo::Computation& entry = subject->module().entry_computation();
  ASSERT_EQ(entry.parameters().size(), 2);
  EXPECT_EQ(entry[entry.parameters()[0]].shape().ToString(), "f32[8]");
  EXPECT_EQ(entry[entry.parameters()[1]].shape().ToString(), "s32[]");
  ASSERT_EQ(subject->result_shapes().size(), 1);
  const std::vector<float> expected = {-3, -1, -2, -8, -5, -4, -7, -6};
  EXPECT_EQ(Results(*subject, ""), expected);
  EXPECT_EQ(Results(*subject, loops::PrintScript(loops::DefaultSchedule(
                                  program, loops::Machine{}))),
            expected);
}

TEST(MeasuredSubject, ArraysThatAreUpdatedHaveTheLastParameters) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto subject,
                            MeasuredSubject::Create(R"(kernel update
argument n s32[]
inout cache f32[8]
result y f32[4]
argument x f32[4]
for i0 4
| y[i0] = negate(x[i0])
for i0 4
| cache[i0] = cache[i0] + x[i0]
)",
                                                    KernelForm::kProgram));
  const hlo::Computation& entry = subject->module().entry_computation();
  std::vector<std::string> parameters;
  for (const auto parameter : entry.parameters()) {
    parameters.push_back(entry[parameter].shape().ToString());
  }
  EXPECT_THAT(parameters, ElementsAre("s32[]", "f32[4]", "f32[8]"));
  ASSERT_EQ(subject->result_shapes().size(), 2);
  EXPECT_EQ(subject->result_shapes()[0]->ToString(), "f32[8]");
  EXPECT_EQ(subject->result_shapes()[1]->ToString(), "f32[4]");
  EXPECT_THAT(subject->updated_results(), ElementsAre(0));
}

TEST(MeasuredSubject, TextOfAnotherFormIsRefused) {
  for (const KernelForm form :
       {KernelForm::kHlo, KernelForm::kProgram, KernelForm::kModule}) {
    EXPECT_FALSE(MeasuredSubject::Create("nothing", form).ok());
  }
}

}  // namespace
}  // namespace hone::backends
