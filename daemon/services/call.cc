#include "daemon/services/call.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "base/trace_context.h"
#include "daemon/errors.h"
#include "daemon/limits.h"

namespace hone::daemon {
namespace {

// Of the client's own deadline, what a suspended call leaves for its answer.
constexpr double kWaitShare = 0.9;

// Smaller requests are bounded by the number of open calls, and lookups should
// not pay for the account.
constexpr int64_t kSmallRequestBytes = 4096;

// Returns the client's "traceparent"; of two, none.
absl::string_view TraceparentOf(const grpc::CallbackServerContext& context) {
  const auto [first, last] =
      context.client_metadata().equal_range("traceparent");
  if (first == last || std::next(first) != last) return "";
  return {first->second.data(), first->second.size()};
}

absl::Time Deadline(const grpc::CallbackServerContext& context,
                    const Method& method) {
  const absl::Time now = SystemClock().Now();
  return now + std::min(RemainingTime(context), method.longest);
}

}  // namespace

CallGuard::CallGuard(Runtime& runtime, const MethodMetrics& metrics,
                     grpc::CallbackServerContext& context)
    : runtime_(runtime),
      metrics_(metrics),
      context_(context),
      start_(SystemClock().Monotonic()),
      deadline_(Deadline(context, metrics.rule)),
      admission_(Admit()) {
  metrics_.started.Increment();
  metrics_.in_flight.Increment();
}

CallGuard::CallGuard(CallGuard&& other) noexcept
    : runtime_(other.runtime_),
      metrics_(other.metrics_),
      context_(other.context_),
      start_(other.start_),
      deadline_(other.deadline_),
      admission_(other.admission_),
      holder_(std::move(other.holder_)),
      held_(std::exchange(other.held_, 0)) {}

CallGuard::~CallGuard() { Release(); }

absl::Status CallGuard::Admit() {
  const bool room = metrics_.open.fetch_add(1) < metrics_.rule.max_open;
  if (absl::Status status =
          runtime_.authenticator.Check(context_, metrics_.rule);
      !status.ok()) {
    const char* reason = absl::IsUnauthenticated(status) ? "unauthenticated"
                                                         : "permission_denied";
    return Refuse(reason, std::move(status));
  }
  if (room) return absl::OkStatus();
  return Refuse(
      "overload",
      OverloadedAt("open_calls",
                   absl::StrCat("more than ", metrics_.rule.max_open,
                                " calls of ", metrics_.method, " are open")));
}

absl::Status CallGuard::Refuse(const std::string& reason, absl::Status status) {
  runtime_.metrics.RpcRejected(reason).Increment();
  return status;
}

absl::Status CallGuard::StillWanted() const {
  if (SystemClock().Now() >= deadline_) {
    return absl::DeadlineExceededError(
        absl::StrCat(metrics_.method, " was not done by the deadline"));
  }
  if (context_.IsCancelled()) {
    return absl::CancelledError("cancelled by client");
  }
  return absl::OkStatus();
}

absl::Status CallGuard::Schedule(std::function<void()> task) {
  if (!admission_.ok()) return admission_;
  const TraceScope trace(TraceparentOf(context_));
  if (runtime_.pools.Schedule(metrics_.rule.pool,
                              runtime_.authenticator.ClientOf(context_),
                              std::move(task))) {
    return absl::OkStatus();
  }
  return Refuse("overload",
                OverloadedAt("max_waiting_calls", "too many calls wait"));
}

void CallGuard::Resume(std::function<void()> task) {
  const TraceScope trace(TraceparentOf(context_));
  runtime_.pools.Resume(metrics_.rule.pool, std::move(task));
}

absl::Status CallGuard::TakeRequest(
    const google::protobuf::MessageLite& request) {
  Received(request);
  if (!admission_.ok()) return admission_;
  const auto bytes = static_cast<int64_t>(request.ByteSizeLong());
  if (bytes <= kSmallRequestBytes) return absl::OkStatus();
  if (bytes > kMaxMessageBytes) {
    return AtLimit("message_bytes",
                   absl::StrCat("a request of ", bytes,
                                " bytes, expected at most ", kMaxMessageBytes));
  }
  return Hold(bytes);
}

void CallGuard::Received(const google::protobuf::MessageLite& message) {
  metrics_.received_bytes.Increment(
      static_cast<double>(message.ByteSizeLong()));
}

absl::Status CallGuard::Hold(int64_t bytes) {
  if (!admission_.ok()) return admission_;
  if (holder_.empty()) holder_ = runtime_.authenticator.ClientOf(context_);
  if (absl::Status status = runtime_.bytes.Take(holder_, bytes); !status.ok()) {
    return Refuse("overload", std::move(status));
  }
  held_ += bytes;
  return absl::OkStatus();
}

void CallGuard::Release() {
  if (held_ > 0) runtime_.bytes.Release(holder_, std::exchange(held_, 0));
}

void CallGuard::Sent(const google::protobuf::MessageLite& message) {
  metrics_.sent_bytes.Increment(static_cast<double>(message.ByteSizeLong()));
}

grpc::Status CallGuard::End(const absl::Status& status) {
  const absl::Status& final = admission_.ok() ? status : admission_;
  if (const std::string limit = LimitOf(final); !limit.empty()) {
    runtime_.metrics.LimitRefusals(limit).Increment();
    // Not where it arises: a Compile then answers without a tuning.
    if (limit == "max_queued_tunings") {
      runtime_.metrics.RpcRejected("queue_full").Increment();
    }
  }
  grpc::Status wire = ToGrpcStatus(final);
  const absl::Duration elapsed = SystemClock().Monotonic() - start_;
  // Not when the call is gone: its client may call again as soon as it has the
  // answer.
  --metrics_.open;
  metrics_.duration.Observe(absl::ToDoubleSeconds(elapsed));
  if (wire.ok()) {
    metrics_.handled_ok.Increment();
  } else {
    const std::string code = CodeName(wire.error_code());
    metrics_.handled.Add({{"method", metrics_.method}, {"code", code}})
        .Increment();
    spdlog::debug("{} {}: {}", metrics_.method, code, wire.error_message());
  }
  // Last: whoever sees that a call is over finds it handled.
  metrics_.in_flight.Decrement();
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

grpc::ServerUnaryReactor* AnswerAtOnce(
    CallGuard guard, grpc::CallbackServerContext& context,
    const google::protobuf::MessageLite& request,
    const google::protobuf::MessageLite& response) {
  guard.Received(request);
  guard.Sent(response);
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(guard.End(absl::OkStatus()));
  return reactor;
}

grpc::ServerUnaryReactor* AnswerSoon(
    CallGuard guard, grpc::CallbackServerContext& context,
    const google::protobuf::MessageLite& request,
    const google::protobuf::MessageLite& response,
    std::function<absl::Status()> body) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  const auto call = std::make_shared<CallGuard>(std::move(guard));
  const auto end = [reactor, call, &response](const absl::Status& status) {
    const grpc::Status wire = call->End(status);
    if (wire.ok()) call->Sent(response);
    // Whoever has the answer may send the next request.
    call->Release();
    reactor->Finish(wire);
  };
  absl::Status status = call->TakeRequest(request);
  if (status.ok()) {
    status = call->Schedule([call, end, body = std::move(body)] {
      const absl::Status wanted = call->StillWanted();
      end(wanted.ok() ? body() : wanted);
    });
  }
  if (!status.ok()) end(status);
  return reactor;
}

UnaryCall::UnaryCall(Runtime& runtime, const MethodMetrics& metrics,
                     grpc::CallbackServerContext& context,
                     const google::protobuf::MessageLite& request,
                     const google::protobuf::MessageLite& response)
    : on_callback_thread_(std::in_place),
      guard_(runtime, metrics, context),
      admission_(guard_.TakeRequest(request)),
      context_(context),
      response_(response) {}

void UnaryCall::Start(Body body, Then then) {
  body_ = std::move(body);
  then_ = std::move(then);
  on_callback_thread_.reset();
  absl::Status status = admission_;
  if (status.ok()) status = guard_.Schedule([this] { RunBody(); });
  if (!status.ok()) End(status);
}

void UnaryCall::RunBody() {
  if (const absl::Status status = guard_.StillWanted(); !status.ok()) {
    End(status);
    return;
  }
  const absl::StatusOr<std::optional<Wait>> wait = body_();
  if (wait.ok() && wait->has_value()) {
    BeginWait(**wait);
  } else {
    End(Final(wait.status()));
  }
}

void UnaryCall::BeginWait(const Wait& wait) {
  auto resume = std::make_shared<OneShot>(
      [this] { guard_.Resume([this] { Resume(); }); });
  {
    absl::MutexLock lock(&mu_);
    resume_ = resume;
  }
  // Cancelled before OnCancel could see the above.
  if (context_.IsCancelled()) resume->Fire();
  subscription_ = wait.subscribe([resume] { resume->Fire(); });
  const absl::Time now = SystemClock().Now();
  const absl::Duration timeout =
      std::min(wait.timeout, kWaitShare * (guard_.deadline() - now));
  if (timeout != absl::InfiniteDuration()) {
    alarm_.Set(absl::ToChronoTime(now + timeout),
               [resume](bool) { resume->Fire(); });
  }
  // From here on the call may be gone.
  resume->Arm();
}

void UnaryCall::Resume() {
  const absl::Status wanted = guard_.StillWanted();
  End(wanted.ok() ? Final(then_()) : wanted);
}

absl::Status UnaryCall::Final(const absl::Status& status) const {
  if (!absl::IsCancelled(status)) return status;
  const absl::Status wanted = guard_.StillWanted();
  return wanted.ok() ? status : wanted;
}

void UnaryCall::End(const absl::Status& status) {
  on_callback_thread_.reset();
  const grpc::Status wire = guard_.End(status);
  if (wire.ok()) guard_.Sent(response_);
  // Whoever has the answer may send the next request.
  guard_.Release();
  // What they hold ends here, not on the thread of gRPC that runs OnDone.
  subscription_ = nullptr;
  body_ = nullptr;
  then_ = nullptr;
  Finish(wire);
}

void UnaryCall::OnCancel() {
  const NonBlockingScope scope;
  std::shared_ptr<OneShot> resume;
  {
    absl::MutexLock lock(&mu_);
    resume = resume_;
  }
  // Without a wait the handler runs, and ends the call soon.
  if (resume != nullptr) resume->Fire();
}

void UnaryCall::OnDone() {
  const NonBlockingScope scope;
  delete this;
}

absl::Duration RemainingTime(const grpc::CallbackServerContext& context) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) {
    return absl::InfiniteDuration();
  }
  return absl::FromChrono(deadline) - SystemClock().Now();
}

}  // namespace hone::daemon
