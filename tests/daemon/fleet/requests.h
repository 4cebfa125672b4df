#ifndef HONE_TESTS_DAEMON_FLEET_REQUESTS_H_
#define HONE_TESTS_DAEMON_FLEET_REQUESTS_H_

#include <string>

#include "daemon/fleet/fleet.h"
#include "hone/v1/worker_service.pb.h"
#include "proto/worker_protocol.h"

namespace hone::testing {

inline v1::Device DeviceNamed(const std::string& fingerprint) {
  v1::Device device;
  device.set_kind("cpu");
  device.set_fingerprint(fingerprint);
  device.set_threads(2);
  device.mutable_machine()->set_l1_bytes(1 << 15);
  device.mutable_machine()->set_l2_bytes(1 << 19);
  device.mutable_machine()->set_cache_line_bytes(64);
  device.mutable_machine()->set_vector_bytes(32);
  device.mutable_machine()->set_vector_registers(16);
  return device;
}

// The call of an idle worker with a device "f" of kind "cpu".
inline v1::SynchronizeRequest From(const std::string& worker) {
  v1::SynchronizeRequest request;
  request.set_worker_id(worker);
  request.set_protocol_version(kMaxWorkerProtocol);
  request.add_capabilities(kKernelWork);
  *request.add_devices() = DeviceNamed("f");
  request.set_state(v1::SynchronizeRequest::ACTIVE);
  return request;
}

inline v1::SynchronizeRequest Executing(const std::string& worker,
                                        const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  *request.add_executing() = lease;
  return request;
}

// An idle call that also brings a result, which says who made it.
inline v1::SynchronizeRequest Done(const std::string& worker,
                                   const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  v1::Completion& completion = *request.add_completions();
  *completion.mutable_lease() = lease;
  completion.mutable_kernel()->mutable_baseline()->set_outcome(
      v1::KernelTiming::OK);
  completion.mutable_kernel()->mutable_baseline()->set_message(worker);
  return request;
}

inline v1::Work WorkNamed(const std::string& name) {
  v1::Work work;
  work.mutable_kernel()->set_module(name);
  return work;
}

inline daemon::Fleet::Request RequestFor(const std::string& name,
                                         const std::string& device = "") {
  daemon::Fleet::Request request;
  request.work = WorkNamed(name);
  request.fingerprint = device;
  return request;
}

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_FLEET_REQUESTS_H_
