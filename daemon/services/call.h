#ifndef HONE_DAEMON_SERVICES_CALL_H_
#define HONE_DAEMON_SERVICES_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <google/protobuf/message_lite.h>
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "base/thread_pool.h"
#include "daemon/config.h"
#include "daemon/environment_registry.h"
#include "daemon/fleet/fleet.h"
#include "daemon/services/module_loader.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/telemetry/observed_store.h"
#include "daemon/tuning_executor.h"

// The reactors of unary calls. gRPC's callback threads are few and must never
// block, so every handler runs on the daemon's own pool. A reactor that does
// not finish when its call is cancelled would block the shutdown forever, so
// reactors are written only once, here.
namespace hone::daemon {

// The dependencies of the services. Nothing is owned.
struct Runtime {
  const Config& config;
  Metrics& metrics;
  ObservedStore& store;
  ModuleLoader& modules;
  TuningExecutor& tunings;
  EnvironmentRegistry& environments;
  Fleet& fleet;
  tuning::TunerContext tuner;
  // The devices of `tuner` without a wait for one.
  backends::KernelMeasurer& present_devices;
  // Runs handlers.
  ThreadPool& pool;
};

// Counts one call, from construction to End.
class CallMetrics {
 public:
  explicit CallMetrics(const MethodMetrics& metrics);
  void Received(const google::protobuf::MessageLite& message);
  void Sent(const google::protobuf::MessageLite& message);
  // Counts and logs the status and returns it as it is sent.
  grpc::Status End(const absl::Status& status);

 private:
  const MethodMetrics& metrics_;
  const absl::Duration start_;
};

// The events that resume a suspended call: wake-up, timeout, cancellation.
struct Wait {
  // Calls `wake` on the event. Returns a handle; after its end `wake` is not
  // called any more.
  std::function<std::shared_ptr<void>(std::function<void()> wake)> subscribe;
  absl::Duration timeout;
};

// Returns a wait for the end of a tuning or the shutdown of the daemon.
Wait WaitForTuning(TuningExecutor& tunings, std::string id,
                   absl::Duration timeout);

// An action that runs at most once, whoever triggers it first.
class OneShot {
 public:
  explicit OneShot(std::function<void()> action) : action_(std::move(action)) {}
  // Runs the action now, or at Arm if that comes later.
  void Fire();
  void Arm();

 private:
  absl::Mutex mu_;
  bool armed_ ABSL_GUARDED_BY(mu_) = false;
  bool fired_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> action_ ABSL_GUARDED_BY(mu_);
};

// The reactor of every unary method.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  using Body = std::function<absl::StatusOr<std::optional<Wait>>()>;
  using Then = std::function<absl::Status()>;

  UnaryCall(Runtime& runtime, const MethodMetrics& metrics,
            grpc::CallbackServerContext& context,
            const google::protobuf::MessageLite& request,
            const google::protobuf::MessageLite& response);

  // Runs `body` on the pool and, after the wait that it returns (if any),
  // `then`. Refuses the call if too many calls wait for the pool.
  void Start(Body body, Then then = nullptr);
  // Ends the call. It must not be used afterwards.
  void End(const absl::Status& status);

  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  void RunBody();
  void BeginWait(const Wait& wait);
  void Resume();

  Runtime& runtime_;
  CallMetrics metrics_;
  grpc::CallbackServerContext& context_;
  const google::protobuf::MessageLite& response_;
  Body body_;
  Then then_;
  grpc::Alarm alarm_;
  std::shared_ptr<void> subscription_;
  absl::Mutex mu_;
  std::shared_ptr<OneShot> resume_ ABSL_GUARDED_BY(mu_);
};

// Serves a unary call by `fn(request, response) → absl::Status` on the pool.
template <typename Request, typename Response, typename Fn>
grpc::ServerUnaryReactor* Handle(Runtime& runtime, const MethodMetrics& metrics,
                                 grpc::CallbackServerContext* context,
                                 const Request* request, Response* response,
                                 Fn fn) {
  auto* call = new UnaryCall(runtime, metrics, *context, *request, *response);
  call->Start([fn = std::move(fn), request,
               response]() -> absl::StatusOr<std::optional<Wait>> {
    absl::Status status = fn(*request, *response);
    if (!status.ok()) return status;
    return std::nullopt;
  });
  return call;
}

// Returns the time until the client's deadline.
absl::Duration RemainingTime(const grpc::CallbackServerContext& context);

// Returns true if too many calls wait for the pool (backpressure).
bool Overloaded(Runtime& runtime);
absl::Status OverloadError();

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_CALL_H_
