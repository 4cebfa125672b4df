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

// parameter 0 is f32[8], 1 is (f32[8], s32[4], (f32[2])); so is the result, but
// for a second f32[8] behind it.
Module WithHeader(absl::string_view attributes) {
  return Parse(absl::StrCat("HloModule m, ", attributes, R"(
ENTRY e {
  p = f32[8] parameter(0)
  q = (f32[8], s32[4], (f32[2])) parameter(1)
  g = f32[8] get-tuple-element(q), index=0
  h = s32[4] get-tuple-element(q), index=1
  i = (f32[2]) get-tuple-element(q), index=2
  ROOT r = (f32[8], s32[4], (f32[2]), f32[8]) tuple(g, h, i, p)
})"));
}

TEST(Verifier, AcceptsHeadersThatFit) {
  for (absl::string_view attributes :
       {"replica_count=2", "replica_count= 2", "replica_count=0",
        "num_partitions=01", "num_partitions=9223372036854775807",
        "input_output_alias={}", "input_output_alias={ }",
        "input_output_alias={ {0}: (0, {}) }",
        "input_output_alias={ {0}: (0, {}, may-alias), }",
        "input_output_alias={{3}:(0,{},must-alias)}",
        "input_output_alias={ {0}: (1, {0}), {1}: (1, {1}), {2,0}: (1, {2, "
        "0}), "
        "{3}: (0, {}) }",
        "input_output_alias={ {0}: (1, {0,}) }",
        "input_output_alias={ /*a*/ {0}: (1, {0}) }", "buffer_donor={}",
        "buffer_donor={ (0, {}) }", "buffer_donor={ (1, {2,0}), (1, {0}), }",
        "buffer_donor={ (0, {}) }, input_output_alias={ {0}: (1, {0}) }"}) {
    EXPECT_EQ(VerifyModule(WithHeader(attributes)), absl::OkStatus())
        << attributes;
  }
}

TEST(Verifier, RejectsHeadersThatDoNotFit) {
  const std::pair<std::string, std::string> kTests[] = {
      {"replica_count=99999999999999999999",
       "module m: replica_count=99999999999999999999, expected an integer from "
       "0 to 2^63-1"},
      {"num_partitions=-4", "module m: num_partitions=-4, expected an integer"},
      {"num_partitions=+1", "num_partitions=+1, expected an integer"},
      {"num_partitions=2.5", "num_partitions=2.5, expected an integer"},
      {"replica_count=foo", "replica_count=foo, expected an integer"},
      {"replica_count={1}", "replica_count={1}, expected an integer"},
      {"input_output_alias=foo",
       "input_output_alias=foo: found foo, expected {"},
      {"input_output_alias={ {5}: (9, {3}, may-alias) }",
       "module m: input_output_alias={ {5}: (9, {3}, may-alias) }: output {5}, "
       "expected an array of (f32[8], s32[4], (f32[2]), f32[8])"},
      {"input_output_alias={ {-1}: (0, {}) }",
       "output {-1}, expected an array"},
      {"input_output_alias={ {3,0}: (0, {}) }",
       "output {3,0}, expected an arr"},
      {"input_output_alias={ {}: (0, {}) }", "output {}, expected an array of"},
      {"input_output_alias={ {2}: (1, {2}) }", "output {2}, expected an array"},
      {"input_output_alias={ {0}: (2, {}) }", "parameter 2, expected one of 2"},
      {"input_output_alias={ {0}: (-1, {}) }", "parameter -1, expected one of"},
      {"input_output_alias={ {0}: (0, {0}) }",
       "parameter 0 {0}, expected an array of f32[8]"},
      {"input_output_alias={ {0}: (1, {}) }",
       "parameter 1 {}, expected an array of (f32[8], s32[4], (f32[2]))"},
      {"input_output_alias={ {0}: (0, {}, foo) }",
       "found foo) }, expected may-alias or must-alias"},
      {"input_output_alias={ {0}: (0, {},) }", "found ) }, expected may-alias"},
      {"input_output_alias={ {0}: (0, {}, may-alias, 3) }",
       "found , 3) }, expected )"},
      {"input_output_alias={ {0}: 0 }", "found 0 }, expected (parameter, {ind"},
      {"input_output_alias={ {,}: (0, {}) }",
       "found ,}: (0, {}) }, expected {"},
      {"input_output_alias={ {0}: (99999999999999999999, {}) }",
       "expected (parameter, {index}"},
      {"input_output_alias={ {0}: (0, {}) {3}: (1, {0}) }",
       "found {3}: (1, {0}) }, expected , or }"},
      {"input_output_alias={ {1}: (0, {}) }",
       "output {1} of 16 bytes, expected 32 as parameter 0 {} has"},
      {"input_output_alias={ {0}: (0, {}), {3}: (0, {}) }",
       "parameter 0 {} again, expected one alias of it"},
      {"input_output_alias={ {0}: (0, {}), {0}: (1, {0}) }",
       "output {0} again, expected one alias of it"},
      {"buffer_donor={ 0 }", "buffer_donor={ 0 }: found 0 }, expected (par"},
      {"buffer_donor={ (2, {}) }", "parameter 2, expected one of 2"},
      {"buffer_donor={ (1, {3}) }", "parameter 1 {3}, expected an array of"},
      {"buffer_donor={ (1, {}) }", "parameter 1 {}, expected an array of"},
      {"buffer_donor={ (0, {}, may-alias) }",
       "found , may-alias) }, expected )"},
      {"buffer_donor={ (0, {}) }, input_output_alias={ {0}: (0, {}) }",
       "buffer_donor={ (0, {}) }: parameter 0 {}, expected one that has no "
       "alias"}};
  for (const auto& [attributes, message] : kTests) {
    ExpectError(WithHeader(attributes), message);
  }
}

// What a backend may store in as many bytes passes.
TEST(Verifier, ComparesSizesOfAliases) {
  const auto aliased = [](absl::string_view from, absl::string_view to) {
    return Parse(absl::StrCat(
        "HloModule m, input_output_alias={ {}: (0, {}) }\nENTRY e {\n  p = ",
        from, " parameter(0)\n  ROOT c = ", to, " custom-call(p), ",
        "custom_call_target=\"f\"\n}"));
  };
  EXPECT_EQ(VerifyModule(aliased("f32[8]", "s32[2,4]")), absl::OkStatus());
  EXPECT_EQ(VerifyModule(aliased("pred[8]", "u8[8]")), absl::OkStatus());
  EXPECT_EQ(VerifyModule(aliased("s4[8]", "s8[4]")), absl::OkStatus());
  EXPECT_EQ(VerifyModule(aliased("f32[3]{0:T(128)}", "f32[5]{0:T(128)}")),
            absl::OkStatus());
  EXPECT_EQ(VerifyModule(aliased("f32[<=8]", "f32[4]")), absl::OkStatus());
  ExpectError(aliased("f32[4]", "bf16[4]"),
              "output {} of 8 bytes, expected 16 as parameter 0 {} has");
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
