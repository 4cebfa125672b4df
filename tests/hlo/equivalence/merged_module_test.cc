#include "hlo/equivalence/merged_module.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// A sum of x, under another name for the region, and `second`.
Module Sum(const std::string& region, const std::string& second) {
  absl::StatusOr<Module> module =
      ParseHloText("HloModule m\n" + region + R"( {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  zero = f32[] constant(0)
  total = f32[] reduce(x, zero), dimensions={0}, to_apply=)" +
                   region + "\n  other = f32[4] " + second +
                   R"(
  ROOT t = (f32[], f32[4]) tuple(total, other)
})");
  HONE_EXPECT_OK(module);
  return module.ok() ? *std::move(module) : Module();
}

std::vector<Literal> Inputs() {
  std::vector<Literal> inputs;
  for (double scale : {1, 10}) {
    Literal values(Shape::Array(ElementType::kF32, {4}));
    for (int64_t i = 0; i < 4; ++i) {
      values.SetDouble(i, scale * static_cast<double>(i));
    }
    inputs.push_back(values);
  }
  return inputs;
}

TEST(MergedModule, ComputesBothAndEqualPartsOnce) {
  const MergedModule merged(Sum("add", "add(x, y)"),
                            Sum("plus", "subtract(x, y)"));
  HONE_EXPECT_OK(VerifyModule(merged.module()));
  EXPECT_EQ(merged.output_count(), 2);
  EXPECT_TRUE(merged.has_tuple());
  EXPECT_TRUE(merged.IsShared(0));
  EXPECT_FALSE(merged.IsShared(1));
  HONE_ASSERT_OK_AND_ASSIGN(const Literal result,
                            Evaluate(merged.module(), Inputs()));
  ASSERT_EQ(result.elements().size(), 4u);
  EXPECT_EQ(result.elements()[0].AsDouble(0), 6);
  EXPECT_EQ(result.elements()[1].AsDouble(0), 6);
  EXPECT_EQ(result.elements()[2].AsDouble(1), 11);
  EXPECT_EQ(result.elements()[3].AsDouble(1), -9);
}

// A pass that merged instructions wrongly must not be followed.
TEST(MergedModule, KeepsEqualInstructionsOfOneModuleApart) {
  const auto twice = [](const std::string& lines) {
    absl::StatusOr<Module> module = ParseHloText(
        "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] "
        "sine(x)\n" +
        lines + "\n}");
    HONE_EXPECT_OK(module);
    return module.ok() ? *std::move(module) : Module();
  };
  const MergedModule merged(
      twice("  b = f32[4] sine(x)\n  ROOT r = f32[4] add(a, b)"),
      twice("  ROOT r = f32[4] add(a, a)"));
  int64_t sines = 0;
  for (const Instruction& i :
       merged.module().entry_computation().instructions()) {
    sines += i.opcode() == Opcode::kSine ? 1 : 0;
  }
  EXPECT_EQ(sines, 2);
  EXPECT_FALSE(merged.IsShared(0));
  EXPECT_FALSE(merged.has_tuple());
}

TEST(MergedModule, SlicesAndReplacesValues) {
  const MergedModule merged(Sum("add", "add(x, y)"),
                            Sum("add", "subtract(x, y)"));
  const Computation& entry = merged.module().entry_computation();
  const InstructionId of_a = entry[entry.root()].operand(2);
  const InstructionId of_b = entry[entry.root()].operand(3);
  EXPECT_TRUE(merged.IsOfA(of_a));
  EXPECT_FALSE(merged.IsOfA(of_b));
  const std::vector<int64_t> outputs = {1};
  HONE_ASSERT_OK_AND_ASSIGN(Literal result,
                            Evaluate(merged.Slice(outputs, {}), Inputs()));
  ASSERT_EQ(result.elements().size(), 2u);
  EXPECT_EQ(result.elements()[1].AsDouble(1), -9);
  HONE_ASSERT_OK_AND_ASSIGN(
      result, Evaluate(merged.Slice(outputs, {{{of_b, of_a}}}), Inputs()));
  EXPECT_EQ(result.elements()[1].AsDouble(1), 11);
}

}  // namespace
}  // namespace hone::hlo
