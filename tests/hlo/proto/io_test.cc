#include "hlo/proto/io.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// Text → module → proto → module: what it prints, and that it is the same.
std::string RoundTrip(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_THAT(module, IsOk());
  if (!module.ok()) return "";
  absl::StatusOr<std::string> proto = SerializeHloProto(*module);
  EXPECT_THAT(proto, IsOk());
  if (!proto.ok()) return "";
  absl::StatusOr<Module> again = ParseHlo(*proto, "proto");
  EXPECT_THAT(again, IsOk());
  if (!again.ok()) return "";
  EXPECT_THAT(VerifyModule(*again), IsOk());
  EXPECT_EQ(Fingerprint(*again), Fingerprint(*module));
  return PrintModule(*again);
}

TEST(ProtoIo, CorpusSurvivesARoundTrip) {
  for (const hone::testing::CorpusModule& module :
       hone::testing::CorpusModules()) {
    SCOPED_TRACE(module.name);
    // Constants that were left out of the text have no proto.
    RoundTrip(absl::StrReplaceAll(
        module.text, {{"s32[351,2]{1,0} constant({...})",
                       "s32[351,2]{1,0} iota(), iota_dimension=0"}}));
  }
}

class AttributeRoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(AttributeRoundTrip, KeepsTheText) {
  const std::string text = absl::StrCat(R"(HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  p = f32[4,4]{1,0} parameter(0)
  t = token[] after-all()
  ROOT r = )",
                                        GetParam(), "\n}\n");
  EXPECT_THAT(RoundTrip(text), HasSubstr(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Known, AttributeRoundTrip,
    ::testing::Values(
        "f32[4,4]{1,0} all-reduce(p), channel_id=3, "
        "replica_groups={{0,1},{2,3}}, use_global_device_ids=true, "
        "to_apply=sum",
        "f32[4,4]{1,0} all-reduce(p), replica_groups=[2,4]<=[4,2]T(1,0), "
        "to_apply=sum",
        "f32[4,4]{1,0} collective-permute(p), "
        "source_target_pairs={{0,1},{1,0}}",
        "f32[4,4]{1,0} dot(p, p), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32_x3, "
        "operand_precision={highest,default}",
        "f32[4,4]{1,0} negate(p), sharding={devices=[2,1]<=[2]}, "
        "backend_config={\"a\":[1,2]}, "
        "frontend_attributes={a=\"b\\\"c\",d={\"x\":1}}",
        "(f32[4,4]{1,0}, f32[4,4]{1,0}) tuple(p, p), "
        "sharding={{replicated}, {manual}}",
        "f32[4,4]{1,0} negate(p), sharding={devices=[2,1,2]<=[2,2]T(1,0) "
        "last_tile_dim_replicate}",
        "f32[4,4]{1,0} custom-call(p), custom_call_target=\"foo\", "
        "operand_layout_constraints={f32[4,4]{0,1}}, "
        "custom_call_has_side_effect=true, "
        "output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_LATEST, "
        "api_version=API_VERSION_STATUS_RETURNING, backend_config=\"x\\001\"",
        "f32[4,4]{1,0} exponential(p), result_accuracy={mode=highest}",
        "f32[4,4]{1,0} exponential(p), "
        "result_accuracy={tolerance={atol=1e-05,rtol=0.1,ulps=2}}",
        "f32[4,4]{1,0} triangular-solve(p, p), left_side=true, lower=true, "
        "transpose_a=TRANSPOSE",
        "pred[4,4]{1,0} compare(p, p), direction=LT, type=TOTALORDER",
        "token[] outfeed(p, t), outfeed_shape=f32[4,4]{1,0}, "
        "outfeed_config=\"abc\"",
        "f32[16]{0} reshape(p), inferred_dimension=0",
        "f32[4,4]{0,1:T(8,128)(2,1)E(4)S(1)} copy(p)"));

INSTANTIATE_TEST_SUITE_P(
    WithoutAProtoField, AttributeRoundTrip,
    ::testing::Values(
        "f32[4,4]{1,0} negate(p), origin={{\"x\"}}",
        "f32[4,4]{1,0} negate(p), an_attribute_of_tomorrow={ a, \"}\" }",
        "f32[4,4]{1,0} negate(p), sharding={ replicated }",
        "f32[4,4]{1,0} an-opcode-of-tomorrow(p), dimensions={1}",
        "f32[] an-opcode-of-tomorrow(p), to_apply=sum"));

// Quotes that are not needed stay, and the attribute stays one.
TEST(ProtoIo, KeepsQuotedFrontendAttributesOnce) {
  const std::string printed = RoundTrip(
      "HloModule m, frontend_attributes={a=\"{}\"}\n\nENTRY e {\n"
      "  ROOT p = f32[] parameter(0), frontend_attributes={b=\"{}\"}\n}\n");
  for (const std::string part :
       {"frontend_attributes={a=\"{}\"}", "frontend_attributes={b=\"{}\"}"}) {
    EXPECT_THAT(printed, HasSubstr(part));
  }
  const size_t first = printed.find("frontend_attributes");
  const size_t second = printed.find("frontend_attributes", first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(printed.find("frontend_attributes", second + 1), std::string::npos);
}

TEST(ProtoIo, KeepsHeaderTablesAndMetadata) {
  const std::string text = R"(HloModule m, is_scheduled=true, )"
                           R"(input_output_alias={ {}: (0, {}, must-alias) }, )"
                           R"(replica_count=2, frontend_attributes={a="x"}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=6 column=7 end_column=8}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  p = f32[] parameter(0)
  b = f32[] negate(p), metadata={op_name="n" stack_frame_id=1}
  a = f32[] negate(p), control-predecessors={b}
  ROOT r = f32[] add(a, b)
}, execution_thread="t"
)";
  const std::string printed = RoundTrip(text);
  for (const char* part :
       {"input_output_alias={ {}: (0, {}, must-alias) }", "replica_count=2",
        "is_scheduled=true", "frontend_attributes={a=\"x\"}",
        "line=5 end_line=6 column=7 end_column=8}",
        "metadata={op_name=\"n\" stack_frame_id=1}", "control-predecessors={",
        "execution_thread=\"t\""}) {
    EXPECT_THAT(printed, HasSubstr(part));
  }
  EXPECT_LT(printed.find("b = "), printed.find("a = "));
}

TEST(ProtoIo, KeepsLiteralsOfEveryWidth) {
  for (const char* constant :
       {"pred[2] constant({true, false})", "s4[3] constant({1, -2, 7})",
        "u4[3] constant({1, 2, 15})", "s8[2] constant({-128, 127})",
        "s16[2] constant({-5, 6})", "u64[1] constant({18446744073709551615})",
        "f32[2] constant({nan, -inf})", "f64[1] constant({0.1})",
        "bf16[2] constant({1.5, -0})", "f16[1] constant({65504})",
        "f8e4m3fn[2] constant({1, 448})", "f4e2m1fn[2] constant({1, 0.5})",
        "c64[1] constant({(1, -2)})", "c128[] constant((0.1, 2))",
        "(s32[], f32[2]) constant((1, {2, 3}))", "f32[0] constant({})"}) {
    SCOPED_TRACE(constant);
    RoundTrip(
        absl::StrCat("HloModule m\nENTRY e {\n  ROOT c = ", constant, "\n}\n"));
  }
}

Module Small() {
  return *ParseHloText(R"(HloModule m
ENTRY e {
  p = f32[2] parameter(0)
  c = f32[2] constant({1, 2})
  ROOT r = f32[2] add(p, c)
})");
}

// The proto of Small, taken apart for a test to change.
class Parts {
 public:
  Parts() {
    module_.ParseFromString(*SerializeHloProto(Small()));
    computation_.ParseFromString(module_.computations(0));
    for (const std::string& bytes : computation_.instructions()) {
      instructions.emplace_back().ParseFromString(bytes);
    }
  }

  xla::HloModuleProto& module() { return module_; }
  xla::HloComputationProto& computation() { return computation_; }
  std::vector<xla::HloInstructionProto> instructions;

  std::string Serialize() {
    computation_.clear_instructions();
    for (const auto& instruction : instructions) {
      computation_.add_instructions(instruction.SerializeAsString());
    }
    module_.set_computations(0, computation_.SerializeAsString());
    return module_.SerializeAsString();
  }

 private:
  xla::HloModuleProto module_;
  xla::HloComputationProto computation_;
};

void ExpectInvalid(Parts& parts, const std::string& message) {
  EXPECT_THAT(ParseHloProto(parts.Serialize(), "f.pb"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(ProtoIo, WritesWhatXlaDemands) {
  Parts parts;
  EXPECT_EQ(parts.module().entry_computation_name(), "e");
  EXPECT_EQ(parts.module().entry_computation_id(), parts.computation().id());
  EXPECT_EQ(parts.module().host_program_shape().parameters_size(), 1);
  EXPECT_EQ(parts.instructions[2].opcode(), "add");
  EXPECT_EQ(parts.instructions[2].operand_ids(0), parts.instructions[0].id());
  EXPECT_EQ(parts.computation().root_id(), parts.instructions[2].id());
}

TEST(ProtoIo, ReadsAModuleWithinAnHloProto) {
  xla::HloProto outer;
  outer.set_hlo_module(Parts().Serialize());
  HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseHlo(outer.SerializeAsString(), "f.pb"));
  EXPECT_EQ(Fingerprint(module), Fingerprint(Small()));
}

TEST(ProtoIo, KeepsUnknownFields) {
  Parts parts;
  // Field 2000, a varint, in an instruction and in the module.
  const std::string unknown("\x80\x7d\x2a", 3);
  parts.instructions[2].MergeFromString(unknown);
  parts.module().MergeFromString(unknown);
  HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseHloProto(parts.Serialize()));
  // Through text as well, for the instruction.
  HONE_ASSERT_OK_AND_ASSIGN(const Module from_text,
                            ParseHloText(PrintModule(module)));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                            SerializeHloProto(from_text));
  EXPECT_THAT(bytes, HasSubstr(unknown));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string direct,
                            SerializeHloProto(module));
  xla::HloModuleProto again;
  again.ParseFromString(direct);
  again.clear_computations();
  EXPECT_THAT(again.SerializeAsString(), HasSubstr(unknown));
}

TEST(ProtoIo, RefusesElidedConstants) {
  HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(R"(HloModule m
ENTRY e {
  ROOT c = f32[9] constant({...})
})"));
  EXPECT_THAT(SerializeHloProto(module),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("computation e, instruction c: ")));
}

TEST(ProtoIo, RejectsDanglingOperands) {
  Parts parts;
  parts.instructions[2].set_operand_ids(1, 99);
  ExpectInvalid(parts, "f.pb: computation e, instruction r: operand id 99");
}

TEST(ProtoIo, RejectsDanglingRootsAndCallees) {
  Parts parts;
  parts.computation().set_root_id(99);
  ExpectInvalid(parts, "computation e: root id 99");
  Parts calls;
  calls.instructions[2].add_called_computation_ids(77);
  ExpectInvalid(calls, "instruction r: called computation id 77");
  Parts entry;
  entry.module().set_entry_computation_id(5);
  ExpectInvalid(entry, "entry computation id 5");
}

TEST(ProtoIo, RejectsRepeatedIds) {
  Parts parts;
  parts.instructions[1].set_id(parts.instructions[0].id());
  ExpectInvalid(parts, "again, expected unique ids");
}

TEST(ProtoIo, RejectsAbsurdParameterNumbers) {
  Parts parts;
  parts.instructions[0].set_parameter_number(2'000'000'000);
  ExpectInvalid(parts, "parameter number 2000000000, expected 0 to 2");
}

TEST(ProtoIo, RejectsLiteralsThatDoNotFillTheirShape) {
  Parts parts;
  parts.instructions[1].mutable_literal()->mutable_shape()->set_dimensions(
      0, int64_t{1} << 40);
  ExpectInvalid(parts, "with 2 values or bytes of them");
}

TEST(ProtoIo, RejectsShapesThatOverflow) {
  Parts parts;
  xla::ShapeProto shape;
  shape.set_element_type(11);
  for (int i = 0; i < 3; ++i) shape.add_dimensions(int64_t{1} << 31);
  parts.instructions[0].set_shape(shape.SerializeAsString());
  ExpectInvalid(parts, "is too large, expected at most 2^62 bytes");
}

TEST(ProtoIo, RejectsDeepNesting) {
  Parts parts;
  xla::ShapeProto shape;
  for (int i = 0; i < 5000; ++i) {
    xla::ShapeProto outer;
    outer.set_element_type(13);
    *outer.add_tuple_shapes() = std::move(shape);
    shape = std::move(outer);
  }
  parts.instructions[0].set_shape(shape.SerializeAsString());
  ExpectInvalid(parts, "malformed shape");
}

TEST(ProtoIo, RejectsNamesThatTextCannotSay) {
  Parts parts;
  parts.instructions[0].set_name("a b");
  ExpectInvalid(parts, "name \"a b\", expected letters, digits");
}

TEST(ProtoIo, ErrorsAreOneLine) {
  Parts parts;
  parts.instructions[0].set_name("a\nb");
  ExpectInvalid(parts, "instruction a\\nb: name \"a\\nb\", expected letters");
}

TEST(ProtoIo, RejectsUnknownFusionKinds) {
  for (const char* kind : {"", "kBogus"}) {
    Parts parts;
    parts.instructions[2].set_opcode("fusion");
    parts.instructions[2].set_fusion_kind(kind);
    ExpectInvalid(parts, absl::StrCat("instruction r: fusion kind \"", kind,
                                      "\", expected kLoop"));
  }
}

// XLA's first enumerator of FftType is a type; that of RandomDistribution is
// none.
TEST(ProtoIo, EmptyFieldsOfRequiredAttributes) {
  Parts fft;
  fft.instructions[2].set_opcode("fft");
  HONE_ASSERT_OK_AND_ASSIGN(Module module,
                            ParseHloProto(fft.Serialize(), "f.pb"));
  EXPECT_THAT(PrintModule(module), HasSubstr("fft_type=FFT"));
  Parts permute;
  permute.instructions[2].set_opcode("collective-permute");
  HONE_ASSERT_OK_AND_ASSIGN(module, ParseHloProto(permute.Serialize(), "f.pb"));
  EXPECT_THAT(PrintModule(module), HasSubstr("source_target_pairs={}"));
  Parts rng;
  rng.instructions[2].set_opcode("rng");
  ExpectInvalid(rng, "random numbers of no distribution, expected rng_uniform");
}

// Control characters make no proto of what begins as text.
TEST(ProtoIo, ReadsDamagedTextAsText) {
  const std::string text =
      "// A comment.\n HloModule m\nENTRY e {\n"
      "  ROOT a = f32[] \x1b[31mparameter(0)\n}\n";
  for (absl::string_view mark : {"", "\xef\xbb\xbf"}) {
    EXPECT_THAT(ParseHlo(absl::StrCat(mark, text), "f"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "f:4:18: found '\\x1b', expected an opcode"));
  }
}

TEST(ProtoIo, ReadsTextBehindAByteOrderMark) {
  EXPECT_THAT(ParseHlo("\xef\xbb\xbfHloModule m\nENTRY e {\n"
                       "  ROOT a = f32[] parameter(0)\n}\n",
                       "f"),
              IsOk());
}

// A name of such a length that the proto begins with a blank, and the word.
TEST(ProtoIo, ProtosMayBeNamedAsTextBegins) {
  for (const char* name : {"HloModule", "HloModule1", "HloModule1234"}) {
    Parts parts;
    parts.module().set_name(name);
    HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseHlo(parts.Serialize(), "f.pb"));
    EXPECT_EQ(module.name(), name);
  }
}

TEST(ProtoIo, RefusesToWriteReservedFrontendAttributes) {
  for (const char* text :
       {"HloModule m, frontend_attributes={hone.text.a=\"{}\"}\n"
        "ENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n",
        "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0), "
        "frontend_attributes={hone.text.a=\"{}\"}\n}\n"}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Module module, ParseHloText(text));
    EXPECT_THAT(SerializeHloProto(module),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("hone.text.a: the name is reserved")));
  }
}

TEST(ProtoIo, RejectsTooManyInstructions) {
  ReadLimits limits;
  limits.max_instructions = 2;
  EXPECT_THAT(ParseHloProto(Parts().Serialize(), "f.pb", limits),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("too many instructions, expected at most 2")));
}

TEST(ProtoIo, RejectsEveryTruncation) {
  const std::string bytes = Parts().Serialize();
  for (size_t size = 0; size < bytes.size(); ++size) {
    absl::StatusOr<Module> module = ParseHlo(bytes.substr(0, size), "f.pb");
    // Bytes cut off behind the computations may go unnoticed.
    if (module.ok()) {
      EXPECT_THAT(VerifyModule(*module), IsOk());
    }
  }
}

TEST(ProtoIo, CyclicOperandsAreTheVerifiersToFind) {
  Parts parts;
  parts.instructions[2].set_operand_ids(0, parts.instructions[2].id());
  HONE_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseHloProto(parts.Serialize()));
  EXPECT_THAT(VerifyModule(module), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("depends on itself")));
}

}  // namespace
}  // namespace hone::hlo
