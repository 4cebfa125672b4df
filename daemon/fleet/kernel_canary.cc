#include "daemon/fleet/kernel_canary.h"

#include <cmath>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"

#include "backends/process/check_report.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/time_limit.h"

namespace hone::daemon {
namespace {

constexpr char kModule[] = R"(HloModule canary

ENTRY main {
  a = f32[64,64] parameter(0)
  b = f32[64,64] parameter(1)
  ROOT c = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";
// Vectorized along rows, some microseconds. As lowered, each element waits for
// the previous sum: over ten times as long.
constexpr char kFast[] =
    "fission 0.0 1\nreorder 0.1\nsplit 0.1.0 16\nvectorize 0.1.0.0\n";
constexpr char kSlow[] = "";
constexpr char kImpossible[] = "split 0.7.7 16\n";

// A/A: a ratio within the first is near enough; within the second it is chance
// if the interval contains 1. An interval of 95 % misses 1 in one of twenty
// honest measurements, but hardly by more than a few percent.
constexpr double kNear = 0.02;
constexpr double kFar = 0.10;
// As for the confirmation of a winner: a busy machine must not seem noisy.
constexpr int32_t kPairs = 31;
// The slow schedule takes at least this many times the fast one's time.
constexpr double kSlower = 1.2;

backends::KernelRequest Request(uint64_t seed) {
  backends::KernelRequest request;
  request.module = kModule;
  request.baseline_script = kFast;
  request.candidate_scripts = {kFast, kSlow, kImpossible};
  request.seed = seed;
  request.pairs = kPairs;
  request.fresh_process = true;
  return request;
}

Fleet::CanaryResult Judge(const v1::Completion& completion) {
  if (completion.has_error()) {
    return {CanaryVerdict::kFailed,
            absl::StrFormat("it cannot measure a known kernel: %s",
                            completion.error().message())};
  }
  const backends::KernelRequest request = Request(0);
  const absl::StatusOr<backends::KernelReport> report =
      backends::FromProto(completion.kernel());
  const absl::Status checked =
      report.ok() ? backends::CheckReport(request, *report) : report.status();
  if (!checked.ok()) {
    return {CanaryVerdict::kWrong, std::string(checked.message())};
  }
  const backends::KernelTiming& same = report->candidates[0];
  const backends::KernelTiming& slow = report->candidates[1];
  const backends::KernelTiming& impossible = report->candidates[2];
  if (impossible.outcome != space::Outcome::kInvalid) {
    return {CanaryVerdict::kWrong,
            absl::StrFormat("a script that cannot be applied is reported as "
                            "%s, expected invalid",
                            space::OutcomeName(impossible.outcome))};
  }
  for (const backends::KernelTiming* timing : {&same, &slow}) {
    if (timing->outcome == space::Outcome::kOk) continue;
    const bool failed = timing->outcome == space::Outcome::kCrashed ||
                        timing->outcome == space::Outcome::kTimeout;
    return {failed ? CanaryVerdict::kFailed : CanaryVerdict::kWrong,
            absl::StrFormat("a known kernel is reported as %s, expected ok",
                            space::OutcomeName(timing->outcome))};
  }
  if (slow.ratio < kSlower) {
    return {CanaryVerdict::kWrong,
            absl::StrFormat("a slow schedule takes %.3f of a fast one's time, "
                            "expected more than %.1f",
                            slow.ratio, kSlower)};
  }
  const double off = std::abs(same.ratio - 1);
  const bool contains = same.ratio_low <= 1 && same.ratio_high >= 1;
  if (off > kFar || (off > kNear && !contains)) {
    return {CanaryVerdict::kNoisy,
            absl::StrFormat("equal schedules differ: %.3f (%.3f to %.3f)",
                            same.ratio, same.ratio_low, same.ratio_high)};
  }
  return {CanaryVerdict::kPassed, ""};
}

}  // namespace

Fleet::Canary KernelCanary() {
  return {.make =
              [](uint64_t seed) {
                v1::Work work;
                backends::ToProto(Request(seed), *work.mutable_kernel());
                return work;
              },
          .judge = Judge,
          .limit = backends::TimeLimit(Request(0))};
}

}  // namespace hone::daemon
