#include "daemon/services/call.h"

#include <chrono>

#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "daemon/errors.h"

namespace hone::daemon {
namespace {

// Handlers that wait for the pool. At some 0.1 ms to 100 ms each, more would
// only wait until nobody wants their answer.
constexpr size_t kMaxWaitingHandlers = 1024;

absl::Status Cancelled() { return absl::CancelledError("cancelled by client"); }

}  // namespace

CallMetrics::CallMetrics(const MethodMetrics& metrics)
    : metrics_(metrics), start_(SystemClock().Monotonic()) {
  metrics_.started.Increment();
  metrics_.in_flight.Increment();
}

void CallMetrics::Received(const google::protobuf::MessageLite& message) {
  metrics_.received_bytes.Increment(
      static_cast<double>(message.ByteSizeLong()));
}

void CallMetrics::Sent(const google::protobuf::MessageLite& message) {
  metrics_.sent_bytes.Increment(static_cast<double>(message.ByteSizeLong()));
}

grpc::Status CallMetrics::End(const absl::Status& status) {
  grpc::Status wire = ToGrpcStatus(status);
  const absl::Duration elapsed = SystemClock().Monotonic() - start_;
  metrics_.in_flight.Decrement();
  metrics_.duration.Observe(absl::ToDoubleSeconds(elapsed));
  if (wire.ok()) {
    metrics_.handled_ok.Increment();
    return wire;
  }
  const std::string code = CodeName(wire.error_code());
  metrics_.handled.Add({{"method", metrics_.method}, {"code", code}})
      .Increment();
  spdlog::debug("{} {}: {}", metrics_.method, code, wire.error_message());
  return wire;
}

void OneShot::Fire() {
  std::function<void()> action;
  {
    absl::MutexLock lock(&mu_);
    fired_ = true;
    if (armed_) action = std::exchange(action_, nullptr);
  }
  if (action) action();
}

void OneShot::Arm() {
  std::function<void()> action;
  {
    absl::MutexLock lock(&mu_);
    armed_ = true;
    if (fired_) action = std::exchange(action_, nullptr);
  }
  if (action) action();
}

Wait WaitForTuning(TuningExecutor& tunings, std::string id,
                   absl::Duration timeout) {
  const auto subscribe =
      [&tunings, id = std::move(id)](
          const std::function<void()>& wake) -> std::shared_ptr<void> {
    absl::StatusOr<TuningExecutor::Subscription> subscription =
        tunings.Subscribe(id, [wake](const TuningUpdate& update) {
          if (update.settled()) wake();
        });
    if (!subscription.ok()) {
      wake();
      return nullptr;
    }
    return std::make_shared<TuningExecutor::Subscription>(
        *std::move(subscription));
  };
  return {subscribe, timeout};
}

UnaryCall::UnaryCall(Runtime& runtime, const MethodMetrics& metrics,
                     grpc::CallbackServerContext& context,
                     const google::protobuf::MessageLite& request,
                     const google::protobuf::MessageLite& response)
    : runtime_(runtime),
      metrics_(metrics),
      context_(context),
      response_(response) {
  metrics_.Received(request);
}

void UnaryCall::Start(Body body, Then then) {
  if (Overloaded(runtime_)) {
    End(OverloadError());
    return;
  }
  body_ = std::move(body);
  then_ = std::move(then);
  runtime_.pool.Schedule([this] { RunBody(); });
}

void UnaryCall::RunBody() {
  if (context_.IsCancelled()) {
    End(Cancelled());
    return;
  }
  const absl::StatusOr<std::optional<Wait>> wait = body_();
  if (wait.ok() && wait->has_value()) {
    BeginWait(**wait);
  } else {
    End(wait.status());
  }
}

void UnaryCall::BeginWait(const Wait& wait) {
  auto resume = std::make_shared<OneShot>(
      [this] { runtime_.pool.Schedule([this] { Resume(); }); });
  {
    absl::MutexLock lock(&mu_);
    resume_ = resume;
  }
  // Cancelled before OnCancel could see the above.
  if (context_.IsCancelled()) resume->Fire();
  subscription_ = wait.subscribe([resume] { resume->Fire(); });
  if (wait.timeout != absl::InfiniteDuration()) {
    alarm_.Set(absl::ToChronoTime(SystemClock().Now() + wait.timeout),
               [resume](bool) { resume->Fire(); });
  }
  // From here on the call may be gone.
  resume->Arm();
}

void UnaryCall::Resume() {
  End(context_.IsCancelled() ? Cancelled() : then_());
}

void UnaryCall::End(const absl::Status& status) {
  if (status.ok()) metrics_.Sent(response_);
  Finish(metrics_.End(status));
}

void UnaryCall::OnCancel() {
  std::shared_ptr<OneShot> resume;
  {
    absl::MutexLock lock(&mu_);
    resume = resume_;
  }
  // Without a wait the handler runs, and ends the call soon.
  if (resume != nullptr) resume->Fire();
}

absl::Duration RemainingTime(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) {
    return absl::InfiniteDuration();
  }
  return absl::FromChrono(deadline) - SystemClock().Now();
}

bool Overloaded(Runtime& runtime) {
  if (runtime.pool.queued() < kMaxWaitingHandlers) return false;
  runtime.metrics.RpcRejected("overload").Increment();
  return true;
}

absl::Status OverloadError() {
  return WithRetryDelay(
      WithReason(absl::ResourceExhaustedError("too many calls wait"),
                 "OVERLOADED"),
      absl::Seconds(1));
}

}  // namespace hone::daemon
