#include "hlo/inference/shape_inference.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;

// Computations that the cases below call.
constexpr absl::string_view kCallees = R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
pair { a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = (f32[], s32[]) tuple(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
negate { a = f32[4] parameter(0)
  ROOT r = f32[4] negate(a) }
positive { a = f32[4] parameter(0)
  ROOT r = pred[] constant(true) }
)";

absl::StatusOr<Module> Parse(absl::string_view instructions) {
  return ParseHloText(absl::StrCat(kCallees, "ENTRY e {\n", instructions, "}"));
}

// One instruction with its operands' definitions before it.
struct Case {
  std::string operands;
  std::string instruction;
  // The inferred shape, or a part of the error.
  std::string expected;
};

class InferShapeTest : public ::testing::TestWithParam<Case> {};

TEST_P(InferShapeTest, AcceptsTheInferredShape) {
  const Case& c = GetParam();
  absl::StatusOr<Module> module = Parse(
      absl::StrCat(c.operands, "\nROOT r = ", c.expected, " ", c.instruction));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(VerifyModule(*module), absl::OkStatus());
}

std::string P(int number, const std::string& shape) {
  return absl::StrCat("p", number, " = ", shape, " parameter(", number, ")\n");
}

INSTANTIATE_TEST_SUITE_P(
    Valid, InferShapeTest,
    ::testing::Values(
        Case{P(0, "c64[4]"), "abs(p0)", "f32[4]"},
        Case{P(0, "f32[4]"), "is-finite(p0)", "pred[4]"},
        Case{P(0, "f32[2,3]") + P(1, "f32[2,3]"), "add(p0, p1)", "f32[2,3]"},
        Case{P(0, "f32[4]") + P(1, "f32[4]"), "complex(p0, p1)", "c64[4]"},
        Case{P(0, "f32[4]") + P(1, "f32[4]"), "compare(p0, p1), direction=EQ",
             "pred[4]"},
        Case{P(0, "f32[4]"), "compare(p0, p0), direction=LT, type=TOTALORDER",
             "pred[4]"},
        Case{P(0, "s32[4]"), "compare(p0, p0), direction=LT, type=SIGNED",
             "pred[4]"},
        Case{P(0, "u8[4]"), "compare(p0, p0), direction=LT, type=UNSIGNED",
             "pred[4]"},
        Case{P(0, "pred[]") + P(1, "f32[4]"), "select(p0, p1, p1)", "f32[4]"},
        Case{P(0, "f32[]") + P(1, "f32[4]"), "clamp(p0, p1, p0)", "f32[4]"},
        Case{P(0, "f32[4]"), "convert(p0)", "s8[4]"},
        Case{P(0, "f32[4]"), "bitcast-convert(p0)", "u8[4,4]"},
        Case{P(0, "u8[3,4]"), "bitcast-convert(p0)", "f32[3]"},
        Case{P(0, "f32[3]"), "broadcast(p0), dimensions={1}", "f32[2,3]"},
        Case{P(0, "f32[6]"), "reshape(p0)", "f32[2,3]"},
        Case{P(0, "f32[2,3]"), "transpose(p0), dimensions={1,0}", "f32[3,2]"},
        Case{P(0, "f32[2,3]"), "reverse(p0), dimensions={0}", "f32[2,3]"},
        Case{P(0, "f32[9]"), "slice(p0), slice={[1:8:3]}", "f32[3]"},
        Case{P(0, "f32[9]") + P(1, "s32[]"),
             "dynamic-slice(p0, p1), dynamic_slice_sizes={2}", "f32[2]"},
        Case{P(0, "f32[9]") + P(1, "f32[2]") + P(2, "s32[]"),
             "dynamic-update-slice(p0, p1, p2)", "f32[9]"},
        Case{P(0, "f32[4]") + P(1, "f32[]"), "pad(p0, p1), padding=1_-2_1",
             "f32[6]"},
        Case{P(0, "f32[2,3]") + P(1, "f32[2,4]"),
             "concatenate(p0, p1), dimensions={1}", "f32[2,7]"},
        Case{"", "iota(), iota_dimension=1", "s32[2,3]"},
        Case{P(0, "f32[5,2,3]") + P(1, "f32[5,3,4]"),
             "dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, "
             "lhs_contracting_dims={2}, rhs_contracting_dims={1}",
             "f32[5,2,4]"},
        Case{P(0, "s8[2,3]") + P(1, "s8[3,4]"),
             "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
             "s32[2,4]"},
        Case{P(0, "f32[1,8,8,4]") + P(1, "f32[3,3,2,6]"),
             "convolution(p0, p1), window={size=3x3 stride=2x2 pad=1_1x1_1}, "
             "dim_labels=b01f_01io->b01f, feature_group_count=2",
             "f32[1,4,4,6]"},
        Case{P(0, "f32[2,3]") + P(1, "f32[]"),
             "reduce(p0, p1), dimensions={1}, to_apply=add", "f32[2]"},
        Case{
            P(0, "f32[2,3]") + P(1, "s32[2,3]") + P(2, "f32[]") + P(3, "s32[]"),
            "reduce(p0, p1, p2, p3), dimensions={0}, to_apply=pair",
            "(f32[3], s32[3])"},
        Case{P(0, "f32[8,8]") + P(1, "f32[]"),
             "reduce-window(p0, p1), window={size=1x3 stride=1x2 pad=0_0x0_1}, "
             "to_apply=add",
             "f32[8,4]"},
        Case{P(0, "f32[8]") + P(1, "f32[4]") + P(2, "f32[]"),
             "select-and-scatter(p0, p1, p2), window={size=2 stride=2}, "
             "select=less, scatter=add",
             "f32[8]"},
        Case{P(0, "f32[10,4]") + P(1, "s32[7,1]"),
             "gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
             "f32[7,4]"},
        Case{P(0, "f32[5,10]") + P(1, "s32[5,7,1]"),
             "gather(p0, p1), offset_dims={}, collapsed_slice_dims={1}, "
             "start_index_map={1}, operand_batching_dims={0}, "
             "start_indices_batching_dims={0}, index_vector_dim=2, "
             "slice_sizes={1,1}",
             "f32[5,7]"},
        Case{P(0, "f32[10,4]") + P(1, "s32[7,1]") + P(2, "f32[7,4]"),
             "scatter(p0, p1, p2), update_window_dims={1}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, to_apply=add",
             "f32[10,4]"},
        Case{P(0, "f32[4]"), "sort(p0), dimensions={0}, to_apply=less",
             "f32[4]"},
        Case{P(0, "f32[4]"), "map(p0, p0), dimensions={0}, to_apply=add",
             "f32[4]"},
        Case{P(0, "f32[4]") + P(1, "s32[]"), "tuple(p0, p1)",
             "(f32[4], s32[])"},
        Case{P(0, "(f32[4], s32[])"), "get-tuple-element(p0), index=1",
             "s32[]"},
        Case{P(0, "f32[4]"), "call(p0), to_apply=negate", "f32[4]"},
        Case{P(0, "f32[4]"), "while(p0), condition=positive, body=negate",
             "f32[4]"},
        Case{P(0, "s32[]") + P(1, "f32[4]"),
             "conditional(p0, p1, p1), branch_computations={negate, negate}",
             "f32[4]"},
        Case{P(0, "f32[3,3]"), "cholesky(p0), lower=true", "f32[3,3]"},
        Case{P(0, "f32[3,3]") + P(1, "f32[3,5]"),
             "triangular-solve(p0, p1), left_side=true, "
             "transpose_a=NO_TRANSPOSE",
             "f32[3,5]"},
        Case{P(0, "f32[2,8]"), "fft(p0), fft_type=RFFT, fft_length={8}",
             "c64[2,5]"},
        Case{P(0, "c64[2,5]"), "fft(p0), fft_type=IRFFT, fft_length={8}",
             "f32[2,8]"},
        Case{P(0, "f32[2,8]"), "topk(p0), k=3, largest=true",
             "(f32[2,3], s32[2,3])"},
        Case{P(0, "u64[2]"), "rng-bit-generator(p0), algorithm=rng_three_fry",
             "(u64[2], u32[7])"},
        Case{P(0, "f32[2,8]") + P(1, "f32[8]") + P(2, "f32[8]"),
             "batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1",
             "(f32[2,8], f32[8], f32[8])"},
        Case{P(0, "f32[<=8]"), "negate(p0)", "f32[8]"},
        Case{P(0, "f32[?,3]"), "negate(p0)", "f32[?,3]"},
        Case{P(0, "f32[2]"), "get-dimension-size(p0), dimensions={0}",
             "s32[]"}));

class RejectsShapeTest : public ::testing::TestWithParam<Case> {};

TEST_P(RejectsShapeTest, SaysWhatIsWrong) {
  const Case& c = GetParam();
  absl::StatusOr<Module> module =
      Parse(absl::StrCat(c.operands, "\nROOT r = ", c.instruction));
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = VerifyModule(*module);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("computation e, instruction r: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(c.expected));
}

INSTANTIATE_TEST_SUITE_P(
    Invalid, RejectsShapeTest,
    ::testing::Values(
        Case{P(0, "f32[4]"), "f32[5] negate(p0)",
             "shape f32[5], expected f32[4]"},
        Case{P(0, "f32[4]") + P(1, "s32[4]"), "f32[4] add(p0, p1)",
             "operand 1 is s32[4], expected element type f32"},
        Case{P(0, "f32[4]") + P(1, "f32[5]"), "f32[4] add(p0, p1)",
             "operand 1 is f32[5], expected the dimensions of operand 0"},
        Case{P(0, "f32[4]"), "f32[4] not(p0)",
             "element type f32, expected pred or an integer"},
        Case{P(0, "f32[4]"), "pred[4] compare(p0, p0), direction=LT, type=ODD",
             "comparison of f32 of type 'ODD', expected FLOAT or TOTALORDER"},
        Case{P(0, "s32[4]"),
             "pred[4] compare(p0, p0), direction=LT, type=UNSIGNED",
             "comparison of s32 of type 'UNSIGNED'"},
        Case{P(0, "c64[4]"), "pred[4] compare(p0, p0), direction=LT",
             "expected direction EQ or NE"},
        Case{P(0, "c64[4]"), "f32[4] convert(p0)", "expected a complex type"},
        Case{P(0, "f32[3]"), "f32[2,3] broadcast(p0), dimensions={0}",
             "expected dimension 0 to be 3"},
        Case{P(0, "f32[6]"), "f32[2,4] reshape(p0)",
             "expected 6 elements, not 8"},
        Case{P(0, "f32[2,3]"), "f32[2,3] transpose(p0), dimensions={0,0}",
             "dimensions={0,0}, expected distinct dimensions below 2"},
        Case{P(0, "f32[4]"), "f32[5] slice(p0), slice={[0:5]}",
             "slice [0:5:1] of dimension 0, expected 0 <= start <= limit <= 4"},
        Case{P(0, "f32[4]") + P(1, "f32[]"),
             "f32[1] dynamic-slice(p0, p1), dynamic_slice_sizes={1}",
             "index operand 1 is f32[], expected an integral scalar"},
        Case{P(0, "f32[2]") + P(1, "f32[]"),
             "f32[0] pad(p0, p1), padding=-2_-2",
             "expected a size of at least 0 that does not overflow"},
        Case{P(0, "f32[2,3]") + P(1, "f32[4,3]"),
             "f32[2,6] concatenate(p0, p1), dimensions={1}",
             "expected the sizes of f32[2,3] in all dimensions but 1"},
        Case{"", "s32[2] iota(), iota_dimension=1",
             "iota_dimension={1}, expected distinct dimensions below 1"},
        Case{P(0, "f32[2,3]") + P(1, "f32[4,3]"),
             "f32[2,3] dot(p0, p1), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}",
             "expected equal sizes of contracting dimensions 1 and 0"},
        Case{P(0, "f32[2,3]") + P(1, "f32[3,4]"),
             "s32[2,4] dot(p0, p1), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}",
             "result type s32 of operands of f32 and f32"},
        Case{P(0, "f32[1,8,4]") + P(1, "f32[3,3,6]"),
             "f32[1,6,6] convolution(p0, p1), window={size=3}, "
             "dim_labels=b0f_0io->b0f",
             "expected 4 input features of the kernel"},
        Case{P(0, "f32[2,3]") + P(1, "s32[]"),
             "f32[2] reduce(p0, p1), dimensions={1}, to_apply=add",
             "operand 1 is s32[], expected element type f32"},
        Case{P(0, "f32[2,3]") + P(1, "f32[]"),
             "f32[2] reduce(p0, p1), dimensions={1}, to_apply=less",
             "to_apply less returns pred[], expected f32[]"},
        Case{P(0, "f32[8]") + P(1, "f32[3]") + P(2, "f32[]"),
             "f32[8] select-and-scatter(p0, p1, p2), window={size=2 stride=2}, "
             "select=less, scatter=add",
             "source is f32[3], expected f32[4]"},
        Case{P(0, "f32[10,4]") + P(1, "s32[7,2]"),
             "f32[7,4] gather(p0, p1), offset_dims={1}, "
             "collapsed_slice_dims={0}, start_index_map={0}, "
             "index_vector_dim=1, slice_sizes={1,4}",
             "start_index_map has 1 entries, expected 2"},
        Case{P(0, "f32[10,4]") + P(1, "s32[7,1]") + P(2, "f32[7,5]"),
             "f32[10,4] scatter(p0, p1, p2), update_window_dims={1}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, to_apply=add",
             "updates are f32[7,5], expected at most 4 in dimension 1"},
        Case{P(0, "f32[4]"), "f32[4] sort(p0), dimensions={0}, to_apply=add",
             "to_apply add returns f32[], expected pred[]"},
        Case{P(0, "(f32[4])"), "f32[4] get-tuple-element(p0), index=1",
             "index 1 into a tuple of 1 elements"},
        Case{P(0, "f32[5]"), "f32[4] call(p0), to_apply=negate",
             "callee negate has parameter 0 of f32[4], expected f32[5]"},
        Case{P(0, "f32[4]"), "f32[4] while(p0), condition=negate, body=negate",
             "condition negate returns f32[4], expected pred[]"},
        Case{P(0, "f32[]") + P(1, "f32[4]"),
             "f32[4] conditional(p0, p1, p1), "
             "branch_computations={negate, negate}",
             "operand 0 is f32[] for 2 branches"},
        Case{P(0, "f32[3,4]"), "f32[3,4] cholesky(p0)",
             "expected square matrices"},
        Case{P(0, "c64[2,5]"),
             "f32[2,9] fft(p0), fft_type=IRFFT, "
             "fft_length={10}",
             "expected dimension 1 of size 6"},
        Case{P(0, "f32[2]"), "(f32[3], s32[3]) topk(p0), k=3", "k=3 of f32[2]"},
        Case{P(0, "f32[2]"), "s64[] get-dimension-size(p0), dimensions={0}",
             "shape s64[], expected s32[]"}));

// Users of a verified module take callees and operands for granted, also where
// sizes are unbounded.
INSTANTIATE_TEST_SUITE_P(
    WithoutCallees, RejectsShapeTest,
    ::testing::Values(
        Case{P(0, "f32[4]"), "((f32[4]), f32[4], s32[]) async-start(p0)",
             "0 called computations, expected 1"},
        Case{P(0, "f32[?]"), "f32[?] fusion(p0), kind=kLoop",
             "0 called computations, expected 1"},
        Case{P(0, "f32[?]"), "f32[?] call(p0)",
             "0 called computations, expected 1"},
        Case{P(0, "f32[?]"), "f32[?] while(p0), body=negate",
             "1 called computations, expected 2"},
        Case{P(0, "f32[?]"), "f32[?] conditional(p0)",
             "0 called computations, expected at least 1"},
        Case{P(0, "f32[4]"), "f32[4] all-reduce-start(p0)",
             "0 called computations, expected 1"},
        Case{P(0, "f32[?]"),
             "f32[?] scatter(p0, p0), update_window_dims={}, "
             "inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
             "index_vector_dim=0, to_apply=add",
             "2 operands, expected at least 3"},
        Case{"", "f32[?] dynamic-slice(), dynamic_slice_sizes={}",
             "0 operands, expected at least 1"}));

std::string AsyncStart() {
  return P(0, "f32[4]") +
         "s = ((f32[4]), f32[4], s32[]) async-start(p0), calls=negate\n";
}
std::string CopyStart() {
  return P(0, "f32[4]") + "s = (f32[4], f32[4], u32[]) copy-start(p0)\n";
}
std::string GatherStart() {
  return P(0, "f32[4]") +
         "s = (f32[4], f32[8]) all-gather-start(p0), dimensions={0}\n";
}
std::string ReduceStart() {
  return P(0, "f32[4]") + "s = f32[4] all-reduce-start(p0), to_apply=add\n";
}
std::string PermuteStart() {
  return P(0, "f32[4]") +
         "s = (f32[4], f32[4], u32[]) collective-permute-start(p0), "
         "source_target_pairs={{0,1}}\n";
}

INSTANTIATE_TEST_SUITE_P(
    Asynchronous, InferShapeTest,
    ::testing::Values(
        Case{AsyncStart(), "async-done(s)", "f32[4]"},
        Case{AsyncStart(), "async-done(s), calls=negate", "f32[4]"},
        Case{AsyncStart() + "u = ((f32[4]), f32[4], s32[]) async-update(s)\n",
             "async-done(u)", "f32[4]"},
        Case{P(0, "f32[4]"), "async-start(p0), calls=negate",
             "((f32[4]), f32[4])"},
        Case{CopyStart(), "copy-done(s)", "f32[4]"},
        Case{GatherStart(), "all-gather-done(s)", "f32[8]"},
        Case{P(0, "f32[4]") + P(1, "f32[2]"),
             "all-gather-start(p0, p1), dimensions={0}",
             "((f32[4], f32[2]), (f32[8], f32[4]))"},
        Case{ReduceStart(), "all-reduce-done(s)", "f32[4]"},
        Case{P(0, "f32[4]") + P(1, "f32[2]"),
             "all-reduce-start(p0, p1), to_apply=add", "(f32[4], f32[2])"},
        Case{PermuteStart(), "collective-permute-done(s)", "f32[4]"},
        Case{P(0, "f32[4]") + P(1, "f32[2]"),
             "collective-permute-start(p0, p1), source_target_pairs={{0,1}}",
             "((f32[4], f32[2]), (f32[4], f32[2]))"}));

INSTANTIATE_TEST_SUITE_P(
    InvalidAsynchronous, RejectsShapeTest,
    ::testing::Values(
        Case{P(0, "f32[5]"),
             "((f32[5]), f32[4], s32[]) async-start(p0), calls=negate",
             "callee negate has parameter 0 of f32[4], expected f32[5]"},
        Case{P(0, "f32[4]"),
             "((f32[5]), f32[4], s32[]) async-start(p0), calls=negate",
             "expected a tuple that begins with (f32[4]) and f32[4]"},
        Case{P(0, "f32[4]"),
             "((f32[4]), f32[5], s32[]) async-start(p0), calls=negate",
             "expected a tuple that begins with (f32[4]) and f32[4]"},
        Case{P(0, "f32[4]"), "(f32[4], f32[4]) async-start(p0), calls=negate",
             "expected a tuple that begins with (f32[4]) and f32[4]"},
        Case{P(0, "f32[4]"), "f32[4] async-done(p0)",
             "operand 0 is parameter 'p0', expected async-start or "
             "async-update"},
        Case{P(0, "f32[4]"), "f32[4] async-update(p0)",
             "expected async-start or async-update"},
        Case{AsyncStart(), "f32[5] async-done(s)",
             "shape f32[5], expected f32[4]"},
        Case{AsyncStart(), "f32[4] async-done(s), calls=positive",
             "another callee than 's', expected the same or none"},
        Case{AsyncStart(), "((f32[4]), f32[4], u32[]) async-update(s)",
             "expected ((f32[4]), f32[4], s32[])"},
        Case{P(0, "f32[4]"), "f32[4] copy-start(p0)",
             "expected a tuple that begins with f32[4] and f32[4]"},
        Case{P(0, "f32[4]"), "f32[4] copy-done(p0)",
             "operand 0 is parameter 'p0', expected copy-start"},
        Case{CopyStart(), "f32[5] copy-done(s)",
             "shape f32[5], expected f32[4]"},
        Case{P(0, "f32[4]"),
             "(f32[4], f32[9]) all-gather-start(p0), dimensions={0}",
             "expected a multiple of dimension 0"},
        Case{P(0, "f32[4]"),
             "(f32[5], f32[8]) all-gather-start(p0), dimensions={0}",
             "expected a tuple that begins with f32[4] and f32[8]"},
        Case{P(0, "f32[4]"),
             "(f32[4], f32[8]) all-gather-start(p0), dimensions={9}",
             "expected distinct dimensions below 1"},
        Case{P(0, "f32[4]"), "f32[8] all-gather-start(p0), dimensions={0}",
             "expected a tuple of operands and results"},
        Case{GatherStart(), "f32[4] all-gather-done(s)",
             "shape f32[4], expected f32[8]"},
        Case{CopyStart(), "f32[4] all-gather-done(s)",
             "operand 0 is copy-start 's', expected all-gather-start"},
        Case{P(0, "f32[4]"), "f32[5] all-reduce-start(p0), to_apply=add",
             "shape f32[5], expected f32[4]"},
        Case{P(0, "f32[4]"), "f32[4] all-reduce-done(p0)",
             "expected all-reduce-start"},
        Case{P(0, "f32[4]"),
             "(f32[4], f32[5]) collective-permute-start(p0), "
             "source_target_pairs={{0,1}}",
             "expected a tuple that begins with f32[4] and f32[4]"},
        Case{PermuteStart(), "f32[5] collective-permute-done(s)",
             "shape f32[5], expected f32[4]"},
        Case{P(0, "f32[4]"), "f32[4] collective-permute-done(p0)",
             "expected collective-permute-start"},
        Case{"t = token[] after-all()\n"
             "s = (f32[4], u32[], token[]) recv(t)\n",
             "token[] send-done(s)", "expected the result of a send"},
        Case{P(0, "f32[4]") + "t = token[] after-all()\n"
                              "s = (f32[4], u32[], token[]) send(p0, t)\n",
             "(f32[4], token[]) recv-done(s)",
             "expected the result of a recv"}));

TEST(InferShape, EchoesForeignTextInOneLine) {
  absl::StatusOr<Module> module =
      Parse(P(0, "f32[4]") +
            "ROOT r = f32[4] collective-permute(p0), "
            "source_target_pairs={{0,1},\n {0,2}}");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(std::string(VerifyModule(*module).message()),
              HasSubstr("source_target_pairs={{0,1},\\n {0,2}} has 0 twice"));
}

TEST(InferShape, IsNullWhereOperandsDoNotDetermineIt) {
  absl::StatusOr<Module> module = Parse(
      "p0 = f32[4] parameter(0)\n"
      "c = s32[9] custom-call(p0), custom_call_target=\"t\"\n"
      "ROOT u = f32[1,2] no-such-opcode(c)\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const Computation& entry = module->entry_computation();
  for (InstructionId id : entry.LiveInstructions()) {
    absl::StatusOr<ShapePtr> shape = InferShape(*module, entry, entry[id]);
    ASSERT_TRUE(shape.ok());
    EXPECT_EQ(*shape, nullptr);
  }
}

TEST(InferShape, NeedsNoShapeYet) {
  absl::StatusOr<Module> module =
      Parse("p0 = f32[2,3] parameter(0)\nROOT r = f32[2,3] negate(p0)\n");
  ASSERT_TRUE(module.ok()) << module.status();
  Instruction transpose(Opcode::kTranspose, nullptr, {0}, [] {
    auto attributes = std::make_shared<Attributes>();
    attributes->dimensions = {1, 0};
    return attributes;
  }());
  absl::StatusOr<ShapePtr> shape =
      InferShape(*module, module->entry_computation(), transpose);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ((*shape)->ToString(), "f32[3,2]");
}

}  // namespace
}  // namespace hone::hlo
