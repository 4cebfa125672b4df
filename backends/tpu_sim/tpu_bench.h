#ifndef HONE_BACKENDS_TPU_SIM_TPU_BENCH_H_
#define HONE_BACKENDS_TPU_SIM_TPU_BENCH_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "backends/tpu_sim/tpu.h"

namespace hone::backends {

// The kind of simulated TPUs as devices.
inline constexpr char kTpuDeviceKind[] = "tpu_sim";

// Returns a simulated TPU as a device. `name` is shown to people; the
// fingerprint is a hash of the description and of the simulator's version.
KernelDevice TpuDevice(absl::string_view name, const Tpu& tpu);

// Simulates the configurations of a request of form kTpuKernel, or the kernels
// of one of form kTpuKernels, on the TPU that it describes. An empty baseline,
// or an empty configuration of one of several kernels, is the default one
// (KernelSimulator::DefaultConfig). Times are exact: one sample, and ratios
// with empty intervals. A configuration that is no text of one, or not of the
// kernel's space, is kInvalid; one that overflows VMEM is so with a violation,
// the baseline too, against which ratios are 1 then.
// Errors: InvalidArgument for a module, a kernel, a description or a baseline
// that is none, for more or fewer kernels than configurations, and for a
// request to calibrate.
absl::StatusOr<KernelReport> MeasureOnTpu(const KernelRequest& request);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_TPU_BENCH_H_
