#include "backends/cpu/measure/calibration.h"

#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

TEST(Calibration, HasTheRatesOfEveryType) {
  HONE_ASSERT_OK_AND_ASSIGN(const Calibration calibration, Calibrate(1));
  EXPECT_GT(calibration.peak_gflops, 0);
  EXPECT_GT(calibration.f64_gflops, 0);
  // Each of these can be done as the one before.
  EXPECT_GE(calibration.bf16_dot_gflops, calibration.peak_gflops);
  EXPECT_GE(calibration.s16_dot_gflops, calibration.peak_gflops);
  EXPECT_GE(calibration.s8_dot_gflops, calibration.s16_dot_gflops);
}

}  // namespace
}  // namespace hone::backends
