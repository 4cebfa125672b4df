#include "tests/loops/lowering/lowered.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "loops/analysis/verifier.h"
#include "loops/interpreter/interpreter.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "tests/loops/lowering/plan_interpreter.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

int64_t CountArrays(const Program& program,
                    const std::vector<BufferId>& locals) {
  int64_t count = 0;
  for (BufferId id : locals) {
    count += program.buffer(id).dimensions.empty() ? 0 : 1;
  }
  return count;
}

int64_t CountIn(const Program& program, const std::vector<Node>& nodes) {
  int64_t count = 0;
  for (const Node& node : nodes) {
    if (node.loop() == nullptr) continue;
    count += CountArrays(program, node.loop()->locals);
    count += CountIn(program, node.loop()->body);
  }
  return count;
}

std::vector<hlo::Literal> Flat(const std::vector<hlo::Literal>& literals) {
  std::vector<hlo::Literal> flat;
  for (const hlo::Literal& literal : literals) {
    for (hlo::Literal& leaf : hlo::Leaves(literal))
      flat.push_back(std::move(leaf));
  }
  return flat;
}

// Returns the same bytes with another shape: a plan's complex results have
// real numbers.
hlo::Literal WithShape(const hlo::Literal& literal,
                       const hlo::ShapePtr& shape) {
  if (literal.byte_size() != shape->byte_size() ||
      hlo::Shape::Equal(literal.shape(), *shape)) {
    return literal;
  }
  hlo::Literal result(shape);
  std::copy_n(literal.data(), literal.byte_size(), result.MutableData());
  return result;
}

}  // namespace

hlo::Module ParseModule(absl::string_view text) {
  absl::StatusOr<hlo::Module> module = hlo::ParseHloText(text);
  if (module.ok()) {
    const absl::Status status = hlo::VerifyModule(*module);
    if (status.ok()) return *std::move(module);
    module = status;
  }
  ADD_FAILURE() << module.status() << "\n" << text;
  return hlo::Module();
}

std::string ModuleText(absl::string_view body, absl::string_view others) {
  return absl::StrCat("HloModule m\n", others, "\nENTRY e {\n", body, "\n}\n");
}

void ExpectSameLeaves(const hlo::Literal& expected,
                      const std::vector<hlo::Literal>& actual,
                      absl::string_view what) {
  const std::vector<hlo::Literal> leaves = hlo::Leaves(expected);
  ASSERT_EQ(leaves.size(), actual.size()) << what;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const hlo::Comparison comparison = hlo::CompareLiterals(
        leaves[i], WithShape(actual[i], leaves[i].shape_ptr()));
    EXPECT_TRUE(comparison.equal)
        << what << ": result " << i << ", element " << comparison.worst.element
        << ": " << comparison.worst.a << " by the evaluator, "
        << comparison.worst.b << " lowered";
  }
}

Program ExpectLowersRight(const hlo::Module& module) {
  if (module.entry() == hlo::kNoComputation) return Program();
  const absl::StatusOr<Program> program = LowerToProgram(module);
  HONE_EXPECT_OK(program);
  if (!program.ok()) return Program();
  const std::string text = PrintProgram(*program);
  SCOPED_TRACE(text);
  HONE_EXPECT_OK(VerifyProgram(*program));
  for (const auto kind :
       {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kAdversarial}) {
    const std::vector<hlo::Literal> arguments =
        hlo::MakeArguments(module, kind, /*seed=*/1).value();
    const absl::StatusOr<hlo::Literal> expected =
        hlo::Evaluate(module, arguments);
    HONE_EXPECT_OK(expected);
    const absl::StatusOr<std::vector<hlo::Literal>> actual =
        Interpret(*program, Flat(arguments));
    HONE_EXPECT_OK(actual);
    if (!expected.ok() || !actual.ok()) return *program;
    ExpectSameLeaves(
        *expected, *actual,
        kind == hlo::ArgumentKind::kRandom ? "random" : "adversarial");
  }
  return *program;
}

Program ExpectLowersRight(absl::string_view text) {
  return ExpectLowersRight(ParseModule(text));
}

ModulePlan ExpectPlansRight(const hlo::Module& module) {
  if (module.entry() == hlo::kNoComputation) return ModulePlan();
  const absl::StatusOr<ModulePlan> plan = LowerToPlan(module);
  HONE_EXPECT_OK(plan);
  if (!plan.ok()) return ModulePlan();
  for (const Program& kernel : plan->kernels) {
    HONE_EXPECT_OK(VerifyProgram(kernel)) << PrintProgram(kernel);
  }
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, /*seed=*/1).value();
  const absl::StatusOr<hlo::Literal> expected =
      hlo::Evaluate(module, arguments);
  HONE_EXPECT_OK(expected);
  const absl::StatusOr<std::vector<hlo::Literal>> actual =
      InterpretPlan(*plan, Flat(arguments));
  HONE_EXPECT_OK(actual);
  if (expected.ok() && actual.ok()) {
    ExpectSameLeaves(*expected, *actual, "plan");
  }
  return *plan;
}

ModulePlan ExpectPlansRight(absl::string_view text) {
  return ExpectPlansRight(ParseModule(text));
}

int64_t CountLocalArrays(const Program& program) {
  return CountArrays(program, program.locals()) +
         CountIn(program, program.body());
}

}  // namespace hone::loops
