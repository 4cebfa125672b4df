#ifndef HONE_TESTS_TUNING_SCRIPTED_KERNELS_H_
#define HONE_TESTS_TUNING_SCRIPTED_KERNELS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backends/kernel_measurer.h"
#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_bench.h"

namespace hone::tuning {

// Measures without a device: what tests say a script takes. Kernels for a
// simulated TPU are simulated, as by a worker that offers it.
class ScriptedKernels final : public backends::KernelMeasurer {
 public:
  // A script's time as a share of the baseline's; by default shorter scripts
  // are better.
  std::function<backends::KernelTiming(const backends::KernelRequest&,
                                       const std::string& script)>
      time = [](const backends::KernelRequest& request,
                const std::string& script) {
        backends::KernelTiming timing;
        timing.ratio =
            (1.0 + static_cast<double>(script.size())) /
            (1.0 + static_cast<double>(request.baseline_script.size()));
        timing.ratio_low = timing.ratio * 0.99;
        timing.ratio_high = timing.ratio * 1.01;
        timing.samples_ns = {1000 * timing.ratio};
        timing.max_rel_error = 1e-7;
        return timing;
      };
  double baseline_ns = 1000;
  absl::Status error;
  // The requests that end well before the first with the error.
  size_t requests_before_error = 0;
  // Changes reports on a simulated TPU.
  std::function<void(backends::KernelReport&)> spoil = nullptr;
  // As KernelReport has them; the last only if a confirmation is asked for.
  std::vector<std::string> workers;
  std::vector<std::string> machines;
  std::vector<backends::KernelDevice> devices = {Device("cpu:a")};
  std::vector<backends::KernelRequest> requests;

  static backends::KernelDevice Device(const std::string& fingerprint) {
    backends::KernelDevice device;
    device.kind = "cpu";
    device.model = "a machine";
    device.machine.threads = 4;
    device.fingerprint = fingerprint;
    return device;
  }

  void Offer(const backends::Tpu& tpu) {
    tpu_ = backends::PrintTpu(tpu);
    devices.push_back(backends::TpuDevice("offered", tpu));
  }

  std::vector<backends::KernelDevice> Devices() override { return devices; }

  absl::StatusOr<backends::KernelDevice> AwaitDevice(
      absl::string_view fingerprint, const std::function<bool()>&) override {
    for (const backends::KernelDevice& device : devices) {
      if (fingerprint.empty() || device.fingerprint == fingerprint ||
          device.kind == fingerprint) {
        return device;
      }
    }
    return absl::UnavailableError("no such device");
  }

  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request, absl::string_view,
      const std::function<bool()>& stop) override {
    requests.push_back(request);
    if (!error.ok() && requests.size() > requests_before_error) return error;
    if (stop && stop()) return absl::CancelledError("stopped");
    if (backends::IsForTpu(request.form)) {
      backends::KernelRequest with_tpu = request;
      with_tpu.tpu = tpu_;
      auto report = backends::MeasureOnTpu(with_tpu);
      if (!report.ok()) return report;
      report->machines = machines;
      if (spoil) spoil(*report);
      return report;
    }
    backends::KernelReport report;
    if (request.calibrate) {
      report.calibration = {
          .threads = 1,
          .peak_gflops = 1000,
          .levels = {{.bytes = 1 << 30, .read_gbps = 1000, .copy_gbps = 1000}}};
    }
    if (request.time_baseline) {
      report.baseline.emplace();
      report.baseline->ns = baseline_ns;
    }
    for (const std::string& script : request.candidate_scripts) {
      report.candidates.push_back(time(request, script));
    }
    report.workers = workers;
    if (!request.confirm && workers.size() > 1) report.workers.pop_back();
    return report;
  }

 private:
  std::string tpu_;
};

}  // namespace hone::tuning

#endif  // HONE_TESTS_TUNING_SCRIPTED_KERNELS_H_
