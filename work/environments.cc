#include "work/environments.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/analysis/evaluation_cost.h"
#include "tuning/cache_key.h"
#include "tuning/registry.h"
#include "tuning/task.h"
#include "work/messages.h"
#include "work/read_module.h"

namespace hone::work {
namespace {

// Estimated size of an instruction of a state.
constexpr int64_t kBytesPerNode = 400;

void ToProto(space::Observation observation, v1::ObservationGraph& graph) {
  graph.mutable_node_kinds()->Add(observation.node_kinds.begin(),
                                  observation.node_kinds.end());
  graph.mutable_node_features()->Add(observation.node_features.begin(),
                                     observation.node_features.end());
  graph.mutable_edge_sources()->Add(observation.edge_sources.begin(),
                                    observation.edge_sources.end());
  graph.mutable_edge_targets()->Add(observation.edge_targets.begin(),
                                    observation.edge_targets.end());
}

// Writes the observation of `episode`, completing its mask if `parts` says so.
absl::Status Observe(space::Episode& episode, const v1::ObservationParts& parts,
                     v1::Observation& proto) {
  proto.set_score(episode.score());
  proto.set_remaining_steps(episode.remaining_steps());
  if (parts.exact_mask() && !episode.ended()) {
    HONE_RETURN_IF_ERROR(episode.FindNoOps());
  }
  const std::vector<bool> mask = episode.Mask();
  proto.mutable_action_mask()->Add(mask.begin(), mask.end());
  if (parts.histogram()) {
    const std::vector<int32_t> counts =
        episode.problem().CountNodeKinds(episode.state());
    proto.mutable_histogram()->Add(counts.begin(), counts.end());
  }
  if (parts.graph()) {
    ToProto(episode.problem().Observe(episode.state()), *proto.mutable_graph());
  }
  return absl::OkStatus();
}

}  // namespace

// The memory left for the observations of one answer. Threads: thread-safe.
class Environments::ResponseRoom {
 public:
  absl::Status Take(size_t bytes) {
    const auto taken = static_cast<int64_t>(bytes);
    if (left_.fetch_sub(taken) >= taken) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the observations take more than ", kMaxObservationBytes,
                     " bytes, expected fewer actions, or no graph"));
  }

 private:
  std::atomic<int64_t> left_ = kMaxObservationBytes;
};

absl::StatusOr<internal::EnvironmentAnswer> Environments::Do(
    const internal::EnvironmentCall& call) {
  internal::EnvironmentAnswer answer;
  switch (call.kind_case()) {
    case internal::EnvironmentCall::kOpen:
      HONE_RETURN_IF_ERROR(Open(call.open(), answer));
      break;
    case internal::EnvironmentCall::kFork:
      HONE_RETURN_IF_ERROR(Fork(call.fork(), answer));
      break;
    case internal::EnvironmentCall::kStep:
      StepAll(call.step(), answer);
      break;
    case internal::EnvironmentCall::kClose:
      for (const std::string& name : call.close().names()) {
        environments_.erase(name);
      }
      ShareMemory();
      break;
    case internal::EnvironmentCall::kLimitMemory:
      memory_bytes_ = call.limit_memory();
      ShareMemory();
      break;
    case internal::EnvironmentCall::KIND_NOT_SET:
      return absl::InternalError("an empty call");
  }
  return answer;
}

absl::StatusOr<std::shared_ptr<Environments::Problem>> Environments::ProblemOf(
    const internal::EnvironmentCall::Open& asked) {
  std::weak_ptr<Problem>& slot = problems_[asked.problem()];
  if (std::shared_ptr<Problem> known = slot.lock()) return known;
  auto made = std::make_shared<Problem>();
  HONE_ASSIGN_OR_RETURN(made->module,
                        ReadModule(asked.module(), asked.file_name()));
  made->key = asked.problem();
  made->constant_bytes = hlo::ConstantBytes(made->module);
  made->task = asked.task();
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                        tuning::FindTask(asked.task()));
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions options,
                        tuning::ParseOptionsKey(asked.task_options()));
  HONE_ASSIGN_OR_RETURN(made->problem,
                        task->MakeProblem(made->module, options, {}));
  HONE_ASSIGN_OR_RETURN(
      const space::Measurement by_default,
      made->problem->Measure(made->problem->DefaultCandidate()));
  made->default_score = by_default.cost;
  slot = made;
  ShareMemory();
  return made;
}

absl::Status Environments::Open(const internal::EnvironmentCall::Open& asked,
                                internal::EnvironmentAnswer& answer) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Problem> problem, ProblemOf(asked));
  const space::SequentialProblem& sequential = *problem->problem->sequential();
  const int32_t max_steps =
      asked.max_steps() > 0
          ? asked.max_steps()
          : std::min(sequential.max_steps(), kMaxEpisodeSteps);
  return Add(asked.name(),
             {.problem = std::move(problem),
              .episode = space::Episode(sequential, max_steps),
              .max_steps = max_steps,
              .parts = asked.parts()},
             answer);
}

absl::Status Environments::Fork(const internal::EnvironmentCall::Fork& asked,
                                internal::EnvironmentAnswer& answer) {
  const auto parent = environments_.find(asked.parent());
  if (parent == environments_.end()) {
    return absl::NotFoundError(absl::StrCat("no environment ", asked.parent()));
  }
  const Environment& forked = *parent->second;
  return Add(asked.name(),
             {.problem = forked.problem,
              .episode = forked.episode,
              .max_steps = forked.max_steps,
              .parts = forked.parts},
             answer);
}

absl::Status Environments::Add(const std::string& name, Environment environment,
                               internal::EnvironmentAnswer& answer) {
  v1::OpenEnvironmentResponse& opened = *answer.mutable_opened();
  HONE_RETURN_IF_ERROR(Observe(environment.episode, environment.parts,
                               *opened.mutable_observation()));
  HONE_RETURN_IF_ERROR(
      ResponseRoom().Take(opened.observation().ByteSizeLong()));
  const space::SequentialProblem& problem =
      *environment.problem->problem->sequential();
  v1::Environment& proto = *opened.mutable_environment();
  proto.set_name(name);
  proto.set_task(environment.problem->task);
  proto.set_unit(std::string(problem.unit()));
  proto.set_max_steps(environment.max_steps);
  proto.set_initial_score(problem.Cost(problem.InitialState()));
  proto.set_default_score(environment.problem->default_score);
  answer.set_state_bytes(environment.problem->module.instruction_count() *
                         kBytesPerNode);
  answer.set_problem(environment.problem->key);
  answer.set_problem_bytes(environment.problem->constant_bytes);
  environments_[name] = std::make_unique<Environment>(std::move(environment));
  return absl::OkStatus();
}

void Environments::StepAll(const v1::StepBatchRequest& asked,
                           internal::EnvironmentAnswer& answer) {
  v1::StepBatchResponse& taken = *answer.mutable_stepped();
  for (int i = 0; i < asked.requests_size(); ++i) taken.add_results();
  ResponseRoom room;
  std::atomic<int> next = 0;
  pool_.ParallelFor(asked.requests_size(), 1, [&](int64_t, int64_t) {
    // Steps differ too much for equal pieces.
    for (int i; (i = next.fetch_add(1)) < asked.requests_size();) {
      auto& result = *taken.mutable_results(i);
      const absl::Status status =
          Step(asked.requests(i), room, *result.mutable_response());
      if (!status.ok()) work::ToProto(status, *result.mutable_error());
    }
  });
}

absl::Status Environments::Step(const v1::StepRequest& asked,
                                ResponseRoom& room, v1::StepResponse& taken) {
  const auto found = environments_.find(asked.name());
  if (found == environments_.end()) {
    return absl::NotFoundError(absl::StrCat("no environment ", asked.name()));
  }
  Environment& environment = *found->second;
  const bool repeated = !asked.request_id().empty() &&
                        asked.request_id() == environment.last_request_id;
  const space::Episode before =
      repeated ? *environment.before_last_request : environment.episode;
  HONE_RETURN_IF_ERROR(before.Check(absl::MakeConstSpan(
      asked.actions().data(), static_cast<size_t>(asked.actions_size()))));
  const v1::ObservationParts& parts =
      asked.has_parts() ? asked.parts() : environment.parts;
  space::Episode episode = before;
  for (const int32_t action : asked.actions()) {
    if (parent_.stopped()) return absl::CancelledError("stopped");
    HONE_ASSIGN_OR_RETURN(const space::EpisodeStep step, episode.Step(action));
    v1::StepResponse::Step& proto = *taken.add_steps();
    proto.set_reward(step.reward);
    proto.set_terminated(step.terminated);
    proto.set_truncated(step.truncated);
    if (!step.error.ok()) work::ToProto(step.error, *proto.mutable_error());
    HONE_RETURN_IF_ERROR(Observe(episode, parts, *proto.mutable_observation()));
    HONE_RETURN_IF_ERROR(room.Take(proto.ByteSizeLong()));
  }
  environment.episode = std::move(episode);
  environment.last_request_id = asked.request_id();
  environment.before_last_request.reset();
  if (!asked.request_id().empty()) environment.before_last_request = before;
  return absl::OkStatus();
}

void Environments::ShareMemory() {
  std::vector<std::shared_ptr<Problem>> live;
  absl::erase_if(problems_, [&](const auto& entry) {
    std::shared_ptr<Problem> problem = entry.second.lock();
    if (problem == nullptr) return true;
    live.push_back(std::move(problem));
    return false;
  });
  if (live.empty()) return;
  const int64_t share = memory_bytes_ / static_cast<int64_t>(live.size());
  for (const auto& problem : live) problem->problem->LimitMemory(share);
}

}  // namespace hone::work
