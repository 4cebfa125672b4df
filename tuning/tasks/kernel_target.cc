#include "tuning/tasks/kernel_target.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "hlo/rewrite/numerics.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/registry.h"

namespace hone::tuning {
namespace {

// Raised whenever a script comes to make something else of the same module, or
// an action to mean something else; the lists of choices and transformations
// are part of the space version by themselves.
constexpr int kScriptsVersion = 7;

constexpr int32_t kMaxThreads = 1024;

absl::Status NobodyMeasures() {
  return absl::UnavailableError(
      "no worker measures kernels, expected one (hone worker --connect "
      "HOST:PORT)");
}

}  // namespace

std::string KernelSpaceVersion() {
  const std::string choices =
      absl::StrJoin(loops::AllChoices(), ";",
                    [](std::string* out, const loops::ChoiceInfo& choice) {
                      absl::StrAppend(out, choice.name, "=",
                                      absl::StrJoin(choice.values, ","));
                    });
  return absl::StrCat(
      kScriptsVersion, ":", choices, ":",
      absl::StrJoin(loops::AllTransforms(), ",",
                    [](std::string* out, const loops::Transform* transform) {
                      absl::StrAppend(out, transform->name());
                    }));
}

absl::StatusOr<std::string> KernelOptionsKey(const TaskOptions& options) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.threads, " threads, expected 1 to ", kMaxThreads));
  }
  if (options.numerics == hlo::Numerics::kExact) {
    return absl::InvalidArgumentError(
        "numerics 'exact', expected reassociate or fast: schedules change the "
        "order of reductions");
  }
  return absl::StrCat("threads=", options.threads);
}

absl::StatusOr<std::string> ResolveKernelTarget(
    absl::string_view asked, backends::KernelMeasurer* kernels) {
  if (absl::StartsWith(asked, absl::StrCat(kKernelDeviceKind, ":"))) {
    return std::string(asked);
  }
  if (!asked.empty() && asked != kKernelDeviceKind) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target '", asked,
        "' is no device, expected 'cpu' or the fingerprint of one"));
  }
  if (kernels == nullptr) return NobodyMeasures();
  HONE_ASSIGN_OR_RETURN(const backends::KernelDevice any,
                        kernels->AwaitDevice(kKernelDeviceKind,
                                             /*stop=*/nullptr));
  std::vector<backends::KernelDevice> devices = kernels->Devices();
  devices.erase(std::remove_if(devices.begin(), devices.end(),
                               [](const backends::KernelDevice& device) {
                                 return device.kind != kKernelDeviceKind;
                               }),
                devices.end());
  if (devices.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat(
        "workers offer several devices, expected one of them as the target: ",
        absl::StrJoin(devices, ", ", [](std::string* out, const auto& device) {
          absl::StrAppend(out, device.fingerprint, " (", device.model, ")");
        })));
  }
  return any.fingerprint;
}

absl::StatusOr<backends::KernelDevice> AwaitKernelDevice(
    const TaskOptions& options, const TaskContext& context) {
  if (context.kernels == nullptr) return NobodyMeasures();
  HONE_ASSIGN_OR_RETURN(
      backends::KernelDevice device,
      context.kernels->AwaitDevice(context.target, context.stop));
  if (options.threads > device.machine.threads) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.threads, " threads, expected at most the ",
                     device.machine.threads, " of ", device.model));
  }
  device.machine.threads = options.threads;
  return device;
}

}  // namespace hone::tuning
