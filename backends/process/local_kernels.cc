#include "backends/process/local_kernels.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "backends/cpu/host.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/time_limit.h"
#include "backends/tpu_sim/bundled_tpus.h"
#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_bench.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

// The interval at which `stop` is polled.
constexpr absl::Duration kPatrol = absl::Milliseconds(100);

// A bundled TPU, and its description as a request has it.
struct LocalTpu {
  KernelDevice device;
  std::string description;
};

const std::vector<LocalTpu>& LocalTpus() {
  static const auto* const tpus = [] {
    auto* const list = new std::vector<LocalTpu>();
    for (const BundledTpu& bundled : BundledTpus()) {
      const absl::StatusOr<Tpu> tpu = FindTpu(bundled.id);
      if (!tpu.ok()) continue;
      list->push_back({TpuDevice(bundled.id, *tpu), PrintTpu(*tpu)});
    }
    return list;
  }();
  return *tpus;
}

}  // namespace

std::vector<KernelDevice> LocalKernels::Devices() { return {HostDevice()}; }

absl::StatusOr<KernelDevice> LocalKernels::AwaitDevice(
    absl::string_view fingerprint, const std::function<bool()>&) {
  std::vector<KernelDevice> devices = Devices();
  for (const LocalTpu& tpu : LocalTpus()) devices.push_back(tpu.device);
  for (const KernelDevice& device : devices) {
    if (fingerprint.empty() || fingerprint == device.fingerprint ||
        fingerprint == device.kind) {
      return device;
    }
  }
  return absl::UnavailableError(
      absl::StrCat("no device ", fingerprint, " here, expected ",
                   HostDevice().fingerprint, " or a bundled TPU"));
}

absl::StatusOr<KernelReport> LocalKernels::Measure(
    const KernelRequest& request, absl::string_view fingerprint,
    const std::function<bool()>& stop) {
  HONE_ASSIGN_OR_RETURN(const KernelDevice device,
                        AwaitDevice(fingerprint, stop));
  v1::Work work;
  ToProto(request, *work.mutable_kernel());
  for (const LocalTpu& tpu : LocalTpus()) {
    if (tpu.device.fingerprint != device.fingerprint) continue;
    work.mutable_kernel()->set_tpu(tpu.description);
  }
  const absl::Duration limit = TimeLimit(request);
  absl::MutexLock lock(&mu_);
  const absl::Duration end = SystemClock().Monotonic() + limit;
  HONE_RETURN_IF_ERROR(process_.Start(work));
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const std::optional<v1::Completion> completion,
                          process_.Await(kPatrol));
    if (completion.has_value() && completion->has_error()) {
      return absl::Status(
          static_cast<absl::StatusCode>(completion->error().code()),
          completion->error().message());
    }
    if (completion.has_value()) return FromProto(completion->kernel());
    if (stop && stop()) {
      process_.Kill();
      return absl::CancelledError("stopped");
    }
    if (SystemClock().Monotonic() >= end) {
      process_.Kill();
      return absl::DeadlineExceededError(
          absl::StrCat("the measuring process is not done after ",
                       absl::FormatDuration(limit)));
    }
  }
}

}  // namespace hone::backends
