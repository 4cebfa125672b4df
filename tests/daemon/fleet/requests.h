#ifndef HONE_TESTS_DAEMON_FLEET_REQUESTS_H_
#define HONE_TESTS_DAEMON_FLEET_REQUESTS_H_

#include <string>

#include "daemon/fleet/fleet.h"
#include "hone/v1/worker_service.pb.h"

namespace hone::testing {

// The call of an idle worker of version "1" with a device "f" of kind "cpu".
inline v1::SynchronizeRequest From(const std::string& worker) {
  v1::SynchronizeRequest request;
  request.set_worker_id(worker);
  request.set_version("1");
  request.mutable_device()->set_kind("cpu");
  request.mutable_device()->set_fingerprint("f");
  request.mutable_device()->set_threads(2);
  request.mutable_device()->mutable_machine()->set_l1_bytes(1 << 15);
  request.mutable_device()->mutable_machine()->set_l2_bytes(1 << 19);
  request.mutable_device()->mutable_machine()->set_cache_line_bytes(64);
  request.mutable_device()->mutable_machine()->set_vector_bytes(32);
  request.mutable_device()->mutable_machine()->set_vector_registers(16);
  request.mutable_idle();
  return request;
}

inline v1::SynchronizeRequest Executing(const std::string& worker,
                                        const v1::Lease& lease) {
  v1::SynchronizeRequest request = From(worker);
  *request.mutable_executing()->mutable_lease() = lease;
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
