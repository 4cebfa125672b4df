#include "backends/process/check_report.h"

#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

KernelRequest Request() {
  KernelRequest request;
  request.candidate_scripts = {"a", "b"};
  request.time_baseline = true;
  request.calibrate = true;
  return request;
}

KernelReport Report() {
  KernelTiming timing;
  timing.ns = 100;
  timing.samples_ns = {90, 110};
  KernelReport report;
  report.candidates = {timing, timing};
  report.candidates[1].outcome = space::Outcome::kTimeout;
  report.candidates[1].ns = 0;
  report.baseline = timing;
  report.calibration = Calibration();
  report.calibration->peak_gflops = 50;
  report.calibration->levels = {{32768, 100, 80}};
  return report;
}

TEST(CheckReport, AcceptsWhatAnswersTheRequest) {
  EXPECT_TRUE(CheckReport(Request(), Report()).ok());
}

// Kernels of 10^18 elements, whose worst tiles take a billion times as long.
TEST(CheckReport, SimulatedTimesMayBeLong) {
  KernelRequest request = Request();
  request.form = KernelForm::kTpuKernel;
  request.calibrate = false;
  KernelReport report = Report();
  report.calibration.reset();
  report.candidates[0].samples_ns = {1e20};
  report.candidates[0].ns = 1e20;
  report.candidates[0].ratio = 1e9;
  report.candidates[0].ratio_low = 1e9;
  report.candidates[0].ratio_high = 1e9;
  EXPECT_TRUE(CheckReport(request, report).ok());
  report.candidates[0].samples_ns = {kInfinity};
  report.candidates[0].ns = kInfinity;
  EXPECT_FALSE(CheckReport(request, report).ok());
}

TEST(CheckReport, NamesTheFault) {
  const struct {
    std::function<void(KernelReport&)> change;
    const char* message;
  } faults[] = {
      {[](auto& r) { r.candidates.pop_back(); },
       "has 1 candidates, expected 2"},
      {[](auto& r) { r.candidates.clear(); }, "has 0 candidates, expected 2"},
      {[](auto& r) { r.baseline.reset(); }, "lacks the baseline"},
      {[](auto& r) { r.calibration.reset(); }, "lacks the calibration"},
      {[](auto& r) { r.candidates[0].ns = 0; }, "times of a candidate"},
      {[](auto& r) { r.candidates[0].ns = kNan; }, "times of a candidate"},
      {[](auto& r) { r.candidates[0].samples_ns[1] = -1; },
       "times of a candidate"},
      {[](auto& r) { r.baseline->ns = kInfinity; }, "times of the baseline"},
      {[](auto& r) { r.candidates[0].samples_ns.clear(); }, "has 0 samples"},
      {[](auto& r) { r.candidates[0].samples_ns.resize(12, 100); },
       "has 12 samples of a candidate, expected 1 to 11"},
      {[](auto& r) { r.candidates[0].ns = 50; },
       "expected the median of its samples"},
      {[](auto& r) {
         r.candidates[0].samples_ns = {1e20};
         r.candidates[0].ns = 1e20;
       },
       "expected less than a day"},
      {[](auto& r) {
         r.candidates[0].ratio = r.candidates[0].ratio_low = 1e-9;
       },
       "less than a million"},
      {[](auto& r) { r.candidates[0].compile_time = -absl::Seconds(1); },
       "a compile time of a candidate"},
      {[](auto& r) { r.candidates[1].compile_time = absl::InfiniteDuration(); },
       "a compile time of a candidate"},
      {[](auto& r) { r.candidates[0].ratio_low = 1.1; }, "outside of its"},
      {[](auto& r) { r.candidates[0].ratio = kNan; }, "outside of its"},
      {[](auto& r) { r.candidates[0].ratio_high = 1e9; },
       "expected a factor of at most 1000"},
      {[](auto& r) { r.candidates[0].max_rel_error = -1; }, "an error of"},
      {[](auto& r) { r.candidates[0].max_rel_error = 1e308; }, "an error of"},
      {[](auto& r) { r.candidates[0].max_rel_error = kNan; }, "an error of"},
      {[](auto& r) { r.calibration->levels.clear(); }, "calibration"},
      {[](auto& r) { r.calibration->peak_gflops = 0; }, "calibration"},
      {[](auto& r) { r.calibration->f64_gflops = -1; }, "calibration"},
      {[](auto& r) { r.calibration->bf16_dot_gflops = kNan; }, "calibration"},
      {[](auto& r) { r.calibration->s16_dot_gflops = -1; }, "calibration"},
      {[](auto& r) { r.calibration->s8_dot_gflops = kNan; }, "calibration"},
      {[](auto& r) { r.calibration->levels[0].read_gbps = kNan; },
       "calibration"},
  };
  for (const auto& fault : faults) {
    KernelReport report = Report();
    fault.change(report);
    const absl::Status status = CheckReport(Request(), report);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr(fault.message));
  }
}

}  // namespace
}  // namespace hone::backends
