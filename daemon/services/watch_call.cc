#include "daemon/services/watch_call.h"

#include <utility>

#include "daemon/errors.h"
#include "daemon/services/convert.h"

namespace hone::daemon {

WatchCall::WatchCall(Runtime& runtime, const MethodMetrics& metrics,
                     const v1::WatchTuningRequest& request)
    : runtime_(runtime), metrics_(metrics) {
  metrics_.Received(request);
  if (Overloaded(runtime)) {
    users_ = 1;
    End(OverloadError());
    return;
  }
  // The request ends with the call, which a cancellation may end first.
  runtime.pool.Schedule([this, name = request.name()] {
    Subscribe(name);
    Unref();
  });
}

void WatchCall::Subscribe(const std::string& name) {
  const absl::StatusOr<std::string> id = TuningId(name);
  if (!id.ok()) {
    End(id.status());
    return;
  }
  absl::StatusOr<TuningExecutor::Subscription> subscription =
      runtime_.tunings.Subscribe(
          *id, [this](const TuningUpdate& update) { OnUpdate(update); });
  if (!subscription.ok()) {
    End(subscription.status());
    return;
  }
  subscription_ = *std::move(subscription);
}

void WatchCall::OnUpdate(const TuningUpdate& update) {
  absl::MutexLock lock(&mu_);
  waiting_ = update;
  WriteNext();
}

void WatchCall::WriteNext() {
  if (writing_ || ended_ || !waiting_.has_value()) return;
  response_.Clear();
  ToProto(waiting_->tuning, *response_.mutable_tuning());
  ToProto(*waiting_, *response_.mutable_progress());
  if (waiting_->record.has_value()) {
    ToProto(*waiting_->record, *response_.mutable_record());
  }
  if (storage::IsTerminal(waiting_->tuning.state)) {
    last_ = absl::OkStatus();
  } else if (waiting_->draining) {
    response_.set_server_draining(true);
    last_ = WithRetryDelay(
        WithReason(absl::UnavailableError(
                       "the daemon shuts down; watch again after its restart"),
                   "DRAINING"),
        absl::Seconds(5));
  }
  waiting_.reset();
  writing_ = true;
  metrics_.Sent(response_);
  StartWrite(&response_);
}

void WatchCall::OnWriteDone(bool ok) {
  absl::Status status = absl::CancelledError("the client is gone");
  {
    absl::MutexLock lock(&mu_);
    writing_ = false;
    if (ok && !last_.has_value()) {
      WriteNext();
      return;
    }
    if (ok) status = *last_;
  }
  End(status);
}

void WatchCall::OnCancel() { End(absl::CancelledError("cancelled by client")); }

void WatchCall::End(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(ended_, true)) return;
  }
  Finish(metrics_.End(status));
}

void WatchCall::OnDone() { Unref(); }

void WatchCall::Unref() {
  if (--users_ == 0) delete this;
}

}  // namespace hone::daemon
