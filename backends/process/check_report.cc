#include "backends/process/check_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

#include "base/statistics.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

absl::Status Fault(absl::string_view what) {
  return absl::InternalError(absl::StrCat("a worker's report ", what));
}

constexpr double kRounding = 1e-6;
constexpr double kMaxRatio = 1e6;
// An interval so wide that it contains everything agrees with everybody.
constexpr double kMaxSpread = 1000;
constexpr absl::Duration kMaxTime = absl::Hours(24);

bool IsPositive(double x) { return std::isfinite(x) && x > 0; }

bool IsNear(double a, double b) { return std::abs(a - b) <= kRounding * b; }

absl::Status CheckTiming(const KernelRequest& request,
                         const KernelTiming& timing, absl::string_view name) {
  if (timing.compile_time < absl::ZeroDuration() ||
      timing.compile_time > kMaxTime) {
    return Fault(absl::StrCat("has a compile time of ", name, " of ",
                              absl::FormatDuration(timing.compile_time),
                              ", expected less than a day"));
  }
  if (!(timing.violation >= 0 && std::isfinite(timing.violation))) {
    return Fault(absl::StrCat("has a violation of ", name, " of ",
                              timing.violation, ", expected bytes"));
  }
  if (timing.outcome != space::Outcome::kOk) return absl::OkStatus();
  if (!IsPositive(timing.ns) ||
      !std::all_of(timing.samples_ns.begin(), timing.samples_ns.end(),
                   IsPositive)) {
    return Fault(absl::StrCat("has times of ", name,
                              " that are not positive, expected nanoseconds"));
  }
  if (timing.samples_ns.empty() ||
      timing.samples_ns.size() > static_cast<size_t>(request.pairs)) {
    return Fault(absl::StrCat("has ", timing.samples_ns.size(), " samples of ",
                              name, ", expected 1 to ", request.pairs));
  }
  if (!IsNear(timing.ns, Median(timing.samples_ns))) {
    return Fault(absl::StrCat("has a time of ", name, " of ", timing.ns,
                              " ns, expected the median of its samples"));
  }
  // A call must end within the time limit of its process. Simulated ones of
  // huge kernels take years, and illegal tiles next to nothing of that.
  const bool is_simulated = IsForTpu(request.form);
  if (!is_simulated && timing.ns > absl::ToDoubleNanoseconds(kMaxTime)) {
    return Fault(absl::StrCat("has a time of ", name, " of ", timing.ns,
                              " ns, expected less than a day"));
  }
  if (!is_simulated &&
      (timing.ratio < 1 / kMaxRatio || timing.ratio > kMaxRatio)) {
    return Fault(absl::StrCat("has a ratio of ", name, " of ", timing.ratio,
                              ", expected less than a million either way"));
  }
  if (!IsPositive(timing.ratio_low) || !IsPositive(timing.ratio_high) ||
      !(timing.ratio_low <= timing.ratio) ||
      !(timing.ratio <= timing.ratio_high)) {
    return Fault(
        absl::StrCat("has a ratio of ", name, " outside of its interval"));
  }
  if (timing.ratio_high > kMaxSpread * timing.ratio_low) {
    return Fault(absl::StrCat("has an interval of ", name, " of ",
                              timing.ratio_low, " to ", timing.ratio_high,
                              ", expected a factor of at most ", kMaxSpread));
  }
  // Of values near zero it can be large, but not without bound.
  if (!(timing.max_rel_error >= 0 && timing.max_rel_error <= kMaxRatio)) {
    return Fault(absl::StrCat("has an error of ", name, " of ",
                              timing.max_rel_error, ", expected 0 to ",
                              kMaxRatio));
  }
  return absl::OkStatus();
}

absl::Status CheckCalibration(const Calibration& calibration) {
  // Workers of older versions do not report the rates of other types.
  const auto is_rate = [](double gflops) {
    return gflops == 0 || IsPositive(gflops);
  };
  const bool is_good =
      IsPositive(calibration.peak_gflops) && is_rate(calibration.f64_gflops) &&
      is_rate(calibration.bf16_dot_gflops) &&
      is_rate(calibration.s16_dot_gflops) &&
      is_rate(calibration.s8_dot_gflops) && !calibration.levels.empty() &&
      std::all_of(calibration.levels.begin(), calibration.levels.end(),
                  [](const Calibration::Level& level) {
                    return level.bytes > 0 && IsPositive(level.read_gbps) &&
                           IsPositive(level.copy_gbps);
                  });
  return is_good ? absl::OkStatus()
                 : Fault("has a calibration with rates that are not positive");
}

}  // namespace

absl::Status CheckReport(const KernelRequest& request,
                         const KernelReport& report) {
  if (report.candidates.size() != request.candidate_scripts.size()) {
    return Fault(absl::StrCat("has ", report.candidates.size(),
                              " candidates, expected ",
                              request.candidate_scripts.size()));
  }
  for (const KernelTiming& timing : report.candidates) {
    HONE_RETURN_IF_ERROR(CheckTiming(request, timing, "a candidate"));
  }
  if (request.time_baseline && !report.baseline.has_value()) {
    return Fault("lacks the baseline");
  }
  if (report.baseline.has_value()) {
    HONE_RETURN_IF_ERROR(
        CheckTiming(request, *report.baseline, "the baseline"));
  }
  if (request.calibrate && !report.calibration.has_value()) {
    return Fault("lacks the calibration");
  }
  return report.calibration.has_value() ? CheckCalibration(*report.calibration)
                                        : absl::OkStatus();
}

}  // namespace hone::backends
