#include "backends/process/local_kernels.h"

#include <optional>

#include "absl/strings/str_cat.h"

#include "backends/cpu/host.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/time_limit.h"
#include "base/clock.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

// The interval at which `stop` is polled.
constexpr absl::Duration kPatrol = absl::Milliseconds(100);

}  // namespace

std::vector<KernelDevice> LocalKernels::Devices() { return {HostDevice()}; }

absl::StatusOr<KernelDevice> LocalKernels::AwaitDevice(
    absl::string_view fingerprint, const std::function<bool()>&) {
  if (fingerprint.empty() || fingerprint == HostDevice().fingerprint) {
    return HostDevice();
  }
  return absl::UnavailableError(absl::StrCat(
      "no device ", fingerprint, " here, expected ", HostDevice().fingerprint));
}

absl::StatusOr<KernelReport> LocalKernels::Measure(
    const KernelRequest& request, absl::string_view fingerprint,
    const std::function<bool()>& stop) {
  HONE_RETURN_IF_ERROR(AwaitDevice(fingerprint, stop).status());
  v1::Work work;
  ToProto(request, *work.mutable_kernel());
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
