#ifndef HONE_DAEMON_SERVICES_CALL_H_
#define HONE_DAEMON_SERVICES_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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

#include "base/may_block.h"
#include "daemon/access/authenticator.h"
#include "daemon/access/byte_account.h"
#include "daemon/access/call_pools.h"
#include "daemon/config.h"
#include "daemon/environment_registry.h"
#include "daemon/fleet/fleet.h"
#include "daemon/request_ids.h"
#include "daemon/services/module_loader.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/telemetry/observed_store.h"
#include "daemon/tuning_executor.h"

// The gate of every call, and the reactor of unary calls. gRPC's callback
// threads are few and must never block, so every handler runs on the daemon's
// own threads. A reactor that does not finish when its call is cancelled would
// block the shutdown forever, so reactors are written only here and in
// stream_call.h.
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
  // The devices that are there now, without a wait for one.
  backends::KernelMeasurer& present_devices;
  const Authenticator& authenticator;
  // Run handlers.
  CallPools& pools;
  // The bytes that requests hold.
  ByteAccount& bytes;
  // Processes for the work of requests, and threads that wait for them when no
  // call does.
  work::WorkPool& requests;
  ThreadPool& background;
  Quarantine& quarantine;
  RequestIds& request_ids;
};

// One call, from its first to its last moment. Decides whether the call is let
// in, by the method's line in methods.cc: the caller must have the role, and
// not too many calls may be unanswered. Knows when the call is over, and counts
// it. Every reactor has one, and there is no other way to the pools.
class CallGuard {
 public:
  CallGuard(Runtime& runtime, const MethodMetrics& metrics,
            grpc::CallbackServerContext& context);
  // `other` must not be used afterwards.
  CallGuard(CallGuard&& other) noexcept;
  CallGuard& operator=(CallGuard&&) = delete;
  ~CallGuard();

  // OK, or why the call must end at once: Unauthenticated, PermissionDenied,
  // ResourceExhausted (OVERLOADED). Such a call does nothing.
  const absl::Status& admission() const { return admission_; }
  // The earlier of the client's deadline and the method's own.
  absl::Time deadline() const { return deadline_; }
  // OK, or why nobody waits for the answer any more: Cancelled or
  // DeadlineExceeded. Cheap.
  absl::Status StillWanted() const;

  // Runs `task` on the method's pool. Errors: admission(); ResourceExhausted
  // (OVERLOADED) if too many calls wait.
  absl::Status Schedule(std::function<void()> task);
  // Runs `task` on the method's pool, for a call that was suspended.
  void Resume(std::function<void()> task);

  // Counts a request and, if it is large, takes its bytes as Hold does.
  // Errors: those of Hold; ResourceExhausted (MESSAGE_TOO_LARGE).
  absl::Status TakeRequest(const google::protobuf::MessageLite& request);
  void Received(const google::protobuf::MessageLite& message);
  // Takes `bytes` of the client's share until the end of the call.
  // Errors: admission(); those of ByteAccount::Take. Threads: one at a time.
  absl::Status Hold(int64_t bytes);
  // Gives back what the call holds before its end.
  void Release();
  void Sent(const google::protobuf::MessageLite& message);
  // Counts and logs the status and returns it as it is sent. A call that was
  // not admitted never ends with OK.
  grpc::Status End(const absl::Status& status);

 private:
  absl::Status Admit();
  absl::Status Refuse(const std::string& reason, absl::Status status);

  Runtime& runtime_;
  const MethodMetrics& metrics_;
  const grpc::CallbackServerContext& context_;
  const absl::Duration start_;
  const absl::Time deadline_;
  const absl::Status admission_;
  // The client and its bytes, if it holds any.
  std::string holder_;
  int64_t held_ = 0;
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

// Returns true when nobody waits for the answer any more, because the client
// has cancelled or the deadline has passed. Cheap, thread-safe; valid while the
// handler runs.
using CancelledPredicate = std::function<bool()>;

// Ends a call whose answer is ready, on gRPC's own thread: cheaper than a
// UnaryCall, whose OnDone takes a thread of gRPC's executor.
grpc::ServerUnaryReactor* AnswerAtOnce(
    CallGuard guard, grpc::CallbackServerContext& context,
    const google::protobuf::MessageLite& request,
    const google::protobuf::MessageLite& response);

// Ends a call by the status of `body`, which the method's pool runs and which
// takes no longer than a read of the store: cheaper than a UnaryCall, too.
grpc::ServerUnaryReactor* AnswerSoon(
    CallGuard guard, grpc::CallbackServerContext& context,
    const google::protobuf::MessageLite& request,
    const google::protobuf::MessageLite& response,
    std::function<absl::Status()> body);

// The reactor of every other unary method. Made by the method, which then calls
// Start or End on the same thread.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  using Body = std::function<absl::StatusOr<std::optional<Wait>>()>;
  using Then = std::function<absl::Status()>;

  UnaryCall(Runtime& runtime, const MethodMetrics& metrics,
            grpc::CallbackServerContext& context,
            const google::protobuf::MessageLite& request,
            const google::protobuf::MessageLite& response);

  // Returns true if the call may be answered: a method that answers without
  // Start asks before it looks at anything.
  bool admitted() const { return admission_.ok(); }
  // As CancelledPredicate.
  bool Cancelled() const { return !guard_.StillWanted().ok(); }

  // Runs `body` on the method's pool and, after the wait that it returns (if
  // any), `then`. Refuses the call if it is not admitted, or too many wait.
  void Start(Body body, Then then = nullptr);
  // Ends the call. It must not be used afterwards.
  void End(const absl::Status& status);

  void OnCancel() override;
  void OnDone() override;

 private:
  void RunBody();
  void BeginWait(const Wait& wait);
  void Resume();
  // Returns the status of work that was given up as that of the call.
  absl::Status Final(const absl::Status& status) const;

  // From the constructor to Start or End: the method runs on gRPC's thread.
  std::optional<NonBlockingScope> on_callback_thread_;
  CallGuard guard_;
  // The guard's admission, and that of the request's bytes.
  const absl::Status admission_;
  grpc::CallbackServerContext& context_;
  const google::protobuf::MessageLite& response_;
  Body body_;
  Then then_;
  grpc::Alarm alarm_;
  std::shared_ptr<void> subscription_;
  absl::Mutex mu_;
  std::shared_ptr<OneShot> resume_ ABSL_GUARDED_BY(mu_);
};

// Serves a unary call by `fn(request, response) → absl::Status` on the method's
// pool, or by `fn(request, response, cancelled)` with a CancelledPredicate.
template <typename Request, typename Response, typename Fn>
grpc::ServerUnaryReactor* Handle(Runtime& runtime, const MethodMetrics& metrics,
                                 grpc::CallbackServerContext* context,
                                 const Request* request, Response* response,
                                 Fn fn) {
  auto* call = new UnaryCall(runtime, metrics, *context, *request, *response);
  call->Start([fn = std::move(fn), request, response,
               call]() -> absl::StatusOr<std::optional<Wait>> {
    absl::Status status;
    if constexpr (std::is_invocable_v<Fn, const Request&, Response&,
                                      const CancelledPredicate&>) {
      const CancelledPredicate cancelled = [call] { return call->Cancelled(); };
      status = fn(*request, *response, cancelled);
    } else {
      status = fn(*request, *response);
    }
    if (!status.ok()) return status;
    return std::nullopt;
  });
  return call;
}

// Returns the time until the client's deadline.
absl::Duration RemainingTime(const grpc::CallbackServerContext& context);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_CALL_H_
