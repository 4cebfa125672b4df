#ifndef HONE_BENCH_FAULTS_FENCE_RECORDER_H_
#define HONE_BENCH_FAULTS_FENCE_RECORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include <grpcpp/grpcpp.h>

#include "hone/v1/worker_service.grpc.pb.h"

namespace hone::bench {

// Stands between workers and a daemon, passes their calls on, and judges by the
// leases that it saw whether the daemon accepts results that it must not.
// Threads: thread-safe.
class FenceRecorder final : public v1::WorkerService::Service {
 public:
  struct Counts {
    int64_t leases = 0;
    int64_t accepted = 0;
    int64_t refused = 0;
    // Accepted although the work was leased again before the result was sent.
    int64_t stale = 0;
    // Accepted although a result of the same work had been accepted under
    // another lease. (The same result may be sent again if no answer came.)
    int64_t twice = 0;
  };

  // `daemon`: a connection to it.
  explicit FenceRecorder(const std::shared_ptr<grpc::Channel>& daemon);

  // The address for workers, on loopback.
  std::string address() const;
  Counts counts();

  grpc::Status Synchronize(grpc::ServerContext* context,
                           const v1::SynchronizeRequest* request,
                           v1::SynchronizeResponse* response) override;
  grpc::Status ReadModule(grpc::ServerContext* context,
                          const v1::ReadModuleRequest* request,
                          v1::ReadModuleResponse* response) override;

 private:
  struct Work {
    int64_t newest_fence = 0;
    int64_t accepted_fence = 0;  // 0: none yet
  };

  const std::unique_ptr<v1::WorkerService::Stub> daemon_;
  absl::Mutex mu_;
  std::map<std::string, Work> works_ ABSL_GUARDED_BY(mu_);
  Counts counts_ ABSL_GUARDED_BY(mu_);
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;  // last: it uses the others
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_FENCE_RECORDER_H_
