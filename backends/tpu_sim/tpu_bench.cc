#include "backends/tpu_sim/tpu_bench.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/simulator.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/tiles/register_layout.h"

namespace hone::backends {
namespace {

// Returns the module of a kernel. Errors: InvalidArgument, "NAME:…".
absl::StatusOr<hlo::Module> ReadKernel(absl::string_view text,
                                       const std::string& name) {
  HONE_ASSIGN_OR_RETURN(hlo::Module module, hlo::ParseHloText(text, name));
  const absl::Status verified = hlo::VerifyModule(module);
  if (verified.ok()) return module;
  return absl::Status(verified.code(),
                      absl::StrCat(name, ": ", verified.message()));
}

// Returns the configuration of a script; of an empty one, the default.
absl::StatusOr<hlo::KernelConfig> ConfigOf(const KernelSimulator& simulator,
                                           absl::string_view script) {
  if (script.empty()) return simulator.DefaultConfig();
  return hlo::ParseKernelConfig(script);
}

// Returns the timing of a configuration, without a ratio.
KernelTiming TimingOf(const KernelSimulator& simulator,
                      const absl::StatusOr<hlo::KernelConfig>& config) {
  KernelTiming timing;
  const absl::StatusOr<KernelTime> time =
      config.ok() ? simulator.Simulate(*config)
                  : absl::StatusOr<KernelTime>(config.status());
  if (!time.ok()) {
    timing.outcome = space::Outcome::kInvalid;
    timing.message = std::string(time.status().message());
    return timing;
  }
  const space::Measurement measurement = ToMeasurement(*time);
  timing.outcome = measurement.outcome;
  timing.message = measurement.message;
  timing.violation = measurement.violation;
  if (timing.outcome != space::Outcome::kOk) return timing;
  timing.ns = measurement.cost;
  timing.samples_ns = {timing.ns};
  return timing;
}

// Times kernels, each with its own configuration.
absl::StatusOr<KernelReport> MeasureKernels(const KernelRequest& request,
                                            const Tpu& tpu) {
  if (request.kernels.size() != request.candidate_scripts.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.kernels.size(), " kernels, expected one for each of ",
        request.candidate_scripts.size(), " configurations"));
  }
  KernelReport report;
  for (size_t i = 0; i < request.kernels.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(
        const hlo::Module kernel,
        ReadKernel(request.kernels[i], absl::StrCat("<kernel ", i, ">")));
    const KernelSimulator simulator(kernel, tpu);
    report.candidates.push_back(
        TimingOf(simulator, ConfigOf(simulator, request.candidate_scripts[i])));
  }
  return report;
}

// Times configurations of one kernel against a baseline.
absl::StatusOr<KernelReport> MeasureConfigs(const KernelRequest& request,
                                            const Tpu& tpu) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        ReadKernel(request.module, "<kernel>"));
  const KernelSimulator simulator(module, tpu);
  KernelTiming baseline =
      TimingOf(simulator, ConfigOf(simulator, request.baseline_script));
  const bool has_time = baseline.outcome == space::Outcome::kOk;
  if (!has_time && baseline.violation == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the baseline: ", baseline.message));
  }
  KernelReport report;
  for (const std::string& script : request.candidate_scripts) {
    KernelTiming timing = TimingOf(simulator, hlo::ParseKernelConfig(script));
    if (has_time && timing.outcome == space::Outcome::kOk) {
      timing.ratio = timing.ns / baseline.ns;
      timing.ratio_low = timing.ratio_high = timing.ratio;
    }
    report.candidates.push_back(std::move(timing));
  }
  if (request.time_baseline) report.baseline = std::move(baseline);
  return report;
}

}  // namespace

KernelDevice TpuDevice(absl::string_view name, const Tpu& tpu) {
  KernelDevice device;
  device.kind = kTpuDeviceKind;
  device.model = absl::StrCat("TPU ", name, " (simulated)");
  device.isa = std::string(name);
  device.machine.l1_bytes = tpu.vmem_bytes;
  device.machine.l2_bytes = tpu.vmem_bytes;
  device.machine.vector_bytes = hlo::kRegisterBytes;
  device.machine.vector_registers = tpu.registers;
  device.fingerprint =
      absl::StrCat(device.kind, ":",
                   Sha256Hex(absl::StrCat(kTpuSimVersion, "\n", PrintTpu(tpu)))
                       .substr(0, 16));
  return device;
}

absl::StatusOr<KernelReport> MeasureOnTpu(const KernelRequest& request) {
  HONE_ASSIGN_OR_RETURN(const Tpu tpu, ParseTpu(request.tpu, "<tpu>"));
  if (request.calibrate) {
    return absl::InvalidArgumentError(
        "a simulated TPU has no calibration, expected a request without one");
  }
  return request.form == KernelForm::kTpuKernels ? MeasureKernels(request, tpu)
                                                 : MeasureConfigs(request, tpu);
}

}  // namespace hone::backends
