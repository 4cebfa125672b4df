#ifndef HONE_BACKENDS_PROCESS_KERNEL_MESSAGES_H_
#define HONE_BACKENDS_PROCESS_KERNEL_MESSAGES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "hone/v1/worker_service.pb.h"

// Conversions between the types of kernel_measurer.h and protocol messages.
namespace hone::backends {

// Returns a message as a field of a protocol message can have it: UTF-8 (a
// module's names need not be), and short enough for the daemon
// (WorkerService.Synchronize).
std::string WireText(absl::string_view text);

void ToProto(const KernelDevice& device, v1::Device& proto);
KernelDevice FromProto(const v1::Device& proto);

void ToProto(const KernelRequest& request, v1::KernelWork& proto);
KernelRequest FromProto(const v1::KernelWork& proto);

void ToProto(const Calibration& calibration, v1::Calibration& proto);
Calibration FromProto(const v1::Calibration& proto);

void ToProto(const KernelReport& report, v1::KernelReport& proto);
// Returns InvalidArgument for an unknown outcome.
absl::StatusOr<KernelReport> FromProto(const v1::KernelReport& proto);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_KERNEL_MESSAGES_H_
