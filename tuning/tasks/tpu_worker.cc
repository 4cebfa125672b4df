#include "tuning/tasks/tpu_worker.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "backends/tpu_sim/tpu_bench.h"
#include "base/status_macros.h"

namespace hone::tuning {

namespace {

// Failures in a row after which workers are not asked any more: each may have
// taken as long as a worker that hangs is waited for.
constexpr int kMostFailures = 3;
// More than any kernel needs.
constexpr double kMostBytes = 1e18;

bool IsOffered(backends::KernelMeasurer& kernels,
               absl::string_view fingerprint) {
  return absl::c_any_of(kernels.Devices(),
                        [&](const backends::KernelDevice& device) {
                          return device.fingerprint == fingerprint;
                        });
}

// Returns OK if a simulation may have given the report.
absl::Status Check(const backends::KernelReport& report, size_t candidates) {
  if (report.candidates.size() != candidates) {
    return absl::InternalError(
        absl::StrCat("a worker's report has ", report.candidates.size(),
                     " candidates, expected ", candidates));
  }
  for (const backends::KernelTiming& timing : report.candidates) {
    if (timing.outcome != space::Outcome::kOk &&
        timing.outcome != space::Outcome::kInvalid) {
      return absl::InternalError(absl::StrCat(
          "a worker reports a simulation as ",
          space::OutcomeName(timing.outcome), ", expected ok or invalid"));
    }
    if (!(timing.violation >= 0 && timing.violation <= kMostBytes)) {
      return absl::InternalError(
          absl::StrCat("a worker reports that ", timing.violation,
                       " bytes are missing, expected 0 to ", kMostBytes));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<TpuWorker> TpuWorker::Find(const backends::Tpu& tpu,
                                           const TaskContext& context) {
  if (context.kernels == nullptr) return nullptr;
  std::string fingerprint = backends::TpuDevice("", tpu).fingerprint;
  // It does not wait for one: without a worker nothing is missing.
  if (!IsOffered(*context.kernels, fingerprint)) return nullptr;
  return std::shared_ptr<TpuWorker>(
      new TpuWorker(*context.kernels, std::move(fingerprint), context.stop));
}

absl::StatusOr<std::vector<space::Measurement>> TpuWorker::Measure(
    absl::string_view kernel, const hlo::KernelConfig& by_default,
    absl::Span<const hlo::KernelConfig> configs) {
  backends::KernelRequest request;
  request.form = backends::KernelForm::kTpuKernel;
  request.module = std::string(kernel);
  request.baseline_script = hlo::PrintKernelConfig(by_default);
  for (const hlo::KernelConfig& config : configs) {
    request.candidate_scripts.push_back(hlo::PrintKernelConfig(config));
  }
  return Measure(request);
}

absl::StatusOr<std::vector<space::Measurement>> TpuWorker::MeasureDefaults(
    std::vector<std::string> kernels) {
  backends::KernelRequest request;
  request.form = backends::KernelForm::kTpuKernels;
  request.candidate_scripts.resize(kernels.size());
  request.kernels = std::move(kernels);
  // A simulation takes milliseconds.
  request.timeout = absl::Seconds(1);
  return Measure(request);
}

absl::StatusOr<std::vector<space::Measurement>> TpuWorker::Measure(
    const backends::KernelRequest& request) {
  const int failures = [&] {
    absl::MutexLock lock(&mu_);
    return failures_;
  }();
  if (failures >= kMostFailures ||
      (failures > 0 && !IsOffered(kernels_, fingerprint_))) {
    return absl::UnavailableError("no worker offers the TPU any more");
  }
  absl::StatusOr<backends::KernelReport> report =
      kernels_.Measure(request, fingerprint_, stop_);
  if (report.ok()) {
    const absl::Status checked =
        Check(*report, request.candidate_scripts.size());
    if (!checked.ok()) report = checked;
  }
  absl::MutexLock lock(&mu_);
  if (IsFailure(report.status())) ++failures_;
  if (!report.ok()) return report.status();
  failures_ = 0;
  std::vector<space::Measurement> measurements;
  for (backends::KernelTiming& timing : report->candidates) {
    space::Measurement& measurement = measurements.emplace_back();
    measurement.outcome = timing.outcome;
    measurement.message = std::move(timing.message);
    measurement.violation = timing.violation;
    if (timing.outcome == space::Outcome::kOk) measurement.cost = timing.ns;
  }
  machines_.insert(report->machines.begin(), report->machines.end());
  return measurements;
}

bool TpuWorker::IsFailure(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

std::vector<std::string> TpuWorker::machines() const {
  absl::MutexLock lock(&mu_);
  return {machines_.begin(), machines_.end()};
}

}  // namespace hone::tuning
