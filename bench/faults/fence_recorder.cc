#include "bench/faults/fence_recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hone::bench {

FenceRecorder::FenceRecorder(const std::shared_ptr<grpc::Channel>& daemon)
    : daemon_(v1::WorkerService::NewStub(daemon)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

std::string FenceRecorder::address() const {
  return absl::StrCat("127.0.0.1:", port_);
}

FenceRecorder::Counts FenceRecorder::counts() {
  absl::MutexLock lock(&mu_);
  return counts_;
}

grpc::Status FenceRecorder::Synchronize(grpc::ServerContext* context,
                                        const v1::SynchronizeRequest* request,
                                        v1::SynchronizeResponse* response) {
  // Fences of results whose work had another lease when they were sent.
  std::map<int64_t, bool> is_stale;
  {
    absl::MutexLock lock(&mu_);
    for (const v1::Completion& completion : request->completions()) {
      const v1::Lease& lease = completion.lease();
      is_stale[lease.fence()] =
          works_[lease.work_id()].newest_fence > lease.fence();
    }
  }
  const auto passed_on = grpc::ClientContext::FromServerContext(*context);
  const grpc::Status status =
      daemon_->Synchronize(passed_on.get(), *request, response);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  for (const auto& receipt : response->receipts()) {
    const v1::Lease& lease = receipt.lease();
    ++(receipt.accepted() ? counts_.accepted : counts_.refused);
    if (!receipt.accepted()) continue;
    counts_.stale += is_stale[lease.fence()];
    const int64_t before =
        std::exchange(works_[lease.work_id()].accepted_fence, lease.fence());
    counts_.twice += before != 0 && before != lease.fence();
  }
  for (const auto& execute : response->execute()) {
    const v1::Lease& lease = execute.lease();
    int64_t& newest = works_[lease.work_id()].newest_fence;
    counts_.leases += lease.fence() > newest;
    newest = std::max(newest, lease.fence());
  }
  return status;
}

grpc::Status FenceRecorder::ReadModule(grpc::ServerContext* context,
                                       const v1::ReadModuleRequest* request,
                                       v1::ReadModuleResponse* response) {
  const auto passed_on = grpc::ClientContext::FromServerContext(*context);
  return daemon_->ReadModule(passed_on.get(), *request, response);
}

}  // namespace hone::bench
