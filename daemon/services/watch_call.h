#ifndef HONE_DAEMON_SERVICES_WATCH_CALL_H_
#define HONE_DAEMON_SERVICES_WATCH_CALL_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include <grpcpp/support/server_callback.h>

#include "daemon/services/call.h"
#include "daemon/services/stream_call.h"
#include "hone/v1/tuning_service.pb.h"

namespace hone::daemon {

// Streams a tuning's updates to one client. Backpressure: a slow client gets
// the newest update when it is ready, not all of them.
class WatchCall final
    : public StreamCall<grpc::ServerWriteReactor<v1::WatchTuningResponse>> {
 public:
  WatchCall(Runtime& runtime, const MethodMetrics& metrics,
            grpc::CallbackServerContext& context,
            const v1::WatchTuningRequest& request);

  void OnWriteDone(bool ok) override;

 private:
  void Subscribe(const std::string& name);
  void OnUpdate(const TuningUpdate& update);
  // Writes the waiting update if the last write is done.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Runtime& runtime_;

  std::optional<TuningUpdate> waiting_ ABSL_GUARDED_BY(mu_);
  v1::WatchTuningResponse response_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  // The status that ends the call after the current write, if that is the last.
  std::optional<absl::Status> last_ ABSL_GUARDED_BY(mu_);

  // Last, so that it is destroyed before the members its listener uses.
  TuningExecutor::Subscription subscription_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_WATCH_CALL_H_
