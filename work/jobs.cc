#include "work/jobs.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/analysis/evaluation_cost.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/search.h"
#include "tuning/subject.h"
#include "tuning/task.h"
#include "tuning/verify.h"
#include "work/messages.h"
#include "work/parent_kernels.h"
#include "work/read_module.h"

namespace hone::work {
namespace {

absl::Status DoDescribe(const internal::Describe& asked,
                        internal::Described& described) {
  HONE_ASSIGN_OR_RETURN(
      const tuning::Subject subject,
      tuning::ParseSubject(asked.module(), asked.file_name(),
                           static_cast<tuning::SubjectKind>(asked.expected())));
  described.set_kind(static_cast<int32_t>(subject.kind()));
  described.set_fingerprint(subject.Fingerprint());
  described.set_name(subject.name());
  // Checks of other subjects take no evaluation.
  if (subject.kind() != tuning::SubjectKind::kModule) return absl::OkStatus();
  hlo::EvaluationCost cost = hlo::EstimateEvaluation(subject.module());
  described.set_evaluation_flops(cost.flops);
  described.set_most_flops(std::move(cost.most_flops));
  described.set_evaluation_bytes(cost.bytes);
  described.set_most_bytes(std::move(cost.most_bytes));
  return absl::OkStatus();
}

absl::Status DoRender(const internal::Render& asked, std::string& rendered) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        ReadModule(asked.module(), "<module>"));
  HONE_ASSIGN_OR_RETURN(rendered, WriteModule(module, asked.format()));
  return absl::OkStatus();
}

absl::Status DoApplyDefault(const internal::ApplyDefault& asked, Parent& parent,
                            ThreadPool& pool,
                            internal::AppliedDefault& applied) {
  const storage::CacheKey key = FromProto(asked.key());
  HONE_ASSIGN_OR_RETURN(
      const tuning::Subject subject,
      tuning::ParseSubject(asked.module(), asked.file_name()));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task, tuning::FindTask(key.task));
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions options,
                        tuning::ParseOptionsKey(key.task_options));
  ParentKernels kernels(parent);
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<space::Problem> problem,
      task->MakeProblem(
          subject, options,
          {.target = key.target, .kernels = &kernels, .stop = nullptr}));
  const space::Candidate candidate = problem->DefaultCandidate();
  tuning::AppliedDecision decision;
  // Measuring on a device would take longer than a compiler waits; what such a
  // task decides leaves the module as it is.
  if (problem->is_noisy()) {
    HONE_ASSIGN_OR_RETURN(decision, task->Apply(subject, *problem, candidate));
  } else {
    HONE_ASSIGN_OR_RETURN(
        tuning::Winner winner,
        task->Judge(subject, *problem, candidate, {.pool = &pool}));
    decision = std::move(winner.applied);
    applied.set_cost(winner.cost);
    ToProto(winner.verification, *applied.mutable_verification());
  }
  applied.set_decision(std::move(decision.decision));
  applied.set_unit(std::string(problem->unit()));
  if (decision.module.has_value()) {
    HONE_ASSIGN_OR_RETURN(*applied.mutable_module(),
                          WriteModule(*decision.module, asked.format()));
  }
  return absl::OkStatus();
}

absl::Status DoSearch(const internal::Search& asked, Parent& parent,
                      ThreadPool& pool, internal::Found& proto) {
  ParentKernels kernels(parent);
  tuning::LocalSearcher searcher(SystemClock(), &pool, &kernels);
  const tuning::SearchEvents events = {
      .progress =
          [&](const tuning::Progress& progress) {
            internal::FromProcess message;
            ToProto(progress, *message.mutable_progress());
            parent.Send(message);
          },
      .stop = [&] { return parent.stopped(); },
      .on_trial =
          [&](const space::Trial& trial) {
            internal::FromProcess message;
            ToProto(trial, *message.mutable_trial());
            parent.Send(message);
            return absl::OkStatus();
          }};
  HONE_ASSIGN_OR_RETURN(const tuning::Found found,
                        searcher.Search(FromProto(asked), events));
  ToProto(found, proto);
  return absl::OkStatus();
}

absl::Status Do(const internal::Job& job, Parent& parent,
                Environments& environments, ThreadPool& pool,
                internal::Result& result) {
  switch (job.kind_case()) {
    case internal::Job::kDescribe:
      return DoDescribe(job.describe(), *result.mutable_described());
    case internal::Job::kRender:
      return DoRender(job.render(), *result.mutable_rendered());
    case internal::Job::kApplyDefault:
      return DoApplyDefault(job.apply_default(), parent, pool,
                            *result.mutable_applied_default());
    case internal::Job::kSearch:
      return DoSearch(job.search(), parent, pool, *result.mutable_found());
    case internal::Job::kEnvironment: {
      HONE_ASSIGN_OR_RETURN(*result.mutable_environment(),
                            environments.Do(job.environment()));
      return absl::OkStatus();
    }
    case internal::Job::KIND_NOT_SET:
      break;
  }
  return absl::InternalError("an empty job");
}

}  // namespace

internal::Result DoJob(const internal::Job& job, Parent& parent,
                       Environments& environments, ThreadPool& pool) {
  internal::Result result;
  const absl::Status status = Do(job, parent, environments, pool, result);
  if (!status.ok()) ToProto(status, *result.mutable_error());
  return result;
}

}  // namespace hone::work
