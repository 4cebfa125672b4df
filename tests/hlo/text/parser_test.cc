#include "hlo/text/parser.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// A module whose entry holds `lines`.
std::string Entry(const std::string& lines) {
  return absl::StrCat("HloModule m\n\nENTRY e {\n", lines, "\n}\n");
}

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : Module();
}

const Instruction& Root(const Module& module) {
  const Computation& entry = module.entry_computation();
  return entry[entry.root()];
}

const Instruction& Find(const Module& module, absl::string_view name) {
  const Computation& entry = module.entry_computation();
  for (const Instruction& i : entry.instructions()) {
    if (i.name() == name) return i;
  }
  ADD_FAILURE() << "no " << name;
  return Root(module);
}

// The value of `constant(text)` of a shape.
Literal Constant(const std::string& shape, const std::string& text) {
  const Module module =
      Parse(Entry(absl::StrCat("  c = ", shape, " constant(", text, ")")));
  return *Root(module).literal();
}

// ---- Structure ----

TEST(TextParser, ReadsModuleComputationsAndOperands) {
  const Module module = Parse(R"(HloModule jit_f, is_scheduled=true,
  replica_count=2, entry_computation_layout={(f32[2,3]{0,1})->f32[]}

region {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT sum = f32[] add(x, y)
}, execution_thread="host"

ENTRY main {
  p = f32[2,3]{0,1} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(p, zero), dimensions={0,1}, to_apply=region
}
)");
  EXPECT_EQ(module.name(), "jit_f");
  EXPECT_TRUE(module.is_scheduled());
  EXPECT_THAT(module.header(), ElementsAre(Pair("replica_count", "2")));
  ASSERT_EQ(module.entry_parameter_shapes().size(), 1u);
  EXPECT_EQ(module.entry_parameter_shapes()[0]->ToString(), "f32[2,3]{0,1}");
  ASSERT_EQ(module.computation_slots(), 2);
  EXPECT_EQ(module.computation(0).suffix(), "execution_thread=\"host\"");
  const Instruction& root = Root(module);
  EXPECT_EQ(root.opcode(), Opcode::kReduce);
  EXPECT_THAT(root.called(), ElementsAre(0));
  EXPECT_THAT(root.dimensions(), ElementsAre(0, 1));
  EXPECT_THAT(Find(module, "p").users(), ElementsAre(2));
}

TEST(TextParser, LastComputationAndLastInstructionAreTheDefaults) {
  const Module module = Parse(
      "HloModule m\nf {\n  a = f32[] parameter(0)\n}\n"
      "g {\n  b = f32[] parameter(0)\n  c = f32[] negate(b)\n}\n");
  EXPECT_EQ(module.entry_computation().name(), "g");
  EXPECT_EQ(Root(module).name(), "c");
  EXPECT_EQ(module.entry_result_shape()->ToString(), "f32[]");
}

TEST(TextParser, EveryPrintingStyleIsTheSameModule) {
  const Module plain = Parse(R"(HloModule m

f {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x)
}

ENTRY e {
  a = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  s = f32[2] add(a, c)
  ROOT r = f32[2] call(s), to_apply=f
})");
  const std::string header =
      "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n";
  for (const std::string& text :
       {// Names with %, operand shapes, signatures, layouts, metadata.
        header + R"(%f (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0), metadata={op_name="a}b" source_line=3}
  ROOT %n = f32[2]{0} negate(f32[2]{0} %x), metadata={op_name="it's"}
}

ENTRY %e (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %c = f32[2]{0} constant({1, 2})
  %s = f32[2]{0} add(f32[2]{0} %a, /*index=1*/ f32[2]{0} %c) // the sum
  ROOT %r = f32[2]{0} call(f32[2]{0} %s), to_apply=%f
})",
        // Nested operands, no shapes where they can be inferred.
        header + R"(f { x = f32[2] parameter(0) ROOT n = negate(x) }
ENTRY e {
  ROOT r = call(add(f32[2] parameter(0), f32[2] constant({1, 2}))), to_apply=f
})",
        // The callee inside of its caller; operands after their users.
        header + R"(ENTRY e {
  ROOT r = f32[2] call(s), to_apply={
    x = f32[2] parameter(0)
    ROOT n = f32[2] negate(x)
  }
  s = f32[2] add(a, c)
  c = f32[2] constant({1, 2})
  a = f32[2] parameter(0)
})",
        // The callee below its caller.
        header + R"(ENTRY e {
  a = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  s = f32[2] add(a, c)
  ROOT r = f32[2] call(s), to_apply=f
}
f {
  x = f32[2] parameter(0)
  ROOT n = f32[2] negate(x)
})",
        // Stack frame tables.
        header + R"(
FileNames
1 "a.py"
FunctionNames
1 "main"
FileLocations
1 {file_name_id=1 function_name_id=1 line=1}
StackFrames
1 {file_location_id=1 parent_frame_id=1}

f {
  x = f32[2]{0} parameter(0)
  ROOT n = f32[2]{0} negate(x), metadata={op_name="n" stack_frame_id=1}
}
ENTRY e {
  a = f32[2]{0} parameter(0)
  c = f32[2]{0} constant({1, 2})
  s = f32[2]{0} add(a, c)
  ROOT r = f32[2]{0} call(s), to_apply=f
})"}) {
    EXPECT_EQ(Fingerprint(Parse(text)), Fingerprint(plain)) << text;
  }
}

TEST(TextParser, KeepsStackFrameTablesAndMetadataVerbatim) {
  const Module module = Parse(
      "HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b { c.py\"\n\n"
      "StackFrames\n1 {file_location_id=1}\n\n"
      "e {\n  a = f32[] parameter(0), metadata={op_name=\"x y\"}\n}\n");
  EXPECT_EQ(module.stack_frame_tables(),
            "FileNames\n1 \"a.py\"\n2 \"b { c.py\"\n\n"
            "StackFrames\n1 {file_location_id=1}");
  EXPECT_EQ(*Root(module).metadata(), "op_name=\"x y\"");
}

TEST(TextParser, UnknownOpcodesKeepNameAttributesAndCallees) {
  const Module module = Parse(R"(HloModule m
f {
  x = f32[] parameter(0)
}
ENTRY e {
  p = f32[] parameter(0)
  ROOT u = ((f32[]), f32[]) frobnicate-start(p), level={1, {2}}, calls={%f, f}
})");
  const Instruction& root = Root(module);
  EXPECT_EQ(root.opcode(), Opcode::kUnknown);
  EXPECT_EQ(*root.unknown_opcode(), "frobnicate-start");
  EXPECT_THAT(root.called(), ElementsAre(0, 0));
  EXPECT_THAT(root.attributes().others,
              ElementsAre(Pair("level", "{1, {2}}"), Pair("calls", "{%, %}")));
}

TEST(TextParser, CalleesComeInTheOrderOfTheirRoles) {
  const Module module = Parse(R"(HloModule m
b {
  ROOT x = s32[] parameter(0)
}
c {
  y = s32[] parameter(0)
  ROOT z = pred[] constant(false)
}
ENTRY e {
  p = s32[] parameter(0)
  ROOT w = s32[] while(p), body=b, condition=c
})");
  EXPECT_THAT(Root(module).called(), ElementsAre(1, 0));
}

TEST(TextParser, SharesShapesAndAttributes) {
  const Module module =
      Parse(Entry("  a = f32[4] parameter(0)\n"
                  "  b = f32[4,2] broadcast(a), dimensions={0}\n"
                  "  c = f32[4,2] broadcast(a), dimensions={0}"));
  EXPECT_EQ(Find(module, "b").shape_ptr(), Find(module, "c").shape_ptr());
  EXPECT_EQ(Find(module, "b").attributes_ptr(),
            Find(module, "c").attributes_ptr());
}

TEST(TextParser, ReadsControlPredecessorsOfEitherDirection) {
  const Module module =
      Parse(Entry("  a = f32[] parameter(0), control-predecessors={%b}\n"
                  "  b = f32[] parameter(1)\n"
                  "  c = f32[] add(a, b), control-predecessors={a, b}"));
  EXPECT_THAT(module.entry_computation().control_predecessors(0),
              ElementsAre(1));
  EXPECT_THAT(module.entry_computation().control_predecessors(2),
              ElementsAre(0, 1));
}

// ---- Shapes ----

TEST(TextParser, ReadsShapesOfEveryForm) {
  for (const char* shape :
       {"f32[]", "bf16[2,3]", "f32[2,3]{0,1}",
        "f32[2,3]{1,0:T(8,128)(2,1)S(1)}", "f32[<=8,?]",
        "(f32[2], (s32[], pred[4]), ())", "token[]", "opaque[]",
        "f8e4m3fn[4]{0:E(4)}", "s4[2,2]", "c128[1]", "b(f32[8])",
        "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])"}) {
    const Module module =
        Parse(Entry(absl::StrCat("  a = ", shape, " parameter(0)")));
    EXPECT_EQ(Root(module).shape().ToString(), shape);
  }
}

TEST(TextParser, DefaultLayoutsAreNoLayouts) {
  const Module module = Parse(Entry("  a = f32[2,3]{1,0} parameter(0)"));
  EXPECT_EQ(Root(module).shape().layout(), nullptr);
}

// ---- Constants ----

TEST(TextParser, ReadsConstantsOfEveryType) {
  EXPECT_THAT(Constant("f32[3]", "{1, -2.5, 1e-06}").values<float>(),
              ElementsAre(1.0f, -2.5f, 1e-6f));
  EXPECT_THAT(
      Constant("s32[2,2]", "{ {1, -2}, /*i0=1*/ {3, 4} }").values<int32_t>(),
      ElementsAre(1, -2, 3, 4));
  EXPECT_THAT(Constant("pred[4]", "{true, false, 1, 0}").values<uint8_t>(),
              ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(Constant("u64[1]", "{18446744073709551615}").values<uint64_t>(),
              ElementsAre(std::numeric_limits<uint64_t>::max()));
  EXPECT_THAT(Constant("s4[2]", "{-8, 7}").values<int8_t>(),
              ElementsAre(-8, 7));
  EXPECT_THAT(Constant("bf16[1]", "{1.5}").values<uint16_t>(),
              ElementsAre(0x3fc0));
  EXPECT_THAT(Constant("f64[]", "0x1p-3").values<double>(), ElementsAre(0.125));
  EXPECT_THAT(Constant("f32[]", "1e-45").values<float>(),
              ElementsAre(std::numeric_limits<float>::denorm_min()));
  EXPECT_TRUE(std::signbit(Constant("f32[]", "-0").AsDouble(0)));
  const Literal complex = Constant("c64[2]", "{(1, -2), 3}");
  float parts[4];
  std::memcpy(parts, complex.data(), sizeof(parts));
  EXPECT_THAT(parts, ElementsAre(1, -2, 3, 0));
}

TEST(TextParser, KeepsTheBitsOfNansAndInfinities) {
  const Literal f32 = Constant("f32[5]", "{nan, -nan, nan(0x1), inf, -inf}");
  EXPECT_THAT(
      f32.values<uint32_t>(),
      ElementsAre(0x7fc00000, 0xffc00000, 0x7f800001, 0x7f800000, 0xff800000));
  EXPECT_THAT(Constant("bf16[2]", "{-nan(0x7f), nan}").values<uint16_t>(),
              ElementsAre(0xffff, 0x7fc0));
  EXPECT_THAT(Constant("f16[1]", "{nan(0x201)}").values<uint16_t>(),
              ElementsAre(0x7e01));
}

TEST(TextParser, ReadsTupleConstants) {
  const Literal tuple = Constant("(f32[], (s32[2]))", "(1, ({2, 3}))");
  ASSERT_EQ(tuple.elements().size(), 2u);
  EXPECT_EQ(tuple.elements()[0].AsDouble(0), 1);
  EXPECT_EQ(tuple.elements()[1].elements()[0].AsInt(1), 3);
}

TEST(TextParser, ElidedConstantsHaveNoValuesAndNoMemory) {
  const Literal elided = Constant("f32[1000000000000]", "{...}");
  EXPECT_TRUE(elided.is_elided());
  EXPECT_FALSE(Constant("f32[0,5]", "{...}").is_elided());
  EXPECT_FALSE(Constant("f32[2,0]", "{ {}, {} }").is_elided());
}

// ---- Attributes ----

TEST(TextParser, ReadsAttributesWithAFieldIntoIt) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  x = f32[2,8,8,4] parameter(0)
  k = f32[3,3,4,6] parameter(1)
  conv = f32[2,4,4,6] convolution(x, k), window={size=3x3 stride=2x2
    pad=1_0x0_1 lhs_dilate=1x2 rhs_dilate=3x1 rhs_reversal=0x1},
    dim_labels=b01f_01io->b01f, feature_group_count=2, operand_precision={high,default}
  m = f32[4,6] parameter(2)
  dot = f32[6,6] dot(m, m), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  slice = f32[2,3] slice(m), slice={[0:4:2], [1:4]}
  z = f32[] constant(0)
  pad = f32[9,7] pad(m, z), padding=1_1_1x0_1
  i = s32[3]{0} iota(), iota_dimension=0
  lt = pred[4,6] compare(m, m), direction=LT, type=TOTALORDER
  ge = pred[4,6] compare(m, m), direction=GE, type=FLOAT
  top = (f32[4,2], s32[4,2]) topk(m), k=2, largest=false
  cc = f32[] custom-call(z), custom_call_target="a\"b", sharding={replicated}
})");
  const Instruction& conv = Find(module, "conv");
  const Window& window = *conv.attributes().window;
  EXPECT_EQ(window[0], (WindowDimension{3, 2, 1, 0, 3, 1, false}));
  EXPECT_EQ(window[1], (WindowDimension{3, 2, 0, 1, 1, 2, true}));
  const ConvolutionDimensions& labels = *conv.attributes().convolution;
  EXPECT_EQ(labels.input_feature, 3);
  EXPECT_THAT(labels.kernel_spatial, ElementsAre(0, 1));
  EXPECT_EQ(labels.kernel_output_feature, 3);
  EXPECT_EQ(labels.feature_group_count, 2);
  EXPECT_THAT(conv.attributes().others,
              ElementsAre(Pair("operand_precision", "{high,default}")));
  EXPECT_THAT(Find(module, "dot").attributes().dot->lhs_contracting,
              ElementsAre(0));
  EXPECT_THAT(Find(module, "slice").attributes().slice,
              ElementsAre(SliceDimension{0, 4, 2}, SliceDimension{1, 4, 1}));
  EXPECT_THAT(
      Find(module, "pad").attributes().padding,
      ElementsAre(PaddingDimension{1, 1, 1}, PaddingDimension{0, 1, 0}));
  EXPECT_EQ(Find(module, "lt").attributes().direction,
            ComparisonDirection::kLt);
  EXPECT_EQ(Find(module, "lt").attributes().comparison_type, "TOTALORDER");
  EXPECT_EQ(Find(module, "ge").attributes().comparison_type, "");
  EXPECT_FALSE(Find(module, "top").attributes().largest);
  EXPECT_EQ(Find(module, "cc").attributes().custom_call_target, "a\"b");
  EXPECT_THAT(Find(module, "cc").attributes().others,
              ElementsAre(Pair("sharding", "{replicated}")));
}

TEST(TextParser, KeepsOtherAttributesVerbatim) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{
           {"backend_config", "\"{\\\"a\\\": \\\"}\\\"}\""},
           {"backend_config", "{\"outer\":{\"text\":\"}\\\"{\"}, \"n\": [1]}"},
           {"replica_groups", "[3,10]<=[6,5]T(1,0)"},
           {"replica_groups", "{{0,1},{2,3}}"},
           {"frontend_attributes", "{a=\"b\",c={d=1}}"},
           {"sharding", "{devices=[2,1]0,1 metadata={op_name=\"x\"}}"},
           {"literal", "s32[2] {1, 2}"},
           {"origin", "{(\"a\" {0})}"},
           {"outfeed_shape", "(f32[2]{0}, s32[])"},
       }) {
    const Module module =
        Parse(Entry(absl::StrCat("  a = f32[] custom-call(), ", name, "=",
                                 value, ", custom_call_target=\"t\"")));
    EXPECT_THAT(Root(module).attributes().others,
                ElementsAre(Pair(name, value)));
    EXPECT_EQ(Root(module).attributes().custom_call_target, "t");
  }
}

// ---- Errors ----

TEST(TextParser, EveryTruncationIsAnErrorOrAModule) {
  const std::string text = R"(HloModule m, is_scheduled=true
f (x: f32[]) -> f32[] {
  x = f32[] parameter(0), metadata={op_name="a"}
}
ENTRY e {
  a = (f32[2]{0:T(8)}, c64[]) parameter(0), sharding={{replicated}}
  c = f32[2,1] constant({ {1}, {nan(0x1)} })
  g = get-tuple-element(a), index=0
  ROOT r = f32[] custom-call(g, f32[] constant(2)), custom_call_target="x", called_computations={f}
})";
  for (size_t size = 0; size < text.size(); ++size) {
    const absl::StatusOr<Module> module = ParseHloText(text.substr(0, size));
    if (module.ok()) continue;
    EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(module.status().message()), HasSubstr("expected"));
    EXPECT_THAT(std::string(module.status().message()), Not(HasSubstr("\n")));
  }
}

TEST(TextParser, EveryBrokenByteIsAnErrorOrAModule) {
  const std::string text = Entry(
      "  a = f32[2]{0} parameter(0), metadata={op_name=\"a\"}\n"
      "  ROOT b = f32[2,2]{1,0} broadcast(a), dimensions={0}");
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'\0', '\xff', '{', '"', '(', '/', '9', '-'}) {
      std::string broken = text;
      broken[i] = c;
      const absl::StatusOr<Module> module = ParseHloText(broken);
      if (!module.ok()) {
        EXPECT_THAT(std::string(module.status().message()),
                    Not(HasSubstr("\n")));
      }
    }
  }
}

TEST(TextParser, LimitsNesting) {
  constexpr int kDepth = 100'000;
  const std::string open(kDepth, '(');
  EXPECT_THAT(ParseHloText(Entry("  a = " + open)),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("nested too deeply")));
  std::string operands;
  for (int i = 0; i < kDepth; ++i) operands += "f32[] negate(";
  EXPECT_THAT(ParseHloText(Entry("  a = f32[] negate(" + operands)),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("nested too deeply")));
  EXPECT_THAT(ParseHloText(Entry("  a = f32[] parameter(0), x=" +
                                 std::string(kDepth, '{'))),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("4:29: the '{' is never closed")));
}

TEST(TextParser, LimitsInstructions) {
  ReadLimits limits;
  limits.max_instructions = 2;
  const std::string two = "  a = f32[] parameter(0)\n  b = f32[] negate(a)\n";
  HONE_EXPECT_OK(ParseHloText(Entry(two), "f", limits));
  EXPECT_THAT(ParseHloText(Entry(two + "  c = f32[] negate(b)"), "f", limits),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("f:6:13: too many instructions")));
}

TEST(TextParser, RefusesFarTooManyInstructionsBeforeReadingThem) {
  std::string many;
  while (many.size() < (size_t{4} << 20)) many += "  a = f32[] nonsense\n";
  ReadLimits limits;
  limits.max_instructions = 1000;
  EXPECT_THAT(ParseHloText(Entry(many), "f", limits),
              testing::StatusIs(
                  absl::StatusCode::kInvalidArgument,
                  HasSubstr("f:1004:5: too many instructions, expected at "
                            "most 1000")));
}

}  // namespace
}  // namespace hone::hlo
