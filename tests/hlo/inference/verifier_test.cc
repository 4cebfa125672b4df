#include "hlo/inference/verifier.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

Module Parse(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : Module();
}

// negate(negate(p)), ids 0 to 2.
Module Chain() {
  return Parse(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  n = f32[2] negate(p)
  ROOT r = f32[2] negate(n)
})");
}

void ExpectError(const Module& module, const std::string& message) {
  const absl::Status status = VerifyModule(module);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(Verifier, AcceptsAValidModule) {
  EXPECT_EQ(VerifyModule(Chain()), absl::OkStatus());
}

TEST(Verifier, RejectsAModuleWithoutEntry) {
  ExpectError(Module("m"), "module m: no entry computation");
}

TEST(Verifier, RejectsCyclicOperands) {
  Module module = Chain();
  module.mutable_computation(module.entry()).ReplaceOperand(1, 0, 2);
  ExpectError(module, "depends on itself, expected an acyclic graph");
}

TEST(Verifier, RejectsControlCycles) {
  Module module = Chain();
  module.mutable_computation(module.entry()).AddControlPredecessor(1, 2);
  ExpectError(module, "depends on itself, expected an acyclic graph");
}

TEST(Verifier, AcceptsOperandsThatStandBehindTheirUsers) {
  EXPECT_EQ(VerifyModule(Parse(R"(HloModule m
ENTRY e {
  ROOT r = f32[2] negate(p)
  p = f32[2] parameter(0)
})")),
            absl::OkStatus());
}

TEST(Verifier, RejectsRecursiveCalls) {
  ExpectError(Parse(R"(HloModule m
f {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=g
}
g {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=f
})"),
              "recursively, expected an acyclic call graph");
}

TEST(Verifier, RejectsCallsOfMissingComputations) {
  Module module = Chain();
  module.mutable_computation(module.entry())
      .mutable_instruction(1)
      .set_called({7});
  ExpectError(module,
              "computation e, instruction n: calls computation 7, expected one "
              "of the module");
}

TEST(Verifier, RejectsOperandsOutsideTheComputation) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  entry.AddWithForwardReferences(
      Instruction(Opcode::kNegate, entry[0].shape_ptr(), {9}));
  ExpectError(module, "instruction #3: operand id 9, expected an instruction");
}

TEST(Verifier, RejectsUsersThatOperandsDoNotKnow) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  // Without FinishForwardReferences operand 0 does not learn of its user.
  entry.AddWithForwardReferences(
      Instruction(Opcode::kNegate, entry[0].shape_ptr(), {0}));
  ExpectError(module, "instruction #3: not listed as a user of 1 operands");
}

TEST(Verifier, RejectsUsersListedTwice) {
  Module module = Parse(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  n = f32[2] negate(p)
  ROOT r = f32[2] add(p, n)
})");
  // Done a second time, it adds n to the users of p again.
  module.mutable_computation(module.entry()).FinishForwardReferences();
  ExpectError(module, "instruction n: listed twice as a user of p");
}

TEST(Verifier, RejectsTwoParametersOfOneNumber) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  entry.AddInstruction(Instruction::Parameter(0, entry[0].shape_ptr()));
  ExpectError(module,
              "instruction p: parameter number 0, expected one that no other "
              "parameter has");
}

TEST(Verifier, RejectsMissingParameters) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  entry.AddInstruction(Instruction::Parameter(2, entry[0].shape_ptr()));
  ExpectError(module, "computation e: no parameter 1, expected 3 parameters");
}

TEST(Verifier, RejectsAMissingRoot) {
  Module module = Chain();
  module.mutable_computation(module.entry()).set_root(5);
  ExpectError(module, "computation e: root id 5, expected an instruction");
}

TEST(Verifier, RejectsDuplicateNames) {
  Module module = Chain();
  module.mutable_computation(module.entry())
      .mutable_instruction(2)
      .set_name("n");
  ExpectError(module, "computation e, instruction n: duplicate name");
}

TEST(Verifier, RejectsDuplicateComputationNames) {
  Module module = Chain();
  Computation copy = module.entry_computation();
  module.AddComputation(std::move(copy));
  ExpectError(module, "computation e: duplicate name");
}

TEST(Verifier, RejectsInstructionsWithoutAShape) {
  Module module = Chain();
  module.mutable_computation(module.entry())
      .mutable_instruction(1)
      .set_shape(nullptr);
  ExpectError(module, "instruction n: no shape, expected one");
}

TEST(Verifier, RejectsSizesThatOverflow) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  const int64_t large = int64_t{1} << 31;
  entry.mutable_instruction(0).set_shape(
      Shape::Array(ElementType::kF32, {large, large}));
  ExpectError(module, "is too large, expected at most 2^62 bytes");
}

TEST(Verifier, RejectsExponentialTuples) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  ShapePtr shape = Shape::Scalar(ElementType::kPred);
  for (int i = 0; i < 60; ++i) shape = Shape::Tuple({shape, shape});
  entry.mutable_instruction(0).set_shape(shape);
  ExpectError(module, "tuple of too many parts");
}

TEST(Verifier, RejectsLayoutsThatAreNoPermutation) {
  Module module = Chain();
  Computation& entry = module.mutable_computation(module.entry());
  auto shape = std::make_shared<Shape>(ElementType::kF32,
                                       std::initializer_list<int64_t>{2, 3});
  shape->set_layout({{1, 1}, ""});
  entry.mutable_instruction(0).set_shape(shape);
  ExpectError(module, "layout {1,1} of f32[2,3]{1,1}, expected a permutation");
}

// Passes rely on this when they look for effects.
TEST(Verifier, RejectsCallsOfElementwiseOperations) {
  ExpectError(Parse(R"(HloModule m
f {
  ROOT a = f32[] parameter(0)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p), to_apply=f
})"),
              "instruction n: calls a computation, expected none of negate");
}

// Shapes are walked recursively.
TEST(Verifier, RejectsTuplesNestedTooDeeply) {
  std::string text = "HloModule m\nENTRY e {\n  t0 = f32[] constant(1)\n";
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&text, "  t", i + 1, " = tuple(t", i, ")\n");
  }
  EXPECT_THAT(
      ParseHloText(text + "  ROOT r = f32[] negate(t0)\n}\n"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("tuple nested too deeply, expected at most 500 "
                         "levels")));
}

TEST(Verifier, RejectsLiteralsOfAnotherShape) {
  Module module = Parse(R"(HloModule m
ENTRY e {
  ROOT c = f32[] constant(1)
})");
  Computation& entry = module.mutable_computation(module.entry());
  entry.mutable_instruction(0).set_literal(
      std::make_shared<const Literal>(Literal::Scalar(ElementType::kS32, 1)));
  ExpectError(module, "literal is s32[], expected f32[]");
  entry.mutable_instruction(0).set_literal(nullptr);
  ExpectError(module, "constant without a literal");
}

TEST(Verifier, RejectsEntryLayoutsThatDiffer) {
  Module module = Chain();
  const ShapePtr other = Shape::Array(ElementType::kF32, {3});
  const ShapePtr right = module.entry_result_shape();
  module.set_entry_shapes({other}, right);
  ExpectError(module, "instruction p: entry layout is f32[3], expected f32[2]");
  module.set_entry_shapes({right}, other);
  ExpectError(module, "instruction r: entry layout is f32[3], expected f32[2]");
  module.set_entry_shapes({}, right);
  ExpectError(module, "layout of 0 parameters, expected 1");
}

}  // namespace
}  // namespace hone::hlo
