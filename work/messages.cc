#include "work/messages.h"

#include <optional>

#include "absl/time/time.h"

namespace hone::work {

void ToProto(const storage::CacheKey& key, v1::CacheKey& proto) {
  proto.set_module_fingerprint(key.module_fingerprint);
  proto.set_target(key.target);
  proto.set_task(key.task);
  proto.set_task_options(key.task_options);
  proto.set_space_version(key.space_version);
}

storage::CacheKey FromProto(const v1::CacheKey& proto) {
  return {.module_fingerprint = proto.module_fingerprint(),
          .target = proto.target(),
          .task = proto.task(),
          .task_options = proto.task_options(),
          .space_version = proto.space_version()};
}

void ToProto(const storage::Verification& verification,
             v1::Verification& proto) {
  proto.set_method(verification.method);
  proto.set_max_rel_error(verification.max_rel_error);
  proto.mutable_measured_by()->Assign(verification.measured_by.begin(),
                                      verification.measured_by.end());
}

storage::Verification FromProto(const v1::Verification& proto) {
  return {
      .method = proto.method(),
      .max_rel_error = proto.max_rel_error(),
      .measured_by = {proto.measured_by().begin(), proto.measured_by().end()}};
}

void ToProto(const space::Trial& trial, internal::Trial& proto) {
  proto.set_id(trial.id);
  proto.mutable_choices()->Add(trial.candidate.choices.begin(),
                               trial.candidate.choices.end());
  proto.set_outcome(static_cast<int32_t>(trial.measurement.outcome));
  proto.set_cost(trial.measurement.cost);
  proto.mutable_samples()->Add(trial.measurement.samples.begin(),
                               trial.measurement.samples.end());
  proto.set_message(trial.measurement.message);
  proto.set_violation(trial.measurement.violation);
}

space::Trial FromProto(const internal::Trial& proto) {
  space::Trial trial;
  trial.id = proto.id();
  trial.candidate.choices = {proto.choices().begin(), proto.choices().end()};
  trial.measurement.outcome = static_cast<space::Outcome>(proto.outcome());
  trial.measurement.cost = proto.cost();
  trial.measurement.samples = {proto.samples().begin(), proto.samples().end()};
  trial.measurement.message = proto.message();
  trial.measurement.violation = proto.violation();
  return trial;
}

void ToProto(const tuning::SearchJob& job, internal::Search& proto) {
  const storage::Tuning& tuning = job.tuning;
  proto.set_tuning_id(tuning.id);
  ToProto(tuning.key, *proto.mutable_key());
  proto.set_module_name(tuning.module_name);
  proto.set_module_digest(tuning.module_digest);
  proto.set_optimizer(tuning.optimizer);
  proto.set_seed(tuning.seed);
  proto.set_budget_trials(tuning.budget.trials);
  proto.set_budget_evaluations(tuning.budget.evaluations);
  if (tuning.budget.time != absl::InfiniteDuration()) {
    proto.set_budget_time(absl::ToInt64Nanoseconds(tuning.budget.time));
  }
  proto.set_module(job.module);
  for (const space::Trial& trial : job.trials) {
    ToProto(trial, *proto.add_trials());
  }
  proto.mutable_start()->Assign(job.start.begin(), job.start.end());
}

tuning::SearchJob FromProto(const internal::Search& proto) {
  tuning::SearchJob job;
  storage::Tuning& tuning = job.tuning;
  tuning.id = proto.tuning_id();
  tuning.key = FromProto(proto.key());
  tuning.module_name = proto.module_name();
  tuning.module_digest = proto.module_digest();
  tuning.optimizer = proto.optimizer();
  tuning.seed = proto.seed();
  tuning.budget.trials = proto.budget_trials();
  tuning.budget.evaluations = proto.budget_evaluations();
  if (proto.has_budget_time()) {
    tuning.budget.time = absl::Nanoseconds(proto.budget_time());
  }
  job.module = proto.module();
  job.trials.reserve(static_cast<size_t>(proto.trials_size()));
  for (const internal::Trial& trial : proto.trials()) {
    job.trials.push_back(FromProto(trial));
  }
  job.start = {proto.start().begin(), proto.start().end()};
  return job;
}

void ToProto(const tuning::Progress& progress, internal::Progress& proto) {
  proto.set_phase(static_cast<int32_t>(progress.phase));
  proto.set_trials(progress.trials);
  proto.set_budget_trials(progress.budget_trials);
  if (progress.default_cost) proto.set_default_cost(*progress.default_cost);
  if (progress.best_cost) proto.set_best_cost(*progress.best_cost);
  proto.set_unit(progress.unit);
  proto.set_seconds(progress.seconds);
}

tuning::Progress FromProto(const internal::Progress& proto) {
  tuning::Progress progress;
  progress.phase = static_cast<tuning::Progress::Phase>(proto.phase());
  progress.trials = proto.trials();
  progress.budget_trials = proto.budget_trials();
  if (proto.has_default_cost()) progress.default_cost = proto.default_cost();
  if (proto.has_best_cost()) progress.best_cost = proto.best_cost();
  progress.unit = proto.unit();
  progress.seconds = proto.seconds();
  return progress;
}

void ToProto(const tuning::Found& found, internal::Found& proto) {
  proto.set_unit(found.unit);
  proto.set_default_cost(found.default_cost);
  proto.set_best_cost(found.best_cost);
  proto.set_decision(found.decision);
  proto.set_tuned_module(found.tuned_module);
  proto.set_trials(found.trials);
  proto.set_seconds(found.seconds);
  ToProto(found.verification, *proto.mutable_verification());
}

tuning::Found FromProto(const internal::Found& proto) {
  return {.unit = proto.unit(),
          .default_cost = proto.default_cost(),
          .best_cost = proto.best_cost(),
          .decision = proto.decision(),
          .tuned_module = proto.tuned_module(),
          .trials = proto.trials(),
          .seconds = proto.seconds(),
          .verification = FromProto(proto.verification())};
}

void ToProto(const absl::Status& status, google::rpc::Status& proto) {
  proto.set_code(static_cast<int>(status.code()));
  proto.set_message(std::string(status.message()));
}

absl::Status FromProto(const google::rpc::Status& proto) {
  return absl::Status(static_cast<absl::StatusCode>(proto.code()),
                      proto.message());
}

}  // namespace hone::work
