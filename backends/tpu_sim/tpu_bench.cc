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

// Returns the timing of a configuration, without a ratio.
KernelTiming TimingOf(const KernelSimulator& simulator,
                      absl::string_view script) {
  KernelTiming timing;
  const auto config = hlo::ParseKernelConfig(script);
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
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ParseHloText(request.module, "<kernel>"));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  if (request.calibrate) {
    return absl::InvalidArgumentError(
        "a simulated TPU has no calibration, expected a request without one");
  }
  const KernelSimulator simulator(module, tpu);
  KernelTiming baseline = TimingOf(
      simulator, request.baseline_script.empty()
                     ? hlo::PrintKernelConfig(simulator.DefaultConfig())
                     : request.baseline_script);
  const bool has_time = baseline.outcome == space::Outcome::kOk;
  if (!has_time && baseline.violation == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the baseline: ", baseline.message));
  }
  KernelReport report;
  for (const std::string& script : request.candidate_scripts) {
    KernelTiming timing = TimingOf(simulator, script);
    if (has_time && timing.outcome == space::Outcome::kOk) {
      timing.ratio = timing.ns / baseline.ns;
      timing.ratio_low = timing.ratio_high = timing.ratio;
    }
    report.candidates.push_back(std::move(timing));
  }
  if (request.time_baseline) report.baseline = std::move(baseline);
  return report;
}

}  // namespace hone::backends
