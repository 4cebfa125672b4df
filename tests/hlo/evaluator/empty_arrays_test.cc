// Arrays, windows and slices without elements. Run under the address sanitizer,
// these cases also show that nothing beyond a buffer is read or written.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/literal.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

constexpr char kRegions[] = R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

subtract {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] subtract(a, b)
}

two {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  x = f32[] add(a, c)
  y = s32[] add(b, d)
  ROOT t = (f32[], s32[]) tuple(x, y)
}

lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}

ENTRY e {
)";

// The result of an entry of `lines`, as text. Parameters hold 1, 2, 3, ….
std::string ResultOf(const std::string& lines) {
  const absl::StatusOr<Module> module =
      ParseHloText(absl::StrCat(kRegions, lines, "\n}\n"));
  if (!module.ok()) return std::string(module.status().message());
  if (const absl::Status status = VerifyModule(*module); !status.ok()) {
    return std::string(status.message());
  }
  const Computation& entry = module->entry_computation();
  std::vector<Literal> arguments;
  for (InstructionId id : entry.parameters()) {
    Literal argument(entry[id].shape_ptr());
    for (int64_t i = 0; i < argument.num_elements(); ++i) {
      argument.SetInt(i, i + 1);
    }
    arguments.push_back(std::move(argument));
  }
  EvaluateOptions options;
  options.time_limit = absl::Seconds(20);
  const absl::StatusOr<Literal> result = Evaluate(*module, arguments, options);
  if (!result.ok()) return std::string(result.status().message());
  std::string text;
  AppendLiteral(*result, text);
  return text;
}

// XLA:CPU gives zeros where a collapsed slice is empty.
TEST(EmptyArrays, GatherOfEmptySlicesIsZero) {
  constexpr char kGather[] =
      " gather(x, i), collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, ";
  EXPECT_EQ(ResultOf(absl::StrCat("x = f32[3] parameter(0)\n"
                                  "i = s32[2,1] constant({{3}, {2}})\n"
                                  "ROOT r = f32[2]",
                                  kGather, "offset_dims={}, slice_sizes={0}")),
            "{0, 0}");
  EXPECT_EQ(ResultOf(absl::StrCat("x = f32[0] parameter(0)\n"
                                  "i = s32[2,1] parameter(1)\nROOT r = f32[2]",
                                  kGather, "offset_dims={}, slice_sizes={0}")),
            "{0, 0}");
  EXPECT_EQ(
      ResultOf(absl::StrCat("x = f32[0,2] parameter(0)\n"
                            "i = s32[2,1] parameter(1)\nROOT r = f32[2,2]",
                            kGather, "offset_dims={1}, slice_sizes={0,2}")),
      "{ {0, 0}, {0, 0} }");
  EXPECT_EQ(
      ResultOf(absl::StrCat("x = f32[3,4] parameter(0)\n"
                            "i = s32[2,1] parameter(1)\nROOT r = f32[2,0]",
                            kGather, "offset_dims={1}, slice_sizes={1,0}")),
      "{...}");
  EXPECT_EQ(
      ResultOf("x = f32[2,3] parameter(0)\ni = s32[2,1] parameter(1)\n"
               "ROOT r = f32[2] gather(x, i), offset_dims={}, "
               "collapsed_slice_dims={1}, start_index_map={1}, "
               "operand_batching_dims={0}, start_indices_batching_dims={0}, "
               "index_vector_dim=1, slice_sizes={0,1}"),
      "{0, 0}");
}

TEST(EmptyArrays, DynamicSlicesMoveNothing) {
  EXPECT_EQ(ResultOf("x = f32[3,2] parameter(0)\ni = s32[] constant(7)\n"
                     "ROOT r = f32[0,2] dynamic-slice(x, i, i), "
                     "dynamic_slice_sizes={0,2}"),
            "{...}");
  EXPECT_EQ(ResultOf("x = f32[3] parameter(0)\nu = f32[0] parameter(1)\n"
                     "i = s32[] constant(7)\n"
                     "ROOT r = f32[3] dynamic-update-slice(x, u, i)"),
            "{1, 2, 3}");
}

TEST(EmptyArrays, ScatterOfNothingKeepsTheOperand) {
  for (const char* region : {"add", "subtract"}) {
    const std::string scatter = absl::StrCat(
        " scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
        region);
    EXPECT_EQ(
        ResultOf(absl::StrCat("x = f32[0,4] parameter(0)\n"
                              "i = s32[2,1] parameter(1)\n"
                              "u = f32[2,4] parameter(2)\nROOT r = f32[0,4]",
                              scatter)),
        "{...}");
    EXPECT_EQ(
        ResultOf(absl::StrCat("x = f32[1,2] parameter(0)\n"
                              "i = s32[2,1] parameter(1)\n"
                              "u = f32[2,0] parameter(2)\nROOT r = f32[1,2]",
                              scatter)),
        "{ {1, 2} }");
  }
}

TEST(EmptyArrays, ReductionsOfNothingAreTheInitialValue) {
  for (const char* region : {"add", "subtract"}) {
    const auto apply = [&](const std::string& lines) {
      return ResultOf(absl::StrCat("z = f32[] constant(2)\n", lines,
                                   ", to_apply=", region));
    };
    EXPECT_EQ(apply("x = f32[0,3] parameter(0)\n"
                    "ROOT r = f32[3] reduce(x, z), dimensions={0}"),
              "{2, 2, 2}");
    EXPECT_EQ(apply("x = f32[3,0] parameter(0)\n"
                    "ROOT r = f32[0] reduce(x, z), dimensions={0}"),
              "{...}");
    EXPECT_EQ(apply("x = f32[0] parameter(0)\nROOT r = f32[3] "
                    "reduce-window(x, z), window={size=2 pad=2_2}"),
              "{2, 2, 2}");
    EXPECT_EQ(apply("x = f32[0] parameter(0)\nROOT r = f32[3] "
                    "reduce-window(x, z), window={size=2 pad=2_2 "
                    "lhs_dilate=3}"),
              "{2, 2, 2}");
    EXPECT_EQ(apply("x = f32[1] parameter(0)\nROOT r = f32[0] "
                    "reduce-window(x, z), window={size=2}"),
              "{...}");
  }
  EXPECT_EQ(ResultOf("x = f32[0,2] parameter(0)\ni = s32[0,2] parameter(1)\n"
                     "z = f32[] constant(2)\nk = s32[] constant(3)\n"
                     "ROOT r = (f32[2], s32[2]) reduce(x, i, z, k), "
                     "dimensions={0}, to_apply=two"),
            "({2, 2}, {3, 3})");
}

TEST(EmptyArrays, SelectAndScatterSelectsNothing) {
  for (const char* region : {"add", "subtract"}) {
    const auto apply = [&](const std::string& lines) {
      return ResultOf(absl::StrCat("z = f32[] constant(2)\n", lines,
                                   ", select=ge, scatter=", region));
    };
    EXPECT_EQ(apply("x = f32[0] parameter(0)\ns = f32[3] parameter(1)\n"
                    "ROOT r = f32[0] select-and-scatter(x, s, z), "
                    "window={size=2 pad=2_2}"),
              "{...}");
    EXPECT_EQ(apply("x = f32[1] parameter(0)\ns = f32[0] parameter(1)\n"
                    "ROOT r = f32[1] select-and-scatter(x, s, z), "
                    "window={size=2}"),
              "{2}");
    EXPECT_EQ(apply("x = f32[4,0] parameter(0)\ns = f32[3,0] parameter(1)\n"
                    "ROOT r = f32[4,0] select-and-scatter(x, s, z), "
                    "window={size=2x1}"),
              "{...}");
  }
}

TEST(EmptyArrays, ProductsOfNothingAreZero) {
  EXPECT_EQ(ResultOf("x = f32[2,0] parameter(0)\ny = f32[0,2] parameter(1)\n"
                     "ROOT r = f32[2,2] dot(x, y), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}"),
            "{ {0, 0}, {0, 0} }");
  EXPECT_EQ(
      ResultOf("x = f32[2,0,3] parameter(0)\ny = f32[3,0,1,2] parameter(1)\n"
               "ROOT r = f32[2,1,2] dot(x, y), lhs_contracting_dims={1,2}, "
               "rhs_contracting_dims={1,0}"),
      "{ { {0, 0} }, { {0, 0} } }");
  EXPECT_EQ(
      ResultOf("x = f32[1,0,2] parameter(0)\nk = f32[2,2,3] parameter(1)\n"
               "ROOT r = f32[1,1,3] convolution(x, k), window={size=2 "
               "pad=1_1}, dim_labels=b0f_0io->b0f"),
      "{ { {0, 0, 0} } }");
  EXPECT_EQ(
      ResultOf("x = f32[1,3,0] parameter(0)\nk = f32[2,0,1] parameter(1)\n"
               "ROOT r = f32[1,2,1] convolution(x, k), window={size=2}, "
               "dim_labels=b0f_0io->b0f"),
      "{ { {0}, {0} } }");
  EXPECT_EQ(
      ResultOf("x = f32[1,0,4] parameter(0)\nk = f32[2,1,4] parameter(1)\n"
               "ROOT r = f32[1,1,4] convolution(x, k), window={size=2 "
               "pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=4"),
      "{ { {0, 0, 0, 0} } }");
  EXPECT_EQ(
      ResultOf("x = f32[1,2,1] parameter(0)\nk = f32[2,1,1] parameter(1)\n"
               "ROOT r = f32[1,2,1] convolution(x, k), window={size=2 "
               "pad=-5_6}, dim_labels=b0f_0io->b0f"),
      "{ { {0}, {0} } }");
}

TEST(EmptyArrays, PaddingCutsEverythingOff) {
  const auto pad = [](const std::string& operand, const std::string& result,
                      const std::string& padding) {
    return ResultOf(absl::StrCat(
        "x = ", operand, " parameter(0)\nz = f32[] constant(9)\nROOT r = ",
        result, " pad(x, z), padding=", padding));
  };
  EXPECT_EQ(pad("f32[0]", "f32[3]", "2_1_3"), "{9, 9, 9}");
  EXPECT_EQ(pad("f32[3]", "f32[0]", "-2_-1"), "{...}");
  EXPECT_EQ(pad("f32[3]", "f32[2]", "-5_4"), "{9, 9}");
  EXPECT_EQ(pad("f32[3]", "f32[2]", "4_-5"), "{9, 9}");
  EXPECT_EQ(pad("f32[3]", "f32[2]", "-8_1_3"), "{3, 9}");
}

TEST(EmptyArrays, OtherInstructionsMoveNothing) {
  for (const char* lines :
       {"x = f32[3,0] parameter(0)\nROOT r = f32[3,0] sort(x), "
        "dimensions={1}, to_apply=lt",
        "x = f32[3,0] parameter(0)\nROOT r = f32[3,0] sort(x), "
        "dimensions={0}, to_apply=lt",
        "x = f32[0,3] parameter(0)\nROOT r = f32[0,3] reverse(x), "
        "dimensions={0,1}",
        "ROOT r = f32[0,3] iota(), iota_dimension=1",
        "x = f32[0] parameter(0)\nROOT r = f32[0] map(x, x), "
        "dimensions={0}, to_apply=subtract",
        "x = f32[0,4] parameter(0)\nROOT r = c64[0,3] fft(x), "
        "fft_type=RFFT, fft_length={4}",
        "x = f32[2,0,0] parameter(0)\nROOT r = f32[2,0,0] cholesky(x), "
        "lower=true"}) {
    EXPECT_EQ(ResultOf(lines), "{...}") << lines;
  }
  EXPECT_EQ(
      ResultOf("x = f32[3,0] parameter(0)\n"
               "ROOT r = (f32[3,0], s32[3,0]) topk(x), k=0, largest=true"),
      "({...}, {...})");
  // The mean of nothing.
  EXPECT_EQ(
      ResultOf("x = f32[0,1] parameter(0)\ns = f32[1] parameter(1)\n"
               "ROOT r = (f32[0,1], f32[1], f32[1]) "
               "batch-norm-training(x, s, s), epsilon=0.1, feature_index=1"),
      "({...}, {nan}, {nan})");
}

// Dimensions beside an empty one may be huge; they take no time.
TEST(EmptyArrays, TakeNoTime) {
  constexpr char kMany[] = "x = f32[1000000000000,0] constant({...})\n";
  for (const char* line :
       {"ROOT r = f32[1000000000000,0] sort(x), dimensions={1}, to_apply=lt",
        "z = f32[] constant(2)\nROOT r = f32[0] reduce(x, z), "
        "dimensions={0}, to_apply=subtract",
        "z = f32[] constant(2)\nROOT r = f32[999999999999,0] "
        "reduce-window(x, z), window={size=2x1}, to_apply=add",
        "z = f32[] constant(2)\ns = f32[999999999999,0] constant({...})\n"
        "ROOT r = f32[1000000000000,0] select-and-scatter(x, s, z), "
        "window={size=2x1}, select=ge, scatter=add",
        "y = f32[1000000000000,0] constant({...})\n"
        "ROOT r = f32[1000000000000,0,0] dot(x, y), lhs_batch_dims={0}, "
        "rhs_batch_dims={0}, lhs_contracting_dims={}, "
        "rhs_contracting_dims={}",
        "ROOT r = f32[1000000000000,0] iota(), iota_dimension=0"}) {
    EXPECT_EQ(ResultOf(absl::StrCat(kMany, line)), "{...}") << line;
  }
  EXPECT_EQ(
      ResultOf("x = f32[1,2] parameter(0)\n"
               "i = s32[1000000000000,0] constant({...})\n"
               "u = f32[1000000000000,0,2] constant({...})\n"
               "ROOT r = f32[1,2] scatter(x, i, u), update_window_dims={1,2}, "
               "inserted_window_dims={}, scatter_dims_to_operand_dims={}, "
               "index_vector_dim=1, to_apply=subtract"),
      "{ {1, 2} }");
}

// The verifier does not know the shape of a custom call.
TEST(EmptyArrays, RefusesTopKCallsOfOtherShapes) {
  for (const char* shape :
       {"f32[3,1]", "(f32[3,4], s32[3,4])", "(f32[3,1], s64[3,1])",
        "(f64[3,1], s32[3,1])", "(f32[9,1], s32[9,1])", "(f32[3], s32[3])",
        "(f32[3,1], s32[3,2])", "(f32[3,1])"}) {
    EXPECT_THAT(
        ResultOf(absl::StrCat("x = f32[3,2] parameter(0)\nROOT r = ", shape,
                              " custom-call(x), custom_call_target=\"TopK\"")),
        ::testing::HasSubstr("the shape is unusual"))
        << shape;
  }
}

}  // namespace
}  // namespace hone::hlo
