#include "daemon/fleet/fleet_kernels.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "backends/process/check_report.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/time_limit.h"
#include "base/status_macros.h"
#include "base/trace_context.h"

namespace hone::daemon {
namespace {

// Two machines of one fingerprint are alike, not equal: frequency and memory
// differ. Ratios that are as near as this agree even if their intervals are
// disjoint.
constexpr double kTolerance = 1.05;

// Times differ more, as load does.
constexpr double kTimeTolerance = 2;
// Every cost of a tuning is a multiple of the baseline's time. Of workers that
// disagree about it the wrong one is found by canaries or by a third machine.
constexpr int kBaselineAttempts = 3;

// What a worker may take beyond the measurement: the exchange, and fetching the
// module at a slow network's speed.
constexpr absl::Duration kGrace = absl::Seconds(30);
constexpr double kFetchedPerSecond = 1 << 20;

absl::StatusOr<backends::KernelReport> ReportOf(
    const backends::KernelRequest& request, const v1::Completion& completion) {
  HONE_ASSIGN_OR_RETURN(backends::KernelReport report,
                        backends::FromProto(completion.kernel()));
  HONE_RETURN_IF_ERROR(backends::CheckReport(request, report));
  return report;
}

bool Agree(const backends::KernelTiming& a, const backends::KernelTiming& b) {
  if (a.outcome != b.outcome) return false;
  return a.outcome != space::Outcome::kOk ||
         (a.ratio_low <= b.ratio_high * kTolerance &&
          b.ratio_low <= a.ratio_high * kTolerance);
}

bool TimesAgree(const backends::KernelTiming& a,
                const backends::KernelTiming& b) {
  return a.outcome == b.outcome &&
         (a.outcome != space::Outcome::kOk ||
          (a.ns <= kTimeTolerance * b.ns && b.ns <= kTimeTolerance * a.ns));
}

std::string Describe(const std::string& worker,
                     const backends::KernelTiming& timing) {
  if (timing.outcome != space::Outcome::kOk) {
    return absl::StrCat(worker, ": ", space::OutcomeName(timing.outcome));
  }
  return absl::StrFormat("%s: %.3f (%.3f to %.3f)", worker, timing.ratio,
                         timing.ratio_low, timing.ratio_high);
}

}  // namespace

std::vector<backends::KernelDevice> FleetKernels::Devices() {
  std::vector<backends::KernelDevice> devices;
  for (const v1::Device& device : fleet_.Devices()) {
    devices.push_back(backends::FromProto(device));
  }
  return devices;
}

absl::StatusOr<backends::KernelDevice> FleetKernels::AwaitDevice(
    absl::string_view fingerprint, const std::function<bool()>& stop) {
  HONE_ASSIGN_OR_RETURN(const v1::Device device,
                        waits_ ? fleet_.AwaitDevice(fingerprint, stop)
                               : fleet_.GetDevice(fingerprint));
  return backends::FromProto(device);
}

absl::StatusOr<Fleet::Result> FleetKernels::Run(
    const backends::KernelRequest& request, absl::string_view fingerprint,
    absl::string_view other_machine, const std::function<bool()>& stop) {
  backends::KernelRequest plain = request;
  plain.confirm = false;
  Fleet::Request work;
  backends::ToProto(plain, *work.work.mutable_kernel());
  work.work.set_traceparent(std::string(CurrentTraceparent()));
  work.fingerprint = std::string(fingerprint);
  work.other_machine = std::string(other_machine);
  // The worker itself gives up first, with an error that says more.
  work.limit = backends::TimeLimit(plain) + kGrace +
               absl::Seconds(1) * (static_cast<double>(plain.module.size()) /
                                   kFetchedPerSecond);
  work.check = [plain](const v1::Completion& completion) {
    return ReportOf(plain, completion).status();
  };
  return fleet_.Run(std::move(work), stop);
}

absl::StatusOr<backends::KernelReport> FleetKernels::Measure(
    const backends::KernelRequest& request, absl::string_view fingerprint,
    const std::function<bool()>& stop) {
  std::string disagreement;
  for (int i = 0; i < kBaselineAttempts; ++i) {
    HONE_ASSIGN_OR_RETURN(
        const Fleet::Result result,
        Run(request, fingerprint, /*other_machine=*/"", stop));
    HONE_ASSIGN_OR_RETURN(backends::KernelReport report,
                          ReportOf(request, result.completion));
    report.workers = {result.worker};
    report.machines = {result.machine};
    if (!request.confirm) return report;
    HONE_ASSIGN_OR_RETURN(disagreement,
                          Confirm(request, fingerprint, result, stop, report));
    if (disagreement.empty()) return report;
  }
  return absl::InternalError(disagreement);
}

absl::StatusOr<std::string> FleetKernels::Confirm(
    const backends::KernelRequest& request, absl::string_view fingerprint,
    const Fleet::Result& first, const std::function<bool()>& stop,
    backends::KernelReport& report) {
  if (!fleet_.HasOtherMachine(fingerprint, first.machine)) {
    fleet_.CountUnconfirmed();
    return "";
  }
  backends::KernelRequest again = request;
  again.calibrate = false;
  const absl::StatusOr<Fleet::Result> second =
      Run(again, fingerprint, first.machine, stop);
  if (absl::IsCancelled(second.status())) return second.status();
  if (!second.ok()) {
    // A second machine that fails must not keep the first one's result.
    fleet_.CountUnconfirmed();
    return "";
  }
  HONE_ASSIGN_OR_RETURN(const backends::KernelReport other,
                        ReportOf(again, second->completion));
  report.workers.push_back(second->worker);
  report.machines.push_back(second->machine);
  if (request.time_baseline && !TimesAgree(*report.baseline, *other.baseline)) {
    std::string disagreement = absl::StrFormat(
        "workers disagree about the baseline: %s: %s, %.0f ns; %s: %s, %.0f ns",
        first.worker, space::OutcomeName(report.baseline->outcome),
        report.baseline->ns, second->worker,
        space::OutcomeName(other.baseline->outcome), other.baseline->ns);
    fleet_.CountConfirmation(first, *second, disagreement);
    return disagreement;
  }
  std::string disagreement;
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    backends::KernelTiming& timing = report.candidates[i];
    const backends::KernelTiming& judged = other.candidates[i];
    if (Agree(timing, judged)) {
      if (judged.ratio > timing.ratio) timing = judged;
      continue;
    }
    disagreement =
        absl::StrCat("workers disagree: ", Describe(first.worker, timing), ", ",
                     Describe(second->worker, judged));
    timing.outcome = space::Outcome::kWrongResult;
    timing.message = disagreement;
  }
  fleet_.CountConfirmation(first, *second, disagreement);
  return "";
}

}  // namespace hone::daemon
