#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/loaded_object.h"
#include "tests/backends/native_program.h"
#include "tests/loops/program_text.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using hlo::ElementType;
using hlo::Literal;
using ::hone::testing::ParseText;
using loops::ModulePlan;
using loops::PlanFunction;
using loops::Slot;
using loops::SlotId;

// Makes the slots of a function.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::string name) { f_.name = std::move(name); }

  SlotId Parameter(hlo::ShapePtr shape) {
    f_.parameters.push_back(Add({std::move(shape), nullptr, -1}));
    return f_.parameters.back();
  }
  SlotId Result(hlo::ShapePtr shape) {
    f_.results.push_back(Add({std::move(shape), nullptr, -1}));
    return f_.results.back();
  }
  SlotId Constant(Literal literal) {
    return Add(
        {literal.shape_ptr(), std::make_shared<const Literal>(literal), -1});
  }
  SlotId InArena(hlo::ShapePtr shape) {
    const int64_t offset = f_.arena_bytes;
    f_.arena_bytes += 64;
    return Add({std::move(shape), nullptr, offset});
  }
  void Step(loops::PlanStep step) { f_.steps.push_back(std::move(step)); }
  PlanFunction Finish() { return std::move(f_); }

 private:
  SlotId Add(Slot slot) {
    f_.slots.push_back(std::move(slot));
    return static_cast<SlotId>(f_.slots.size() - 1);
  }

  PlanFunction f_;
};

Literal RunPlan(const ModulePlan& plan, std::vector<Literal> arguments,
                hlo::ShapePtr result) {
  const auto object = CompilePlan(plan, "module");
  EXPECT_THAT(object, testing::IsOk());
  const auto loaded = LoadedObject::Create(*object);
  EXPECT_THAT(loaded, testing::IsOk());
  return testing::CallEntry(*(*loaded)->Entry("module"), arguments,
                            {std::move(result)})[0];
}

const hlo::ShapePtr& S32() {
  static const auto* const shape =
      new hlo::ShapePtr(hlo::Shape::Scalar(ElementType::kS32));
  return *shape;
}
const hlo::ShapePtr& Pred() {
  static const auto* const shape =
      new hlo::ShapePtr(hlo::Shape::Scalar(ElementType::kPred));
  return *shape;
}

// (i, a, b) → (i + 1, b, a + b) while i < n: Fibonacci numbers. The body gives
// state to a result without a kernel in between.
ModulePlan Fibonacci() {
  ModulePlan plan;
  plan.kernels.push_back(ParseText(R"(
kernel less
argument i s32[]
argument n s32[]
result less pred[]
less[] = i[] < n[]
)"));
  plan.kernels.push_back(ParseText(R"(
kernel sum
argument a s32[]
argument b s32[]
result c s32[]
c[] = a[] + b[]
)"));
  FunctionBuilder condition("condition");
  {
    const SlotId i = condition.Parameter(S32());
    condition.Parameter(S32());
    condition.Parameter(S32());
    const SlotId n = condition.Parameter(S32());
    const SlotId less = condition.Result(Pred());
    condition.Step(loops::KernelStep{0, {i, n}, {less}});
  }
  FunctionBuilder body("body");
  {
    const SlotId i = body.Parameter(S32());
    const SlotId a = body.Parameter(S32());
    const SlotId b = body.Parameter(S32());
    const SlotId n = body.Parameter(S32());
    const SlotId one = body.Constant(Literal::ScalarInt(ElementType::kS32, 1));
    const SlotId next_i = body.Result(S32());
    const SlotId next_a = body.Result(S32());
    const SlotId next_b = body.Result(S32());
    const SlotId next_n = body.Result(S32());
    body.Step(loops::CopyStep{b, next_a});
    body.Step(loops::CopyStep{n, next_n});
    body.Step(loops::KernelStep{1, {i, one}, {next_i}});
    body.Step(loops::KernelStep{1, {a, b}, {next_b}});
  }
  FunctionBuilder entry("entry");
  {
    const SlotId n = entry.Parameter(S32());
    const SlotId result = entry.Result(S32());
    const SlotId zero =
        entry.Constant(Literal::ScalarInt(ElementType::kS32, 0));
    const SlotId one = entry.Constant(Literal::ScalarInt(ElementType::kS32, 1));
    std::vector<SlotId> state;
    std::vector<SlotId> next;
    for (const SlotId initial : {zero, zero, one, n}) {
      state.push_back(entry.InArena(S32()));
      next.push_back(entry.InArena(S32()));
      entry.Step(loops::CopyStep{initial, state.back()});
    }
    entry.Step(loops::WhileStep{0, 1, state, next});
    entry.Step(loops::CopyStep{state[1], result});
  }
  plan.functions.push_back(condition.Finish());
  plan.functions.push_back(body.Finish());
  plan.functions.push_back(entry.Finish());
  plan.entry = 2;
  return plan;
}

TEST(CompilePlanTest, WhileLoopsOfEvenAndOddLength) {
  const ModulePlan plan = Fibonacci();
  constexpr int kExpected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
  for (int n = 0; n < 9; ++n) {
    const Literal result =
        RunPlan(plan, {Literal::ScalarInt(ElementType::kS32, n)}, S32());
    EXPECT_EQ(result.AsInt(0), kExpected[n]) << n;
  }
}

// One of `branches` kernels, which multiply by 10, 20, …
ModulePlan Choice(ElementType selector_type, int branches) {
  ModulePlan plan;
  plan.kernels.push_back(ParseText(R"(
kernel times
argument a s32[]
argument b s32[]
result c s32[]
c[] = a[] * b[]
)"));
  loops::ConditionalStep step;
  for (int i = 0; i < branches; ++i) {
    FunctionBuilder branch("branch");
    const SlotId x = branch.Parameter(S32());
    const SlotId factor =
        branch.Constant(Literal::ScalarInt(ElementType::kS32, 10 * (i + 1)));
    const SlotId y = branch.Result(S32());
    branch.Step(loops::KernelStep{0, {x, factor}, {y}});
    plan.functions.push_back(branch.Finish());
    step.branches.push_back(i);
  }
  FunctionBuilder entry("entry");
  step.selector = entry.Parameter(hlo::Shape::Scalar(selector_type));
  const SlotId x = entry.Parameter(S32());
  step.results = {entry.Result(S32())};
  step.arguments.assign(static_cast<size_t>(branches), {x});
  entry.Step(step);
  plan.functions.push_back(entry.Finish());
  plan.entry = branches;
  return plan;
}

TEST(CompilePlanTest, ConditionalsByNumber) {
  const ModulePlan plan = Choice(ElementType::kS32, 3);
  for (const auto& [selector, expected] : std::vector<std::pair<int, int>>{
           {0, 70}, {1, 140}, {2, 210}, {3, 210}, {-1, 210}, {-100, 210}}) {
    const Literal result =
        RunPlan(plan,
                {Literal::ScalarInt(ElementType::kS32, selector),
                 Literal::ScalarInt(ElementType::kS32, 7)},
                S32());
    EXPECT_EQ(result.AsInt(0), expected) << selector;
  }
}

TEST(CompilePlanTest, ConditionalsByPredicate) {
  const ModulePlan plan = Choice(ElementType::kPred, 2);
  for (int selector = 0; selector < 2; ++selector) {
    const Literal result =
        RunPlan(plan,
                {Literal::ScalarInt(ElementType::kPred, selector),
                 Literal::ScalarInt(ElementType::kS32, 7)},
                S32());
    EXPECT_EQ(result.AsInt(0), selector == 1 ? 70 : 140);
  }
}

}  // namespace
}  // namespace hone::backends
