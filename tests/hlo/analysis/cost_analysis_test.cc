#include "hlo/analysis/cost_analysis.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The costs of `line`, the root of an entry computation with `parameters`. The
// expected figures below are those of XLA's HloCostAnalysis, unless said.
Costs CostsOf(const std::string& line, const std::vector<std::string>& shapes) {
  std::string text = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
less {
  c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT lt = pred[] compare(c, d), direction=LT
}
two {
  e = f32[10] parameter(0)
  exp = f32[10] exponential(e)
  ROOT double = f32[10] add(exp, exp)
}
ENTRY main {
)";
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StrAppend(&text, "  p", i, " = ", shapes[i], " parameter(", i, ")\n");
  }
  absl::StrAppend(&text, "  ROOT root = ", line, "\n}\n");
  absl::StatusOr<Module> module = ParseHloText(text);
  HONE_EXPECT_OK(module);
  if (!module.ok()) return {};
  return CostAnalysis(*module).ModuleCosts();
}

void ExpectCosts(const Costs& costs, double flops, double transcendentals,
                 double bytes) {
  EXPECT_EQ(costs.flops, flops);
  EXPECT_EQ(costs.transcendentals, transcendentals);
  EXPECT_EQ(costs.bytes(), bytes);
}

TEST(CostAnalysis, Elementwise) {
  ExpectCosts(CostsOf("f32[4,6] add(p0, p0)", {"f32[4,6]"}), 24, 0, 288);
  ExpectCosts(CostsOf("f32[4,6] tanh(p0)", {"f32[4,6]"}), 0, 24, 192);
  ExpectCosts(CostsOf("f32[4,6] erf(p0)", {"f32[4,6]"}), 0, 24, 192);
  ExpectCosts(CostsOf("f32[4,6] convert(p0)", {"s32[4,6]"}), 24, 0, 192);
  ExpectCosts(CostsOf("bf16[4,6] convert(p0)", {"f32[4,6]"}), 24, 0, 144);
  ExpectCosts(CostsOf("pred[4,6] compare(p0, p0), direction=EQ", {"f32[4,6]"}),
              24, 0, 216);
  ExpectCosts(CostsOf("f32[4,6] select(p1, p0, p0)", {"f32[4,6]", "pred[4,6]"}),
              24, 0, 312);
  ExpectCosts(CostsOf("f32[4,6] copy(p0)", {"f32[4,6]"}), 0, 0, 192);
}

TEST(CostAnalysis, DataMovement) {
  ExpectCosts(CostsOf("f32[4,6] broadcast(p0), dimensions={0}", {"f32[4]"}), 0,
              0, 112);
  ExpectCosts(CostsOf("f32[6,4] reshape(p0)", {"f32[4,6]"}), 0, 0, 192);
  ExpectCosts(CostsOf("f32[4,2] slice(p0), slice={[0:4], [0:2]}", {"f32[4,6]"}),
              0, 0, 64);
  ExpectCosts(CostsOf("f32[4,6] iota(), iota_dimension=0", {}), 0, 0, 96);
  ExpectCosts(
      CostsOf("f32[4,12] concatenate(p0, p0), dimensions={1}", {"f32[4,6]"}), 0,
      0, 384);
  ExpectCosts(CostsOf("(f32[4,6], f32[]) tuple(p0, p1)", {"f32[4,6]", "f32[]"}),
              0, 0, 16);
  // A start index counts for each dimension; XLA counts one only.
  ExpectCosts(
      CostsOf("f32[4,2] dynamic-slice(p0, p1, p1), dynamic_slice_sizes={4,2}",
              {"f32[4,6]", "s32[]"}),
      0, 0, 72);
  ExpectCosts(CostsOf("f32[4,6] dynamic-update-slice(p0, p2, p1, p1)",
                      {"f32[4,6]", "s32[]", "f32[4,2]"}),
              0, 0, 72);
  ExpectCosts(CostsOf("s32[4,6] gather(p0, p1), offset_dims={1}, "
                      "collapsed_slice_dims={0}, start_index_map={0}, "
                      "index_vector_dim=1, slice_sizes={1,6}",
                      {"s32[100,6]", "s32[4]"}),
              0, 0, 208);
}

TEST(CostAnalysis, ATransposeThatMatchesTheLayoutsMovesNothing) {
  ExpectCosts(CostsOf("f32[2,4,3,5]{3,2,1,0} transpose(p0), "
                      "dimensions={0,2,1,3}",
                      {"f32[2,3,4,5]{3,2,1,0}"}),
              0, 0, 960);
  ExpectCosts(CostsOf("f32[2,4,3,5]{3,1,2,0} transpose(p0), "
                      "dimensions={0,2,1,3}",
                      {"f32[2,3,4,5]{3,2,1,0}"}),
              0, 0, 0);
}

TEST(CostAnalysis, Dot) {
  ExpectCosts(CostsOf("f32[4,5] dot(p0, p1), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}",
                      {"f32[4,6]", "f32[6,5]"}),
              240, 0, 296);
  ExpectCosts(CostsOf("f32[3,4,5] dot(p0, p1), lhs_batch_dims={0}, "
                      "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                      "rhs_contracting_dims={1}",
                      {"f32[3,4,6]", "f32[3,6,5]"}),
              720, 0, 888);
}

// Positions in the padding do no work: of 5 x 3 pairs per dimension, 13 meet
// the input.
TEST(CostAnalysis, ConvolutionCountsWhatMeetsTheInput) {
  EXPECT_EQ(CostsOf("f32[1,5,5,7] convolution(p0, p1), "
                    "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
                    {"f32[1,5,5,2]", "f32[3,3,2,7]"})
                .flops,
            2 * 2 * 7 * 13 * 13);
  EXPECT_EQ(CostsOf("f32[1,3,7] convolution(p0, p1), "
                    "window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f",
                    {"f32[1,5,2]", "f32[3,2,7]"})
                .flops,
            2 * 2 * 7 * 7);
  // Every second element of the dilated input is a hole: of the 9 x 3 pairs, 13
  // meet an element.
  EXPECT_EQ(CostsOf("f32[1,9,7] convolution(p0, p1), "
                    "window={size=3 pad=1_1 lhs_dilate=2}, "
                    "dim_labels=b0f_0io->b0f",
                    {"f32[1,5,2]", "f32[3,2,7]"})
                .flops,
            2 * 2 * 7 * 13);
  EXPECT_EQ(CostsOf("f32[1,5,6] convolution(p0, p1), "
                    "window={size=1}, dim_labels=b0f_0io->b0f, "
                    "feature_group_count=3",
                    {"f32[1,5,6]", "f32[1,2,6]"})
                .flops,
            2 * 2 * 6 * 5);
}

TEST(CostAnalysis, HugeWindowsEndSoon) {
  const Costs costs = CostsOf(
      "f32[1,1000000000,1] convolution(p0, p1), window={size=1000000001 "
      "pad=500000000_500000000 lhs_dilate=3}, dim_labels=b0f_0io->b0f",
      {"f32[1,1000000000,1]", "f32[1000000001,1,1]"});
  EXPECT_NEAR(costs.flops / (2e18 / 3), 1, 1e-6);
}

TEST(CostAnalysis, RegionsPerApplication) {
  ExpectCosts(CostsOf("f32[4] reduce(p0, p1), dimensions={1}, to_apply=add",
                      {"f32[4,6]", "f32[]"}),
              20, 0, 116);
  ExpectCosts(CostsOf("f32[3,6] reduce-window(p0, p1), window={size=2x1}, "
                      "to_apply=add",
                      {"f32[4,6]", "f32[]"}),
              18, 0, 172);
  ExpectCosts(CostsOf("f32[4,6] map(p0, p0), dimensions={0,1}, to_apply=add",
                      {"f32[4,6]"}),
              24, 0, 288);
  EXPECT_EQ(
      CostsOf("f32[8] sort(p0), dimensions={0}, to_apply=less", {"f32[8]"})
          .flops,
      8 * 3);
  // Two updates per index: 8 applications.
  ExpectCosts(CostsOf("f32[10,2] scatter(p0, p1, p2), update_window_dims={1}, "
                      "inserted_window_dims={0}, "
                      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
                      "to_apply=add",
                      {"f32[10,2]", "s32[4]", "f32[4,2]"}),
              8, 0, 3 * 32 + 16);
  EXPECT_EQ(CostsOf("f32[4,6] select-and-scatter(p0, p1, p2), "
                    "window={size=2x2 stride=2x2}, select=less, scatter=add",
                    {"f32[4,6]", "f32[2,3]", "f32[]"})
                .flops,
            6 * 3 + 6);
}

TEST(CostAnalysis, CallsCountWhatTheyCall) {
  ExpectCosts(CostsOf("f32[10] call(p0), to_apply=two", {"f32[10]"}), 10, 10,
              80 + 120);
  // A fusion keeps intermediate values to itself.
  ExpectCosts(CostsOf("f32[10] fusion(p0), kind=kLoop, calls=two", {"f32[10]"}),
              10, 10, 80);
  // Any custom call: its operands and results; XLA answers -1.
  ExpectCosts(
      CostsOf("f32[10] custom-call(p0), custom_call_target=\"f\"", {"f32[10]"}),
      0, 0, 80);
}

// Without what follows the attributes of its `while`.
constexpr char kLoop[] = R"(HloModule loop
condition {
  s = (s32[], f32[10]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT lt = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[10]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[10] get-tuple-element(s), index=1
  y = f32[10] multiply(x, x)
  ROOT t = (s32[], f32[10]) tuple(next, y)
}
ENTRY main {
  p = (s32[], f32[10]) parameter(0)
  ROOT w = (s32[], f32[10]) while(p), condition=condition, body=body)";

Costs LoopCosts(const std::string& attribute) {
  absl::StatusOr<Module> module =
      ParseHloText(absl::StrCat(kLoop, attribute, "\n}\n"));
  HONE_EXPECT_OK(module);
  return module.ok() ? CostAnalysis(*module).ModuleCosts() : Costs{};
}

TEST(CostAnalysis, LoopsCountTheirKnownTrips) {
  // Condition and body once: compare 1, add 1, multiply 10.
  ExpectCosts(LoopCosts(""), 12, 0, 9 + 12 + 120 + 16);
  ExpectCosts(
      LoopCosts(", backend_config={\"known_trip_count\":{\"n\":\"5\"}}"),
      12 * 5, 0, 157 * 5);
}

TEST(CostAnalysis, TripCountsAsCodeGeneratorsWriteThem) {
  for (const char* const config :
       {R"({"known_trip_count":{"n":"5"}})",
        R"({"known_trip_count": { "n" : "5" }, "other":{"n":"7"}})",
        R"({"a":{"n":"7"},"known_trip_count":{"n":5}})",
        R"("{\"known_trip_count\":{\"n\":\"5\"}}")"}) {
    ExpectCosts(LoopCosts(absl::StrCat(", backend_config=", config)), 12 * 5, 0,
                157 * 5);
  }
  ExpectCosts(
      LoopCosts(", backend_config={\"known_trip_count\":{\"n\":\"0\"}}"), 0, 0,
      0);
  EXPECT_NEAR(LoopCosts(", backend_config={\"known_trip_count\":{\"n\":"
                        "\"99999999999999999999\"}}")
                  .flops,
              12e20, 1e10);
}

TEST(CostAnalysis, TripCountsThatAreNoNumbersAreUnknown) {
  for (const char* const count :
       {"\"-3\"", "\"+3\"", "\"1e5\"", "\"1.5\"", "\"0x10\"", "\"3 4\"",
        "\"abc\"", "\"\"", "\"\",\"m\":\"3\"", "null", "[3]",
        "{\"n\":\"3\"}"}) {
    SCOPED_TRACE(count);
    ExpectCosts(
        LoopCosts(absl::StrCat(
            ", backend_config={\"known_trip_count\":{\"n\":", count, "}}")),
        12, 0, 157);
  }
  ExpectCosts(
      LoopCosts(", backend_config={\"known_trip_count\":{\"m\":\"3\"}}"), 12, 0,
      157);
  // Infinite as a double.
  ExpectCosts(
      LoopCosts(absl::StrCat(", backend_config={\"known_trip_count\":{\"n\":\"",
                             std::string(400, '9'), "\"}}")),
      12, 0, 157);
}

TEST(CostAnalysis, AConditionalCostsItsMaximumFieldByField) {
  absl::StatusOr<Module> module = ParseHloText(R"(HloModule m
cheap {
  x = f32[10] parameter(0)
  ROOT r = f32[10] exponential(x)
}
dear {
  x = f32[10] parameter(0)
  y = f32[10] add(x, x)
  ROOT r = f32[10] multiply(y, y)
}
ENTRY main {
  p = pred[] parameter(0)
  x = f32[10] parameter(1)
  ROOT r = f32[10] conditional(p, x, x), true_computation=cheap, false_computation=dear
}
)");
  HONE_ASSERT_OK(module);
  ExpectCosts(CostAnalysis(*module).ModuleCosts(), 20, 10, 240);
}

TEST(CostAnalysis, InstructionsSumToTheirComputation) {
  absl::StatusOr<Module> graph = ParseHloText(R"(HloModule m
ENTRY main {
  x = f32[10] parameter(0)
  y = f32[10] add(x, x)
  z = f32[10] tanh(y)
  ROOT r = f32[10] multiply(y, z)
}
)");
  HONE_ASSERT_OK(graph);
  const CostAnalysis analysis(*graph);
  const Computation& entry = graph->entry_computation();
  Costs sum;
  for (InstructionId id : entry.LiveInstructions()) {
    sum += analysis.InstructionCosts(entry, id);
  }
  EXPECT_EQ(sum, analysis.ModuleCosts());
  EXPECT_EQ(sum.flops, 20);
}

}  // namespace
}  // namespace hone::hlo
