#include "daemon/services/compilation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"
#include "daemon/services/tuning_request.h"
#include "proto/duration.h"
#include "tuning/search.h"
#include "work/messages.h"

namespace hone::daemon {
namespace {

using storage::Record;
using v1::Decision;

// A default that nobody waits for any more is given up after this long.
constexpr absl::Duration kMinDefaultTime = absl::Seconds(1);

absl::Duration Now() { return SystemClock().Monotonic(); }

}  // namespace

std::string TaskNameOf(const v1::TuningSpec& spec) {
  return spec.task().empty() ? tuning::TuningSpec().task : spec.task();
}

Compilation::Compilation(Runtime& runtime, CompileTask task, bool has_patience,
                         absl::Duration answer_by)
    : runtime_(runtime),
      task_(std::move(task)),
      has_patience_(has_patience),
      answer_by_(answer_by),
      missing_("nothing was found within the patience") {}

absl::Duration Compilation::TimeLeft() const {
  return std::max(absl::ZeroDuration(), answer_by_ - Now());
}

void Compilation::Start(std::function<void()> end) {
  {
    absl::MutexLock lock(&mu_);
    end_ = std::move(end);
  }
  runtime_.background.Schedule([self = shared_from_this()] { self->Work(); });
}

void Compilation::End() {
  absl::MutexLock lock(&mu_);
  if (auto end = std::exchange(end_, nullptr)) end();
}

void Compilation::Work() {
  const absl::Status status = Tune();
  bool has_answer = false;
  bool is_tuned = false;
  {
    absl::MutexLock lock(&mu_);
    if (absl::IsInvalidArgument(status) || absl::IsNotFound(status)) {
      error_ = status;
    } else if (!status.ok()) {
      missing_ = std::string(status.message());
    }
    has_answer = published_.has_value();
    is_tuned = !tuning_id_.empty();
  }
  if (!status.ok() || has_answer) {
    End();
    return;
  }
  ApplyDefault();
  // With a tuning under way and patience left, its end may be the answer.
  if (!is_tuned || !has_patience_) End();
}

absl::Status Compilation::Tune() {
  HONE_ASSIGN_OR_RETURN(
      CheckedRequest checked,
      CheckedRequest::Read(runtime_, task_.module, task_.spec,
                           [this] { return runtime_.tunings.draining(); }));
  module_ = checked.module();
  key_ = checked.key();
  absl::StatusOr<TuningExecutor::Submission> submission =
      checked.Submit(task_.share, /*use_cache=*/true);
  if (submission.ok() && submission->cached.has_value()) {
    absl::StatusOr<Answer> answer =
        AnswerOf(Decision::CACHE, *submission->cached);
    if (answer.ok()) {
      runtime_.metrics.CacheRequests("hit").Increment();
      absl::MutexLock lock(&mu_);
      published_ = *std::move(answer);
      return absl::OkStatus();
    }
    // The module of the record cannot be read, so it is tuned again.
    submission = checked.Submit(task_.share, /*use_cache=*/false);
  }
  runtime_.metrics.CacheRequests("miss").Increment();
  if (!submission.ok()) {
    // The compiler does not depend on a tuning.
    if (absl::IsResourceExhausted(submission.status()) ||
        absl::IsUnavailable(submission.status())) {
      spdlog::warn("no tuning started: {}",
                   std::string(submission.status().message()));
      return absl::OkStatus();
    }
    return submission.status();
  }
  const std::string id = submission->tuning.id;
  {
    absl::MutexLock lock(&mu_);
    tuning_id_ = id;
  }
  absl::StatusOr<TuningExecutor::Subscription> subscription =
      runtime_.tunings.Subscribe(
          id, [weak = weak_from_this(),
               &background = runtime_.background](const TuningUpdate& update) {
            if (!update.settled()) return;
            // Listeners must not block, nor end their own subscription, which
            // the last user of a compilation does.
            background.Schedule([weak, record = update.record] {
              const auto self = weak.lock();
              if (self == nullptr) return;
              if (record.has_value()) self->OnTuned(*record);
              self->End();
            });
          });
  if (subscription.ok()) subscription_ = *std::move(subscription);
  // The tuning waits for a device; the compiler does not.
  return checked.missing();
}

void Compilation::OnTuned(const Record& record) {
  {
    absl::MutexLock lock(&mu_);
    if (finished_) return;
  }
  absl::StatusOr<Answer> answer = AnswerOf(Decision::TUNED, record);
  if (!answer.ok()) return;
  absl::MutexLock lock(&mu_);
  published_ = *std::move(answer);
}

void Compilation::ApplyDefault() {
  internal::Job job;
  internal::ApplyDefault& apply = *job.mutable_apply_default();
  absl::StatusOr<std::string> bytes = runtime_.modules.Bytes(task_.module);
  if (!bytes.ok()) return;
  apply.set_module(*std::move(bytes));
  apply.set_file_name(std::string(ModuleLoader::FileNameOf(task_.module)));
  work::ToProto(key_, *apply.mutable_key());
  apply.set_format(task_.format);
  const auto is_needless = [this] {
    if (runtime_.tunings.draining()) return true;
    absl::MutexLock lock(&mu_);
    return published_.has_value();
  };
  absl::StatusOr<internal::Result> result = runtime_.requests.Run(
      job,
      {.search = {.stop = is_needless}, .kernels = &runtime_.present_devices},
      std::max(TimeLeft(), kMinDefaultTime));
  if (!absl::IsDeadlineExceeded(result.status())) {
    runtime_.quarantine.Count(module_.digest, result.status());
  }
  absl::MutexLock lock(&mu_);
  if (!result.ok()) {
    missing_ = absl::StrCat("the default was not verified: ",
                            result.status().message());
    return;
  }
  internal::AppliedDefault& applied = *result->mutable_applied_default();
  Answer answer;
  if (applied.has_module()) {
    answer.module = std::move(*applied.mutable_module());
  }
  answer.decision.set_task(key_.task);
  answer.decision.set_source(Decision::DEFAULT);
  answer.decision.set_decision(applied.decision());
  answer.decision.set_unit(applied.unit());
  if (applied.has_cost()) {
    answer.decision.set_default_cost(applied.cost());
    answer.decision.set_cost(applied.cost());
  }
  if (applied.has_verification()) {
    *answer.decision.mutable_verification() = applied.verification();
  }
  default_ = std::move(answer);
}

absl::StatusOr<std::string> Compilation::TunedModule(const Record& record) {
  HONE_ASSIGN_OR_RETURN(std::string module,
                        runtime_.store.GetBlob(record.tuned_module_digest));
  if (task_.format != v1::MODULE_FORMAT_PROTO) return module;
  internal::Job job;
  job.mutable_render()->set_module(std::move(module));
  job.mutable_render()->set_format(task_.format);
  HONE_ASSIGN_OR_RETURN(
      internal::Result result,
      runtime_.requests.Run(job, {}, std::max(TimeLeft(), kMinDefaultTime)));
  return std::move(*result.mutable_rendered());
}

absl::StatusOr<Compilation::Answer> Compilation::AnswerOf(
    Decision::Source source, const Record& record) {
  Answer answer;
  if (!record.tuned_module_digest.empty()) {
    HONE_ASSIGN_OR_RETURN(answer.module, TunedModule(record));
  }
  Decision& decision = answer.decision;
  decision.set_task(record.key.task);
  decision.set_source(source);
  decision.set_decision(record.decision);
  decision.set_unit(record.unit);
  decision.set_default_cost(record.default_cost);
  decision.set_cost(record.best_cost);
  decision.set_tuning(TuningName(record.tuning_id));
  work::ToProto(record.verification, *decision.mutable_verification());
  ToProto(record, *decision.mutable_record());
  return answer;
}

absl::StatusOr<Compilation::Answer> Compilation::Finish() {
  absl::MutexLock lock(&mu_);
  finished_ = true;
  HONE_RETURN_IF_ERROR(error_);
  std::optional<Answer>& best = published_.has_value() ? published_ : default_;
  Answer answer;
  if (best.has_value()) {
    answer = *std::move(best);
  } else {
    answer.decision.set_task(TaskNameOf(task_.spec));
    answer.decision.set_source(Decision::DEFAULT);
    answer.decision.set_missing(missing_);
  }
  if (answer.decision.tuning().empty() && !tuning_id_.empty()) {
    answer.decision.set_tuning(TuningName(tuning_id_));
  }
  return answer;
}

}  // namespace hone::daemon
