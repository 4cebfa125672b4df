#include "daemon/services/compile_sequence.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"
#include "proto/duration.h"

namespace hone::daemon {
namespace {

// Answers come this long after the patience is over at the latest, with room
// for their way to the client within the promised 100 ms.
constexpr absl::Duration kSlack = absl::Milliseconds(50);
// Calls that wait for the background. More would find their patience over.
constexpr size_t kMaxWaiting = 256;

absl::Duration Now() { return SystemClock().Monotonic(); }

// Returns the request with a specification in any case.
v1::CompileRequest WithSpec(v1::CompileRequest request) {
  if (request.specs().empty()) request.add_specs();
  return request;
}

}  // namespace

CompileSequence::CompileSequence(Runtime& runtime,
                                 const v1::CompileRequest& request,
                                 std::string caller, absl::Duration patience)
    : runtime_(runtime),
      request_(WithSpec(request)),
      share_{.caller = std::move(caller), .request_id = ""},
      has_patience_(patience > absl::ZeroDuration()),
      answer_by_(Now() + patience + kSlack),
      module_(request.module()),
      missing_("nothing was found within the patience") {}

absl::Duration CompileSequence::TimeLeft() const {
  return std::max(absl::ZeroDuration(), answer_by_ - Now());
}

absl::StatusOr<std::optional<Wait>> CompileSequence::Begin() {
  HONE_RETURN_IF_ERROR(CheckParent(request_.parent()));
  if (request_.format() != v1::MODULE_FORMAT_UNSPECIFIED &&
      request_.format() != v1::MODULE_FORMAT_TEXT &&
      request_.format() != v1::MODULE_FORMAT_PROTO) {
    return InvalidField("format", "unknown, expected TEXT or PROTO");
  }
  if (FromProtoDuration(request_.patience()) < absl::ZeroDuration()) {
    return InvalidField("patience", "negative, expected 0 or more");
  }
  if (request_.specs_size() > kMaxCompileTasks) {
    return WithLimit(
        InvalidField("specs", absl::StrCat(request_.specs_size(),
                                           " of them, expected at most ",
                                           kMaxCompileTasks)),
        "compile_tasks");
  }
  for (const v1::TuningSpec& proto : request_.specs()) {
    HONE_ASSIGN_OR_RETURN(const tuning::TuningSpec spec,
                          FromProto(proto, runtime_.config));
    HONE_RETURN_IF_ERROR(tuning::ValidateSpec(spec));
  }
  if (runtime_.background.queued() >= kMaxWaiting) {
    runtime_.metrics.RpcRejected("overload").Increment();
    absl::MutexLock lock(&mu_);
    missing_ = "too many calls wait";
    return std::nullopt;
  }
  return Wait{
      .subscribe = [self = shared_from_this()](
                       std::function<void()> wake) -> std::shared_ptr<void> {
        self->SetWake(std::move(wake));
        self->BeginTask();
        return std::shared_ptr<void>(self.get(),
                                     [self](void*) { self->SetWake(nullptr); });
      },
      .timeout = TimeLeft()};
}

void CompileSequence::SetWake(std::function<void()> wake) {
  absl::MutexLock lock(&mu_);
  wake_ = std::move(wake);
}

void CompileSequence::BeginTask() {
  absl::MutexLock lock(&mu_);
  if (finished_) return;
  const int task = decided_.decisions_size();
  const absl::Duration time = TimeLeft() / (request_.specs_size() - task);
  task_ =
      std::make_shared<Compilation>(runtime_,
                                    CompileTask{.module = module_,
                                                .spec = request_.specs(task),
                                                .format = request_.format(),
                                                .share = share_},
                                    has_patience_, Now() + time);
  // Neither may block, nor wait for the lock.
  const auto end = [weak = weak_from_this(), task,
                    &background = runtime_.background] {
    background.Schedule([weak, task] {
      if (const auto self = weak.lock()) self->EndTask(task);
    });
  };
  // The last one has until the end of the call.
  if (task + 1 < request_.specs_size()) {
    alarm_ = std::make_unique<grpc::Alarm>();
    alarm_->Set(absl::ToChronoTime(SystemClock().Now() + time), [end](bool ok) {
      if (ok) end();
    });
  }
  task_->Start(end);
}

void CompileSequence::EndTask(int task) {
  std::function<void()> wake;
  {
    absl::MutexLock lock(&mu_);
    if (finished_ || task != decided_.decisions_size()) return;
    alarm_ = nullptr;
    if (task + 1 < request_.specs_size() && TakeAnswer().ok()) {
      wake = nullptr;
    } else {
      wake = std::exchange(wake_, nullptr);
      if (wake == nullptr) return;
    }
  }
  if (wake != nullptr) {
    wake();
  } else {
    BeginTask();
  }
}

absl::Status CompileSequence::TakeAnswer() {
  if (task_ == nullptr) return absl::OkStatus();
  absl::StatusOr<Compilation::Answer> answer = task_->Finish();
  HONE_RETURN_IF_ERROR(answer.status());
  if (answer->module.has_value()) {
    module_.set_content(*std::move(answer->module));
  }
  *decided_.add_decisions() = std::move(answer->decision);
  task_ = nullptr;
  return absl::OkStatus();
}

absl::Status CompileSequence::Finish(v1::CompileResponse& response) {
  v1::ModuleSource module;
  {
    absl::MutexLock lock(&mu_);
    finished_ = true;
    alarm_ = nullptr;
    HONE_RETURN_IF_ERROR(TakeAnswer());
    response.mutable_decisions()->Swap(decided_.mutable_decisions());
    for (int i = response.decisions_size(); i < request_.specs_size(); ++i) {
      v1::Decision& decision = *response.add_decisions();
      decision.set_task(TaskNameOf(request_.specs(i)));
      decision.set_source(v1::Decision::DEFAULT);
      decision.set_missing(missing_);
    }
    module.Swap(&module_);
  }
  HONE_ASSIGN_OR_RETURN(std::string bytes, runtime_.modules.Bytes(module));
  if (request_.by_digest()) {
    HONE_ASSIGN_OR_RETURN(*response.mutable_module_digest(),
                          runtime_.store.PutBlob(bytes));
  } else {
    response.set_module(std::move(bytes));
  }
  return absl::OkStatus();
}

}  // namespace hone::daemon
