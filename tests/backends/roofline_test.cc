#include "backends/roofline.h"

#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"

namespace hone::backends {
namespace {

Calibration Machine() {
  Calibration machine;
  machine.peak_gflops = 100;
  machine.levels = {{.bytes = 1 << 10, .read_gbps = 8, .copy_gbps = 4},
                    {.bytes = 1 << 14, .read_gbps = 2, .copy_gbps = 1}};
  return machine;
}

TEST(Roofline, WorkIsBoundByArithmeticOrByMemory) {
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000}), 50);
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000, .bytes_read = 800}),
                   100);
}

TEST(Roofline, WritingAsMuchAsReadingIsACopy) {
  EXPECT_DOUBLE_EQ(
      RooflineNs(Machine(), {.bytes_read = 400, .bytes_written = 400}), 200);
  // Half as much: between the two.
  EXPECT_DOUBLE_EQ(
      RooflineNs(Machine(), {.bytes_read = 600, .bytes_written = 200}),
      800 * (0.5 / 8 + 0.5 / 4));
  // No limit is known for more writing than reading but that of a copy.
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.bytes_written = 800}), 200);
}

TEST(Roofline, OperationsTakeTheRateOfTheirType) {
  Calibration machine = Machine();
  machine.f64_gflops = 50;
  machine.bf16_dot_gflops = 200;
  machine.s16_dot_gflops = 250;
  machine.s8_dot_gflops = 400;
  EXPECT_DOUBLE_EQ(RooflineNs(machine, {.f64_flops = 5000}), 100);
  EXPECT_DOUBLE_EQ(RooflineNs(machine, {.bf16_dot_flops = 5000}), 25);
  EXPECT_DOUBLE_EQ(RooflineNs(machine, {.s16_flops = 5000}), 20);
  EXPECT_DOUBLE_EQ(RooflineNs(machine, {.s8_flops = 5000}), 12.5);
  // They may overlap.
  EXPECT_DOUBLE_EQ(RooflineNs(machine, {.flops = 5000, .s8_flops = 5000}), 50);
  // A worker of an older version measures f32 only.
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.bf16_dot_flops = 5000}), 50);
}

TEST(Roofline, IsNotAboveWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000}, 60), 50);
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000}, 40), 40);
}

LeastWork WorkOf(const std::string& text) {
  return LeastWorkOf(hlo::ParseHloText(text).value());
}

// Returns a dot of [4,8] by [8,16], 1024 operations, of these types.
std::string DotText(const char* a, const char* b, const char* result) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[4,8] parameter(0)
  b = $1[8,16] parameter(1)
  ROOT d = $2[4,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                          a, b, result);
}

TEST(Roofline, ContractionsCountByTheTypesOfTheirOperands) {
  EXPECT_EQ(WorkOf(DotText("f32", "f32", "f32")).flops, 1024);
  EXPECT_EQ(WorkOf(DotText("f16", "f16", "f16")).flops, 1024);
  EXPECT_EQ(WorkOf(DotText("f64", "f64", "f64")).f64_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("bf16", "bf16", "f32")).bf16_dot_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("bf16", "bf16", "bf16")).bf16_dot_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("bf16", "bf16", "f64")).f64_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("s8", "u8", "s32")).s8_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("s8", "s16", "s32")).s16_flops, 1024);
  EXPECT_EQ(WorkOf(DotText("s32", "s32", "s32")).flops, 1024);
  EXPECT_EQ(WorkOf(DotText("bf16", "bf16", "f32")).flops, 0);
}

TEST(Roofline, ConvertedOperandsAreOfTheTypeBefore) {
  constexpr char kText[] = R"(HloModule m
body {
  s = (s32[], $0[4,16], $1[4,8], $1[8,16]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  c = $1[4,8] get-tuple-element(s), index=2
  x = $0[4,8] convert(c)
  w = $1[8,16] get-tuple-element(s), index=3
  v = $1[8,16] copy(w)
  z = $0[8,16] convert(v)
  d = $0[4,16] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (s32[], $0[4,16], $1[4,8], $1[8,16]) tuple(i, d, c, w)
}
cond {
  s = (s32[], $0[4,16], $1[4,8], $1[8,16]) parameter(0)
  ROOT p = pred[] constant(true)
}
ENTRY e {
  s = (s32[], $0[4,16], $1[4,8], $1[8,16]) parameter(0)
  ROOT w = (s32[], $0[4,16], $1[4,8], $1[8,16]) while(s), condition=cond,
    body=body, backend_config={"known_trip_count":{"n":"3"}}
})";
  const auto work = [&](const char* wide, const char* narrow) {
    return WorkOf(absl::Substitute(kText, wide, narrow));
  };
  EXPECT_EQ(work("f32", "bf16").bf16_dot_flops, 3 * 1024);
  EXPECT_EQ(work("s32", "s8").s8_flops, 3 * 1024);
  // Rounding is no widening: such a dot is not of f64.
  EXPECT_EQ(work("f32", "f64").f64_flops, 0);
  EXPECT_EQ(work("f64", "bf16").bf16_dot_flops, 0);
}

TEST(Roofline, BandwidthLiesBetweenLevels) {
  const auto roofline = [](double bytes) {
    return RooflineNs(Machine(), {.bytes_read = bytes});
  };
  EXPECT_DOUBLE_EQ(roofline(1 << 10), (1 << 10) / 8.0);
  EXPECT_DOUBLE_EQ(roofline(1 << 12), (1 << 12) * (1 / 8.0 + 1 / 2.0) / 2);
  EXPECT_DOUBLE_EQ(roofline(1 << 14), (1 << 14) / 2.0);
  EXPECT_DOUBLE_EQ(roofline(1 << 20), (1 << 20) / 2.0);
}

}  // namespace
}  // namespace hone::backends
