// What times and memory depend on, and kernels that nobody meant.

#include "backends/tpu_sim/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/text/parser.h"
#include "hlo/tiles/register_layout.h"
#include "tests/backends/tpu_sim/kernels.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::ParseTpuKernel;
using ::hone::testing::StatusIs;
using ::hone::testing::TpuKernel;
using ::hone::testing::TpuKernels;
using ::testing::HasSubstr;

class SimulatorTest : public ::testing::Test {
 protected:
  // The run of a kernel by its configuration's text.
  KernelTime Time(const std::string& lines, const std::string& config) {
    const hlo::Module module = ParseTpuKernel(lines);
    const auto time = Simulate(module, *hlo::ParseKernelConfig(config), tpu_);
    EXPECT_THAT(time, IsOk());
    return *time;
  }

  Tpu tpu_ = *FindTpu("v3");
};

constexpr char kAdd[] = R"(
  p = f32[1024,2048] parameter(0)
  q = f32[1024,2048] parameter(1)
  ROOT r = f32[1024,2048] add(p, q))";

TEST_F(SimulatorTest, AllKernelsHaveATimeAndADefault) {
  for (const TpuKernel& each : TpuKernels()) {
    SCOPED_TRACE(each.name);
    const hlo::Module module = ParseTpuKernel(each.lines);
    const KernelSimulator simulator(module, tpu_);
    const auto time = simulator.Simulate(simulator.DefaultConfig());
    ASSERT_THAT(time, IsOk());
    EXPECT_EQ(time->overflow_bytes, 0);
    EXPECT_GE(time->run.cycles, tpu_.launch_cycles);
    EXPECT_DOUBLE_EQ(ToMeasurement(*time).cost, time->ns);
  }
}

// Of two equal reductions the primary result needs the second alone, and a
// third one goes over an array of the same dimensions.
TEST_F(SimulatorTest, ResultsMayNeedAnotherHeroThanTheFirst) {
  for (const char* const results :
       {"(f32[128], f32[128,1000], f32[64]) tuple(h1, wide, s)",
        "(f32[64], f32[128,1000], f32[128]) tuple(s, wide, h1)"}) {
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module module,
        hlo::ParseHloText(absl::StrCat(R"(HloModule side
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
ENTRY e {
  a = f32[128,64] parameter(0)
  b = f32[128,64] parameter(1)
  c = f32[128,64] parameter(2)
  z = f32[] constant(0)
  h1 = f32[128] reduce(a, z), dimensions={1}, to_apply=add
  h2 = f32[128] reduce(b, z), dimensions={1}, to_apply=add
  wide = f32[128,1000] broadcast(h2), dimensions={0}
  s = f32[64] reduce(c, z), dimensions={0}, to_apply=add
  ROOT t = )",
                                       results, "\n}\n")));
    const KernelSimulator simulator(module, tpu_);
    Rng rng(5);
    for (int i = 0; i < 20; ++i) {
      const auto time = simulator.Simulate(simulator.space().RandomConfig(rng));
      ASSERT_THAT(time, IsOk());
    }
  }
}

TEST_F(SimulatorTest, MovesEachByteOnceAndNoFasterThanTheMemory) {
  const KernelTime time = Time(kAdd, "output=64,2048");
  EXPECT_EQ(time.run.bytes, 3.0 * 1024 * 2048 * 4);
  EXPECT_EQ(time.run.steps, 16);
  EXPECT_GT(time.ns, time.run.bytes / tpu_.hbm_bytes_per_second * 1e9);
  EXPECT_LT(time.ns, 1.5 * time.run.bytes / tpu_.hbm_bytes_per_second * 1e9);
}

TEST_F(SimulatorTest, TransfersOverlapOnlyWithSeveralBuffers) {
  constexpr char kSine[] = R"(
  p = f32[1024,2048] parameter(0)
  ROOT r = f32[1024,2048] sine(p))";
  const double one = Time(kSine, "output=64,2048 buffers=1").ns;
  const double two = Time(kSine, "output=64,2048 buffers=2").ns;
  const double three = Time(kSine, "output=64,2048 buffers=3").ns;
  EXPECT_GT(one, 1.3 * two);
  EXPECT_LE(three, two);
}

TEST_F(SimulatorTest, ShortPiecesAndManyStepsCost) {
  const double rows = Time(kAdd, "output=64,2048").ns;
  EXPECT_GT(Time(kAdd, "output=1024,128").ns, 1.1 * rows);
  EXPECT_GT(Time(kAdd, "output=8,128").ns, 2 * rows);
}

TEST_F(SimulatorTest, OverflowIsAViolationInBytes) {
  const KernelTime time = Time(kAdd, "output=1024,2048");
  EXPECT_EQ(time.vmem_bytes, 3 * 1024 * 2048 * 4);
  EXPECT_EQ(time.overflow_bytes, time.vmem_bytes - tpu_.vmem_bytes);
  const space::Measurement measurement = ToMeasurement(time);
  EXPECT_EQ(measurement.outcome, space::Outcome::kInvalid);
  EXPECT_EQ(measurement.violation, static_cast<double>(time.overflow_bytes));
  EXPECT_EQ(measurement.message,
            "needs 25165824 bytes of VMEM, 8388608 more than there are");
}

TEST_F(SimulatorTest, OperandsThatDoNotChangeAreLoadedOnce) {
  constexpr char kDot[] = R"(
  p = f32[512,1024] parameter(0)
  q = f32[1024,2048] parameter(1)
  ROOT d = f32[512,2048] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0})";
  const double p = 512 * 1024 * 4;
  const double q = 1024 * 2048 * 4;
  const double d = 512 * 2048 * 4;
  // Rows outside: p once, q for each of four rows of tiles.
  EXPECT_EQ(Time(kDot, "output=128,256 reduction=1024 order=row").run.bytes,
            p + 4 * q + d);
  EXPECT_EQ(Time(kDot, "output=128,256 reduction=1024 order=column").run.bytes,
            8 * p + q + d);
}

TEST_F(SimulatorTest, ProductsFillTheArraysOnlyWithEnoughRows) {
  const auto cycles = [this](int64_t rows) {
    return Time(
               absl::StrCat(
                   "p = bf16[", rows, R"(,1024] parameter(0)
  q = bf16[1024,1024] parameter(1)
  ROOT d = bf16[)",
                   rows,
                   R"(,1024] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
               absl::StrCat("output=", rows, ",1024 reduction=1024"))
        .run.busy[static_cast<size_t>(Unit::kMatrix)];
  };
  // Weights take 128 cycles to load, or 16 rows stream past the weights of all
  // of p.
  EXPECT_EQ(cycles(1024), 64 / 2 * 1024);
  EXPECT_EQ(cycles(128), 64 / 2 * 128);
  EXPECT_EQ(cycles(32), 64 / 2 * 128);
}

TEST_F(SimulatorTest, UnrollingHidesLatencyUntilRegistersAreSpilled) {
  std::string lines = "  p = f32[512,1024] parameter(0)\n";
  // All eight values live until the sum.
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&lines, "  e", i, " = f32[512,1024] ",
                    i == 0 ? "tanh(p)" : absl::StrCat("negate(e", i - 1, ")"),
                    "\n");
  }
  std::string sum = "e7";
  for (int i = 6; i >= 0; --i) {
    absl::StrAppend(&lines, i == 0 ? "  ROOT s" : "  s", i,
                    " = f32[512,1024] add(", sum, ", e", i, ")\n");
    sum = absl::StrCat("s", i);
  }
  const auto run = [&](int unroll) {
    return Time(lines, absl::StrCat("output=64,1024 unroll=", unroll)).run;
  };
  EXPECT_GT(run(1).stall, run(2).stall);
  const auto stores = [&](int unroll) {
    return run(unroll).busy[static_cast<size_t>(Unit::kStore)];
  };
  EXPECT_EQ(stores(1), 512);
  EXPECT_EQ(stores(2), 512);
  EXPECT_GT(stores(8), 2 * 512);
}

TEST_F(SimulatorTest, LayoutsThatDoNotFitCostCrossLaneWork) {
  const auto cross_lane = [this](const std::string& layout) {
    return Time(absl::StrCat("  p = f32[256,384]{1,0} parameter(0)\n",
                             "  q = f32[256,384]", layout, " parameter(1)\n",
                             "  ROOT r = f32[256,384]{1,0} add(p, q)"),
                "output=256,384")
        .run.busy[static_cast<size_t>(Unit::kCrossLane)];
  };
  EXPECT_EQ(cross_lane("{1,0}"), 0);
  EXPECT_GT(cross_lane("{0,1}"), 0);
}

TEST_F(SimulatorTest, NarrowTypesMoveFewerBytesAndAreUnpacked) {
  const std::string wide =
      "  p = f32[512,1024] parameter(0)\n  ROOT r = f32[512,1024] negate(p)";
  const std::string narrow =
      "  p = bf16[512,1024] parameter(0)\n  ROOT r = bf16[512,1024] negate(p)";
  const KernelTime a = Time(wide, "output=64,1024");
  const KernelTime b = Time(narrow, "output=64,1024");
  EXPECT_EQ(a.run.bytes, 2 * b.run.bytes);
  EXPECT_EQ(3 * a.run.busy[0], b.run.busy[0]);
}

// The last tile picks fewer rows of it.
TEST_F(SimulatorTest, TablesThatStayAreLoadedOnce) {
  constexpr char kRows[] = R"(
  table = f32[512,256] parameter(0)
  at = s32[304] parameter(1)
  ROOT g = f32[304,256] gather(table, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256})";
  const double table = 512 * 256 * 4;
  const double result = 304 * 256 * 4;
  const double one = Time(kRows, "output=304,256").run.bytes;
  const double indices = one - table - result;
  EXPECT_GT(indices, 0);
  EXPECT_LT(indices, 3 * hlo::kRegisterBytes);
  EXPECT_LT(Time(kRows, "output=128,256").run.bytes,
            table + result + 4 * hlo::kRegisterBytes);
}

TEST_F(SimulatorTest, DepthwiseWindowsCountByTheirPositions) {
  const auto alu = [this](const std::string& size, const std::string& pad) {
    return Time(absl::StrCat(R"(
  p = f32[2,16,16,128] parameter(0)
  q = f32[)",
                             absl::StrReplaceAll(size, {{"x", ","}}),
                             R"(,1,128] parameter(1)
  ROOT r = f32[2,16,16,128] convolution(p, q), window={size=)",
                             size, " pad=", pad,
                             "}, dim_labels=b01f_01io->b01f, "
                             "feature_group_count=128"),
                "output=2,16,16,128 reduction=1")
        .run.busy[static_cast<size_t>(Unit::kAlu)];
  };
  // Two operations on each of 64 registers for each position, two at a time.
  EXPECT_EQ(alu("3x3", "1_1x1_1"), 9 * 64);
  EXPECT_EQ(alu("1x9", "0_0x4_4"), 9 * 64);
  EXPECT_EQ(alu("9x1", "4_4x0_0"), 9 * 64);
}

TEST_F(SimulatorTest, FourierTransformsPassLogarithmicallyOften) {
  const auto loads = [this](int64_t length) {
    const std::string shape = absl::StrCat("c64[512,", length, "]");
    return Time(absl::StrCat(
                    "  p = ", shape, " parameter(0)\n  ROOT r = ", shape,
                    " fft(p), fft_type=FFT, fft_length={", length, "}"),
                absl::StrCat("output=512,", length))
        .run.busy[static_cast<size_t>(Unit::kLoad)];
  };
  EXPECT_EQ(loads(128), 7 * loads(1));
  EXPECT_EQ(loads(64), 6 * loads(2));
}

// Rows of what is computed from a table are computed alone, however many others
// it has.
TEST_F(SimulatorTest, OnlyPickedElementsAreComputed) {
  const auto cycles = [&](int64_t rows) {
    return Time(absl::StrCat("  t = f32[", rows, R"(,128] parameter(0)
  n = f32[)",
                             rows, R"(,128] negate(t)
  i = s32[8,1] parameter(1)
  ROOT g = f32[8,128] gather(n, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,128})"),
                "output=8,128")
        .run.cycles;
  };
  EXPECT_EQ(cycles(32768), cycles(131072));
  EXPECT_LT(cycles(131072), cycles(1024) + 2000);
}

TEST_F(SimulatorTest, NothingToReduceLeavesTheInitialValueToStore) {
  const KernelTime nothing = Time(R"(
  a = f32[4096,0] parameter(0)
  b = f32[0,4096] parameter(1)
  ROOT d = f32[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                  "output=256,4096 reduction=1");
  EXPECT_GT(static_cast<double>(nothing.run.cycles),
            4096.0 * 4096 * 4 / tpu_.hbm_bytes_per_cycle());
}

// A matrix that fits once does not fit twice.
TEST_F(SimulatorTest, TheDefaultHasOneBufferWhereTwoDoNotFit) {
  const hlo::Module module = ParseTpuKernel(R"(
  a = f32[4,1500,1500] parameter(0)
  ROOT c = f32[4,1500,1500] cholesky(a), lower=true)");
  const KernelSimulator simulator(module, *FindTpu("v4"));
  const hlo::KernelConfig config = simulator.DefaultConfig();
  EXPECT_EQ(config.buffers, 1);
  EXPECT_EQ(simulator.OverflowBytes(config), 0);
}

TEST_F(SimulatorTest, GroupsOfTheBatchAreAsMuchWorkAsGroupsOfFeatures) {
  const auto matrix_cycles = [&](const std::string& shapes,
                                 const std::string& groups) {
    return Time(absl::StrCat(shapes, R"(
  ROOT c = f32[1,16,16,128] convolution(a, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, )",
                             groups, "_group_count=32"),
                "output=1,16,16,128 reduction=4 buffers=1 unroll=1")
        .run.busy[static_cast<size_t>(Unit::kMatrix)];
  };
  const int64_t by_features = matrix_cycles(
      "  a = f32[1,16,16,128] parameter(0)\n  w = f32[3,3,4,128] parameter(1)",
      "feature");
  const int64_t by_batch = matrix_cycles(
      "  a = f32[32,16,16,4] parameter(0)\n  w = f32[3,3,4,128] parameter(1)",
      "batch");
  EXPECT_GT(by_features, 0);
  EXPECT_EQ(by_batch, by_features);
}

// Tiles that straddle groups differ from those that do not, with or without a
// window whose positions make them differ, too.
TEST_F(SimulatorTest, TilesOfGroupsOfTheBatchAreTimedByWhatTheyStraddle) {
  const auto matrix_cycles = [&](const std::string& extra,
                                 const std::string& labels,
                                 const std::string& window) {
    return Time(absl::StrCat("  a = f32[256,", extra,
                             "128] parameter(0)\n  w = f32[", extra,
                             "128,1280] parameter(1)\n  ROOT c = f32[128,",
                             extra, "1280] convolution(a, w), ", window,
                             "dim_labels=", labels, ", batch_group_count=2"),
                absl::StrCat("output=128,", extra,
                             "256 reduction=128 buffers=2 unroll=1"))
        .run.busy[static_cast<size_t>(Unit::kMatrix)];
  };
  EXPECT_EQ(matrix_cycles("", "bf_io->bf", ""),
            matrix_cycles("1,", "b0f_0io->b0f", "window={size=1}, "));
}

TEST_F(SimulatorTest, LargeTablesAreReadByTheRow) {
  const std::string& lines =
      std::find_if(TpuKernels().begin(), TpuKernels().end(),
                   [](const TpuKernel& kernel) {
                     return kernel.name == "gather from a large table";
                   })
          ->lines;
  const KernelTime time = Time(lines, "output=104,256");
  EXPECT_LT(time.run.bytes, 4.0 * 300 * 256 * 4);
  EXPECT_LT(time.vmem_bytes, tpu_.vmem_bytes);
}

// Kernels that do the same in the other order, but for what the first and the
// last step do not hide.
TEST_F(SimulatorTest, MirroredKernelsTakeTheSameTimeAndMemory) {
  const auto joined = [](const char* operands) {
    return absl::StrCat(R"(
  p = f32[1024,1024] parameter(0)
  q = f32[1024,1024] parameter(1)
  a = f32[1024,1024] negate(p)
  b = f32[1024,1024] tanh(q)
  c = f32[1024,1024] sine(b)
  ROOT r = f32[2048,1024] concatenate()",
                        operands, "), dimensions={0}");
  };
  const auto padded = [](const char* padding) {
    return absl::StrCat(R"(
  p = f32[1024,1024] parameter(0)
  z = f32[] constant(0)
  a = f32[3072,1024] pad(p, z), padding=)",
                        padding, R"(x0_0
  ROOT r = f32[3072,1024] tanh(a))");
  };
  const auto expect_equal = [this](const std::string& a, const std::string& b,
                                   const std::string& config, double bytes) {
    const KernelTime first = Time(a, config);
    const KernelTime second = Time(b, config);
    EXPECT_EQ(first.vmem_bytes, second.vmem_bytes);
    EXPECT_NEAR(first.ns / second.ns, 1, 0.1);
    EXPECT_EQ(first.run.bytes, bytes);
    EXPECT_EQ(second.run.bytes, bytes);
    EXPECT_GE(first.ns, bytes / tpu_.hbm_bytes_per_second * 1e9);
  };
  expect_equal(joined("a, c"), joined("c, a"), "output=128,1024",
               2.0 * 2048 * 1024 * 4);
  expect_equal(padded("2048_0"), padded("0_2048"), "output=128,1024",
               4.0 * 1024 * 1024 * 4);
}

TEST_F(SimulatorTest, NoiseIsDrawnBySeed) {
  const hlo::Module module = ParseTpuKernel(kAdd);
  const hlo::KernelConfig config = *hlo::ParseKernelConfig("output=64,2048");
  const auto ns = [&](double noise, uint64_t seed) {
    return Simulate(module, config, tpu_, {.noise = noise, .seed = seed})->ns;
  };
  EXPECT_EQ(ns(0, 1), ns(0, 2));
  EXPECT_EQ(ns(0.1, 1), ns(0.1, 1));
  EXPECT_NE(ns(0.1, 1), ns(0.1, 2));
  EXPECT_NEAR(std::log(ns(0.1, 1) / ns(0, 1)), 0, 0.6);
}

TEST_F(SimulatorTest, AConfigurationOutsideOfTheSpaceIsAnError) {
  const hlo::Module module = ParseTpuKernel(kAdd);
  for (const char* const config :
       {"output=2000,2048", "output=64", "output=64,2048 reduction=8",
        "output=64,100"}) {
    EXPECT_THAT(Simulate(module, *hlo::ParseKernelConfig(config), tpu_),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tile")))
        << config;
  }
}

// Whole programs are no kernels: control flow and the like count as unknown.
// But whatever is given ends in a time or a violation, the same by both
// engines.
TEST_F(SimulatorTest, RandomProgramsHaveATime) {
  Rng rng(4);
  for (uint64_t seed = 0; seed < 80; ++seed) {
    const std::string text = hone::testing::RandomModuleText(
        seed, hone::testing::RandomFeatures(seed));
    const auto module = hlo::ParseHloText(text);
    ASSERT_THAT(module, IsOk());
    const KernelSimulator simulator(*module, tpu_);
    for (int i = 0; i < 3; ++i) {
      const hlo::KernelConfig config = simulator.space().RandomConfig(rng);
      SCOPED_TRACE(absl::StrCat(seed, ": ", hlo::PrintKernelConfig(config)));
      const auto time = simulator.Simulate(config);
      const auto slow = simulator.Simulate(
          config, {.by_cycles = true, .max_cycles = 1'000'000'000});
      ASSERT_THAT(time, IsOk());
      ASSERT_THAT(slow, IsOk());
      EXPECT_EQ(time->run.cycles, slow->run.cycles);
    }
  }
}

TEST_F(SimulatorTest, HugeShapesOverflowVmemOrEndInTime) {
  for (const char* const lines : {
           "  p = u8[1099511627776,1048576,1] parameter(0)\n"
           "  ROOT r = u8[1099511627776,1048576,1] not(p)",
           "  p = f32[1] parameter(0)\n"
           "  ROOT r = f32[1,1000000000000000,1000] broadcast(p), "
           "dimensions={0}",
           "  p = f32[1000000000,1000000] parameter(0)\n"
           "  ROOT r = f32[1000000000,1000000] sort(p), dimensions={1}, "
           "to_apply=lt",
           "  p = f32[1000000,1000000] parameter(0)\n"
           "  ROOT d = f32[1000000,1000000] dot(p, p), "
           "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
       }) {
    const hlo::Module module = ParseTpuKernel(lines);
    const KernelSimulator simulator(module, tpu_);
    Rng rng(1);
    for (int i = 0; i < 20; ++i) {
      const auto time = simulator.Simulate(simulator.space().RandomConfig(rng));
      ASSERT_THAT(time, IsOk());
      EXPECT_TRUE(std::isfinite(time->ns));
      EXPECT_GE(time->overflow_bytes, 0);
    }
    ASSERT_THAT(simulator.Simulate(simulator.DefaultConfig()), IsOk());
  }
}

}  // namespace
}  // namespace hone::backends
