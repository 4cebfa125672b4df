#include "tuning/tasks/tpu_worker.h"

#include "absl/algorithm/container.h"

#include "backends/tpu_sim/tpu_bench.h"
#include "base/status_macros.h"

namespace hone::tuning {

std::shared_ptr<TpuWorker> TpuWorker::Find(const backends::Tpu& tpu,
                                           const TaskContext& context) {
  if (context.kernels == nullptr) return nullptr;
  std::string fingerprint = backends::TpuDevice("", tpu).fingerprint;
  // It does not wait for one: without a worker nothing is missing.
  if (absl::c_none_of(context.kernels->Devices(),
                      [&](const backends::KernelDevice& device) {
                        return device.fingerprint == fingerprint;
                      })) {
    return nullptr;
  }
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
  HONE_ASSIGN_OR_RETURN(backends::KernelReport report,
                        kernels_.Measure(request, fingerprint_, stop_));
  std::vector<space::Measurement> measurements;
  for (backends::KernelTiming& timing : report.candidates) {
    space::Measurement& measurement = measurements.emplace_back();
    measurement.outcome = timing.outcome;
    measurement.message = std::move(timing.message);
    measurement.violation = timing.violation;
    if (timing.outcome == space::Outcome::kOk) measurement.cost = timing.ns;
  }
  absl::MutexLock lock(&mu_);
  machines_.insert(report.machines.begin(), report.machines.end());
  return measurements;
}

std::vector<std::string> TpuWorker::machines() const {
  absl::MutexLock lock(&mu_);
  return {machines_.begin(), machines_.end()};
}

}  // namespace hone::tuning
