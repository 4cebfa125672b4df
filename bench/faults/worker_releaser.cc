#include "bench/faults/worker_releaser.h"

#include "absl/time/clock.h"
#include <grpcpp/grpcpp.h>

#include "hone/v1/admin_service.grpc.pb.h"

namespace hone::bench {

WorkerReleaser::WorkerReleaser(const DaemonProcess& daemon)
    : daemon_(daemon), thread_([this] { Work(); }) {}

void WorkerReleaser::Stop() {
  end_ = true;
  if (thread_.joinable()) thread_.join();
}

void WorkerReleaser::Work() {
  const auto admin = v1::AdminService::NewStub(daemon_.Connect());
  while (!end_) {
    grpc::ClientContext listing;
    v1::ListWorkersResponse workers;
    (void)admin->ListWorkers(&listing, {}, &workers);
    for (const v1::Worker& worker : workers.workers()) {
      if (!worker.has_quarantine()) continue;
      v1::ReleaseWorkerRequest request;
      request.set_id(worker.id());
      grpc::ClientContext releasing;
      v1::Worker released;
      released_ += admin->ReleaseWorker(&releasing, request, &released).ok();
    }
    absl::SleepFor(absl::Milliseconds(100));
  }
}

}  // namespace hone::bench
