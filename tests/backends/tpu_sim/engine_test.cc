// The event engine against the reference that steps every cycle.

#include "backends/tpu_sim/engine.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/tpu_sim/simulator.h"
#include "tests/backends/tpu_sim/kernels.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::ParseTpuKernel;
using ::hone::testing::StatusIs;
using ::hone::testing::TpuKernel;
using ::hone::testing::TpuKernels;

void ExpectEqual(const EngineResult& a, const EngineResult& b) {
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.busy, b.busy);
  EXPECT_EQ(a.transfer, b.transfer);
  EXPECT_EQ(a.load_wait, b.load_wait);
  EXPECT_EQ(a.store_wait, b.store_wait);
  EXPECT_EQ(a.issue_wait, b.issue_wait);
  EXPECT_EQ(a.stall, b.stall);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_DOUBLE_EQ(a.bytes, b.bytes);
}

TEST(Engines, AgreeExactlyOnRandomConfigurationsOfAllKernels) {
  Rng rng(1);
  for (const char* const name : {"v3", "v5e"}) {
    const Tpu tpu = *FindTpu(name);
    for (const TpuKernel& each : TpuKernels()) {
      const hlo::Module module = ParseTpuKernel(each.lines);
      const KernelSimulator simulator(module, tpu);
      for (int i = 0; i < 12; ++i) {
        const hlo::KernelConfig config = simulator.space().RandomConfig(rng);
        SCOPED_TRACE(absl::StrCat(name, " ", each.name, ": ",
                                  hlo::PrintKernelConfig(config)));
        const auto fast = simulator.Simulate(config);
        const auto slow = simulator.Simulate(
            config, {.by_cycles = true, .max_cycles = 100'000'000});
        ASSERT_THAT(fast, IsOk());
        ASSERT_THAT(slow, IsOk());
        EXPECT_EQ(fast->overflow_bytes, slow->overflow_bytes);
        EXPECT_TRUE(fast->run.is_exact);
        ExpectEqual(fast->run, slow->run);
      }
    }
  }
}

// Transfers that take all of VMEM's cycles but one, one transfer at a time, and
// loops of many steps: what real descriptions do not reach.
TEST(Engines, AgreeOnExtremeMachines) {
  Rng rng(2);
  for (int i = 0; i < 60; ++i) {
    Tpu tpu = *FindTpu("v3");
    const auto below = [&rng](uint64_t bound) {
      return static_cast<int64_t>(rng.Below(bound));
    };
    tpu.hbm_bytes_per_second = 1e9 * static_cast<double>(1 + below(20000));
    tpu.hbm_latency_seconds = 1e-9 * static_cast<double>(below(3000));
    tpu.outstanding_transfers = 1 + below(3);
    tpu.step_cycles = 1 + below(500);
    tpu.transfer_cycles = below(200);
    tpu.launch_cycles = below(10);
    const TpuKernel& each = TpuKernels()[rng.Below(TpuKernels().size())];
    const hlo::Module module = ParseTpuKernel(each.lines);
    const KernelSimulator simulator(module, tpu);
    const hlo::KernelConfig config = simulator.space().RandomConfig(rng);
    SCOPED_TRACE(
        absl::StrCat(i, " ", each.name, ": ", hlo::PrintKernelConfig(config)));
    const auto fast = simulator.Simulate(config);
    const auto slow = simulator.Simulate(
        config, {.by_cycles = true, .max_cycles = 1'000'000'000});
    ASSERT_THAT(fast, IsOk());
    ASSERT_THAT(slow, IsOk());
    ExpectEqual(fast->run, slow->run);
  }
}

TEST(Engines, TheSteadyStateOfManyStepsIsExact) {
  const Tpu tpu = *FindTpu("v3");
  const hlo::Module module = ParseTpuKernel(R"(
  p = f32[37,20,1000,128] parameter(0)
  q = f32[37,20,128] parameter(1)
  b = f32[37,20,1000,128] broadcast(q), dimensions={0,1,3}
  ROOT r = f32[37,20,1000,128] add(p, b))");
  const KernelSimulator simulator(module, tpu);
  for (const int32_t buffers : {1, 2, 3}) {
    for (const int64_t rows : {8, 24, 40}) {
      hlo::KernelConfig config;
      config.tile.output = {1, 1, rows, 128};
      config.buffers = buffers;
      SCOPED_TRACE(hlo::PrintKernelConfig(config));
      const auto fast = simulator.Simulate(config);
      const auto slow = simulator.Simulate(
          config, {.by_cycles = true, .max_cycles = 1'000'000'000});
      ASSERT_THAT(slow, IsOk());
      EXPECT_TRUE(fast->run.is_exact);
      ExpectEqual(fast->run, slow->run);
    }
  }
}

TEST(Engines, GridsBeyondAnyLimitEnd) {
  const Tpu tpu = *FindTpu("v3");
  // 2^40 steps in 40 loops, and 2^50 steps in one.
  std::string shape = "2";
  for (int i = 1; i < 38; ++i) shape += ",2";
  for (const std::string& dimensions :
       {shape + ",8,128", std::string("1125899906842624,8,128")}) {
    const hlo::Module module = ParseTpuKernel(
        absl::StrCat("  p = u8[", dimensions, "] parameter(0)\n  ROOT r = u8[",
                     dimensions, "] not(p)"));
    const KernelSimulator simulator(module, tpu);
    const auto time = simulator.Simulate({simulator.space().TileAt(0)});
    ASSERT_THAT(time, IsOk());
    EXPECT_GT(time->run.cycles, int64_t{1} << 40);
    EXPECT_LE(time->run.cycles, kMaxRunCycles);
  }
}

TEST(Engines, TheReferenceGivesUp) {
  const Tpu tpu = *FindTpu("v3");
  const hlo::Module module = ParseTpuKernel(TpuKernels()[0].lines);
  const KernelSimulator simulator(module, tpu);
  EXPECT_THAT(simulator.Simulate(simulator.DefaultConfig(),
                                 {.by_cycles = true, .max_cycles = 1000}),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "the kernel is not done after 1000 cycles"));
}

}  // namespace
}  // namespace hone::backends
