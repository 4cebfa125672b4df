#ifndef HONE_DAEMON_SERVICES_STREAM_CALL_H_
#define HONE_DAEMON_SERVICES_STREAM_CALL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>

#include "base/may_block.h"
#include "daemon/services/call.h"

namespace hone::daemon {

// The base of the reactors of streams. It ends the call once, for the first who
// asks: the work, a cancellation or the deadline. It lives until gRPC and the
// tasks on the pool have released it.
template <typename Reactor>
class StreamCall : public Reactor {
 public:
  void OnCancel() final {
    const NonBlockingScope scope;
    End(absl::CancelledError("cancelled by client"));
  }
  void OnDone() final {
    const NonBlockingScope scope;
    {
      absl::MutexLock lock(&expiry_->mu);
      expiry_->call = nullptr;
    }
    alarm_.Cancel();
    Unref();
  }

 protected:
  StreamCall(Runtime& runtime, const MethodMetrics& metrics,
             grpc::CallbackServerContext& context)
      : guard_(runtime, metrics, context),
        context_(context),
        expiry_(std::make_shared<Expiry>()) {
    expiry_->call = this;
    if (guard_.deadline() == absl::InfiniteFuture()) return;
    alarm_.Set(absl::ToChronoTime(guard_.deadline()), [expiry = expiry_](bool) {
      absl::MutexLock lock(&expiry->mu);
      // Not here, as the end of the call takes the lock.
      if (expiry->call != nullptr) {
        expiry->call->ScheduleEnd(
            absl::DeadlineExceededError("not done by the deadline"),
            /*cancel=*/true);
      }
    });
  }
  ~StreamCall() override = default;

  // Its StillWanted and Hold are for calls that have not ended: see below.
  CallGuard& guard() { return guard_; }
  // OK, or why nobody waits for the answer any more. For tasks on the pool,
  // which may outlast the call and its context.
  absl::Status StillWanted() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (ended_) return absl::CancelledError("the call has ended");
    return guard_.StillWanted();
  }

  // As CallGuard::Hold, also for tasks on the pool. Errors: Cancelled if the
  // call has ended: its context, which names the client, may be gone.
  absl::Status Hold(int64_t bytes) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (ended_) return absl::CancelledError("the call has ended");
    return guard_.Hold(bytes);
  }

  // Returns a function that ends the call from a thread of the pool, unless it
  // has ended. It may outlast the call.
  std::function<void(absl::Status)> Ender() {
    return [expiry = expiry_](const absl::Status& status) {
      absl::MutexLock lock(&expiry->mu);
      if (expiry->call != nullptr) {
        expiry->call->ScheduleEnd(status, /*cancel=*/false);
      }
    };
  }

  // Runs `task` on the method's pool, or ends the call.
  void Schedule(std::function<void()> task) {
    ++users_;
    if (absl::Status status = guard_.Schedule([this, task = std::move(task)] {
          task();
          Unref();
        });
        !status.ok()) {
      End(status);
      // gRPC still has the call.
      --users_;
    }
  }

  // Ends the call, unless that has been done.
  void End(const absl::Status& status) {
    if (Claim()) Finish(status);
  }
  // The two steps of End: returns true for the first who asks, who then ends
  // the call. Between them the call's messages belong to the caller.
  bool Claim() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return !std::exchange(ended_, true);
  }
  void Finish(const absl::Status& status) {
    Reactor::Finish(guard_.End(status));
  }

  // Reads and writes start under `mu_`, and only before the end: after that the
  // call may be gone.
  absl::Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;

 private:
  // The call until its end.
  struct Expiry {
    absl::Mutex mu;
    StreamCall* call ABSL_GUARDED_BY(mu);
  };

  // With `cancel`, the client does not get the status: one that does not read
  // would keep the call open.
  void ScheduleEnd(const absl::Status& status, bool cancel) {
    ++users_;
    guard_.Resume([this, status, cancel] {
      if (Claim()) {
        if (cancel) context_.TryCancel();
        Finish(status);
      }
      Unref();
    });
  }

  void Unref() {
    if (--users_ == 0) delete this;
  }

  CallGuard guard_;
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<Expiry> expiry_;
  grpc::Alarm alarm_;
  std::atomic<int> users_ = 1;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_STREAM_CALL_H_
