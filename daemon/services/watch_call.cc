#include "daemon/services/watch_call.h"

#include <utility>

#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"

namespace hone::daemon {

WatchCall::WatchCall(Runtime& runtime, const MethodMetrics& metrics,
                     grpc::CallbackServerContext& context,
                     const v1::WatchTuningRequest& request)
    : StreamCall(runtime, metrics, context), runtime_(runtime) {
  const NonBlockingScope scope;
  guard().Received(request);
  // The request ends with the call, which a cancellation may end first.
  Schedule([this, name = request.name()] { Subscribe(name); });
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
  guard().Sent(response_);
  StartWrite(&response_);
}

void WatchCall::OnWriteDone(bool ok) {
  const NonBlockingScope scope;
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

}  // namespace hone::daemon
