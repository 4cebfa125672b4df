#include "work/parent_kernels.h"

#include <string>

#include "backends/process/kernel_messages.h"
#include "base/status_macros.h"
#include "work/messages.h"

namespace hone::work {

std::vector<backends::KernelDevice> ParentKernels::Devices() {
  internal::Call call;
  call.set_list_devices(true);
  std::vector<backends::KernelDevice> devices;
  const absl::StatusOr<internal::Answer> answer = parent_.Ask(call);
  if (!answer.ok()) return devices;
  for (const v1::Device& device : answer->devices()) {
    devices.push_back(backends::FromProto(device));
  }
  return devices;
}

absl::StatusOr<backends::KernelDevice> ParentKernels::AwaitDevice(
    absl::string_view fingerprint, const std::function<bool()>&) {
  internal::Call call;
  call.mutable_await_device()->set_fingerprint(std::string(fingerprint));
  HONE_ASSIGN_OR_RETURN(const internal::Answer answer, parent_.Ask(call));
  if (answer.devices_size() != 1) {
    return absl::InternalError("the parent answers without a device");
  }
  return backends::FromProto(answer.devices(0));
}

absl::StatusOr<backends::KernelReport> ParentKernels::Measure(
    const backends::KernelRequest& request, absl::string_view fingerprint,
    const std::function<bool()>&) {
  internal::Call call;
  backends::ToProto(request, *call.mutable_measure()->mutable_work());
  call.mutable_measure()->set_fingerprint(std::string(fingerprint));
  HONE_ASSIGN_OR_RETURN(const internal::Answer answer, parent_.Ask(call));
  return backends::FromProto(answer.report());
}

internal::Answer AnswerCall(const internal::Call& call,
                            backends::KernelMeasurer& kernels,
                            const std::function<bool()>& stop) {
  internal::Answer answer;
  switch (call.kind_case()) {
    case internal::Call::kListDevices:
      for (const backends::KernelDevice& device : kernels.Devices()) {
        backends::ToProto(device, *answer.add_devices());
      }
      break;
    case internal::Call::kAwaitDevice: {
      const absl::StatusOr<backends::KernelDevice> device =
          kernels.AwaitDevice(call.await_device().fingerprint(), stop);
      if (device.ok()) {
        backends::ToProto(*device, *answer.add_devices());
      } else {
        ToProto(device.status(), *answer.mutable_error());
      }
      break;
    }
    case internal::Call::kMeasure: {
      const absl::StatusOr<backends::KernelReport> report =
          kernels.Measure(backends::FromProto(call.measure().work()),
                          call.measure().fingerprint(), stop);
      if (report.ok()) {
        backends::ToProto(*report, *answer.mutable_report());
      } else {
        ToProto(report.status(), *answer.mutable_error());
      }
      break;
    }
    case internal::Call::KIND_NOT_SET:
      ToProto(absl::InternalError("an empty call"), *answer.mutable_error());
      break;
  }
  return answer;
}

}  // namespace hone::work
