#include "daemon/fleet/check_request.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "proto/worker_protocol.h"

namespace hone::daemon {
namespace {

bool IsIdentifierCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
         c == '_' || c == '.' || c == ':';
}

// Identifiers are shown in lists, logs and records, so they have no character
// that means something there.
absl::Status CheckIdentifier(absl::string_view field, absl::string_view value) {
  if (value.empty()) return InvalidField(field, "it is empty");
  if (value.size() > static_cast<size_t>(kMaxWorkerNameBytes)) {
    return WithLimit(
        InvalidField(field,
                     absl::StrCat(value.size(), " bytes, expected at most ",
                                  kMaxWorkerNameBytes)),
        "worker_name_bytes");
  }
  if (!absl::c_all_of(value, IsIdentifierCharacter)) {
    return InvalidField(field,
                        absl::StrCat("'", Excerpt(value),
                                     "', expected letters, digits, - _ . :"));
  }
  return absl::OkStatus();
}

absl::Status CheckText(absl::string_view field, absl::string_view value,
                       int64_t longest) {
  if (value.size() > static_cast<size_t>(longest)) {
    return WithLimit(
        InvalidField(field, absl::StrCat(value.size(),
                                         " bytes, expected at most ", longest)),
        longest == kMaxDeviceTextBytes ? "device_text_bytes"
                                       : "worker_name_bytes");
  }
  if (absl::c_any_of(value, [](char c) {
        return absl::ascii_iscntrl(static_cast<unsigned char>(c));
      })) {
    return InvalidField(field, "it has control characters, expected none");
  }
  return absl::OkStatus();
}

// Fields whose range is a limit.
constexpr std::pair<absl::string_view, absl::string_view> kLimitedFields[] = {
    {"capabilities", "worker_capabilities"},
    {"completions", "completions"},
    {"completions.error.message", "work_error_bytes"},
    {"completions.kernel.calibration.levels", "calibration_levels"},
    {"completions.kernel.candidates", "work_candidates"},
    {"completions.kernel.message", "outcome_message_bytes"},
    {"completions.kernel.samples_ns", "timing_samples"},
    {"devices", "worker_devices"},
};

absl::Status CheckRange(absl::string_view field, int64_t value, int64_t low,
                        int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  absl::Status status = InvalidField(
      field, absl::StrCat(value, ", expected ", low, " to ", high));
  for (const auto& [limited, limit] : kLimitedFields) {
    if (field == limited && value > high) {
      return WithLimit(std::move(status), limit);
    }
  }
  return status;
}

absl::Status CheckDevice(const v1::Device& device) {
  HONE_RETURN_IF_ERROR(CheckIdentifier("devices.kind", device.kind()));
  HONE_RETURN_IF_ERROR(
      CheckIdentifier("devices.fingerprint", device.fingerprint()));
  HONE_RETURN_IF_ERROR(
      CheckText("devices.model", device.model(), kMaxDeviceTextBytes));
  HONE_RETURN_IF_ERROR(
      CheckText("devices.isa", device.isa(), kMaxDeviceTextBytes));
  HONE_RETURN_IF_ERROR(
      CheckRange("devices.threads", device.threads(), 1, kMaxDeviceThreads));
  const v1::Device::Machine& machine = device.machine();
  const struct {
    const char* name;
    int64_t value;
    int64_t low;
    int64_t high;
  } ranges[] = {
      {"l1_bytes", machine.l1_bytes(), 1, kMaxDeviceCacheBytes},
      {"l2_bytes", machine.l2_bytes(), 1, kMaxDeviceCacheBytes},
      {"l3_bytes", machine.l3_bytes(), 0, kMaxDeviceCacheBytes},
      {"cache_line_bytes", machine.cache_line_bytes(), 1, 1 << 16},
      {"vector_bytes", machine.vector_bytes(), 4, 1 << 16},
      {"vector_registers", machine.vector_registers(), 1, 1 << 16},
  };
  for (const auto& range : ranges) {
    HONE_RETURN_IF_ERROR(
        CheckRange(absl::StrCat("devices.machine.", range.name), range.value,
                   range.low, range.high));
  }
  return absl::OkStatus();
}

absl::Status CheckTiming(const v1::KernelTiming& timing) {
  HONE_RETURN_IF_ERROR(CheckRange("completions.kernel.message",
                                  static_cast<int64_t>(timing.message().size()),
                                  0, kMaxOutcomeMessageBytes));
  HONE_RETURN_IF_ERROR(CheckRange("completions.kernel.samples_ns",
                                  timing.samples_ns_size(), 0,
                                  kMaxTimingSamples));
  return CheckRange("completions.kernel.outcome", timing.outcome(),
                    v1::KernelTiming::OK, v1::KernelTiming::Outcome_MAX);
}

absl::Status CheckLease(absl::string_view field, const v1::Lease& lease,
                        int devices) {
  HONE_RETURN_IF_ERROR(
      CheckIdentifier(absl::StrCat(field, ".work_id"), lease.work_id()));
  HONE_RETURN_IF_ERROR(CheckRange(absl::StrCat(field, ".device"),
                                  lease.device(), 0, devices - 1));
  return CheckRange(absl::StrCat(field, ".fence"), lease.fence(), 1, INT64_MAX);
}

absl::Status CheckCompletion(const v1::Completion& completion, int devices) {
  HONE_RETURN_IF_ERROR(
      CheckLease("completions.lease", completion.lease(), devices));
  if (completion.has_error()) {
    HONE_RETURN_IF_ERROR(CheckRange("completions.error.details",
                                    completion.error().details_size(), 0, 0));
    return CheckRange("completions.error.message",
                      static_cast<int64_t>(completion.error().message().size()),
                      0, kMaxWorkErrorBytes);
  }
  const v1::KernelReport& report = completion.kernel();
  HONE_RETURN_IF_ERROR(CheckRange("completions.kernel.candidates",
                                  report.candidates_size(), 0,
                                  kMaxWorkCandidates));
  HONE_RETURN_IF_ERROR(CheckRange("completions.kernel.calibration.levels",
                                  report.calibration().levels_size(), 0,
                                  kMaxCalibrationLevels));
  HONE_RETURN_IF_ERROR(
      CheckRange("completions.kernel.workers", report.workers_size(), 0, 0));
  HONE_RETURN_IF_ERROR(
      CheckRange("completions.kernel.machines", report.machines_size(), 0, 0));
  if (report.has_baseline()) {
    HONE_RETURN_IF_ERROR(CheckTiming(report.baseline()));
  }
  for (const v1::KernelTiming& timing : report.candidates()) {
    HONE_RETURN_IF_ERROR(CheckTiming(timing));
  }
  return absl::OkStatus();
}

absl::Status CheckProtocol(const v1::SynchronizeRequest& request) {
  if (request.protocol_version() >= kMinWorkerProtocol &&
      request.protocol_version() <= kMaxWorkerProtocol) {
    return absl::OkStatus();
  }
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "worker ", request.worker_id(), " of version \"",
          Excerpt(request.version()), "\" speaks version ",
          request.protocol_version(), " of the protocol, expected ",
          kMinWorkerProtocol, " to ", kMaxWorkerProtocol)),
      "WORKER_VERSION",
      {{"min_worker_protocol", absl::StrCat(kMinWorkerProtocol)},
       {"max_worker_protocol", absl::StrCat(kMaxWorkerProtocol)}});
}

// A worker's description of itself.
absl::Status CheckSelf(const v1::SynchronizeRequest& request) {
  HONE_RETURN_IF_ERROR(
      CheckText("version", request.version(), kMaxWorkerNameBytes));
  if (!request.machine().empty()) {
    HONE_RETURN_IF_ERROR(CheckIdentifier("machine", request.machine()));
  }
  HONE_RETURN_IF_ERROR(
      CheckRange("devices", request.devices_size(), 1, kMaxWorkerDevices));
  for (const v1::Device& device : request.devices()) {
    HONE_RETURN_IF_ERROR(CheckDevice(device));
  }
  HONE_RETURN_IF_ERROR(CheckRange("capabilities", request.capabilities_size(),
                                  0, kMaxWorkerCapabilities));
  for (const std::string& kind : request.capabilities()) {
    HONE_RETURN_IF_ERROR(CheckIdentifier("capabilities", kind));
  }
  return CheckRange("state", request.state(), v1::SynchronizeRequest::ACTIVE,
                    v1::SynchronizeRequest::State_MAX);
}

absl::Status CheckExecuting(const v1::SynchronizeRequest& request) {
  absl::flat_hash_set<int32_t> busy;
  for (const v1::Lease& lease : request.executing()) {
    HONE_RETURN_IF_ERROR(
        CheckLease("executing", lease, request.devices_size()));
    if (!busy.insert(lease.device()).second) {
      return InvalidField("executing.device",
                          absl::StrCat("two leases of device ", lease.device(),
                                       ", expected one"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRequest(const v1::SynchronizeRequest& request) {
  HONE_RETURN_IF_ERROR(CheckIdentifier("worker_id", request.worker_id()));
  HONE_RETURN_IF_ERROR(CheckProtocol(request));
  HONE_RETURN_IF_ERROR(CheckSelf(request));
  HONE_RETURN_IF_ERROR(CheckExecuting(request));
  const int devices = request.devices_size();
  HONE_RETURN_IF_ERROR(CheckRange("completions", request.completions_size(), 0,
                                  std::max<int64_t>(kMaxCompletions, devices)));
  for (const v1::Completion& completion : request.completions()) {
    HONE_RETURN_IF_ERROR(CheckCompletion(completion, devices));
  }
  HONE_RETURN_IF_ERROR(CheckRange("longest_wait.seconds",
                                  request.longest_wait().seconds(), 0,
                                  int64_t{1} << 32));
  return CheckRange("longest_wait.nanos", request.longest_wait().nanos(), 0,
                    999'999'999);
}

}  // namespace hone::daemon
