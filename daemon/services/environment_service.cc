#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/services/convert.h"
#include "daemon/services/services.h"
#include "hlo/ir/opcode.h"
#include "hlo/passes/registry.h"
#include "hone/v1/environment_service.grpc.pb.h"
#include "tuning/registry.h"
#include "tuning/task.h"
#include "tuning/tasks/module_observation.h"

namespace hone::daemon {
namespace {

// The task that environments are of.
constexpr absl::string_view kTask = "pass_order";

// Estimated size of an instruction of a state.
constexpr int64_t kBytesPerNode = 400;

// The memory left for the observations of one response.
class ResponseRoom {
 public:
  absl::Status Take(size_t bytes) {
    const auto taken = static_cast<int64_t>(bytes);
    if (left_.fetch_sub(taken) >= taken) return absl::OkStatus();
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat(
            "the observations take more than ", kMaxObservationBytes,
            " bytes, expected fewer actions, or no graph")),
        "RESPONSE_TOO_LARGE");
  }

 private:
  std::atomic<int64_t> left_ = kMaxObservationBytes;
};

absl::StatusOr<const tuning::Task*> FindEnvironmentTask(
    const std::string& name) {
  HONE_ASSIGN_OR_RETURN(
      const tuning::Task* task,
      tuning::FindTask(name.empty() ? kTask : absl::string_view(name)));
  if (task->name() != kTask) {
    return InvalidField(
        "task",
        absl::StrCat("\"", name, "\" has no environment, expected ", kTask));
  }
  return task;
}

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
absl::Status Observe(tuning::Episode& episode,
                     const v1::ObservationParts& parts,
                     v1::Observation& proto) {
  proto.set_score(episode.score());
  proto.set_remaining_steps(episode.remaining_steps());
  if (parts.exact_mask() && !episode.ended()) {
    HONE_RETURN_IF_ERROR(episode.CompleteMask());
  }
  proto.mutable_action_mask()->Add(episode.mask().begin(),
                                   episode.mask().end());
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

void ToProto(const LiveEnvironment& environment, v1::Environment& proto) {
  const EnvironmentProblem& shared = *environment.problem;
  const space::SequentialProblem& problem = *shared.problem->sequential();
  proto.set_name(EnvironmentName(environment.id));
  proto.set_task(shared.task);
  proto.set_unit(std::string(problem.unit()));
  proto.set_max_steps(environment.max_steps);
  proto.set_initial_score(problem.Cost(problem.InitialState()));
  proto.set_default_score(shared.default_score);
}

class EnvironmentService final
    : public v1::EnvironmentService::CallbackService {
 public:
  explicit EnvironmentService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* GetSpaces(
      grpc::CallbackServerContext* context, const v1::GetSpacesRequest* request,
      v1::GetSpacesResponse* response) override {
    return Handle(
        runtime_, get_spaces_, context, request, response,
        [](const v1::GetSpacesRequest& asked,
           v1::GetSpacesResponse& spaces) -> absl::Status {
          HONE_RETURN_IF_ERROR(FindEnvironmentTask(asked.task()).status());
          for (absl::string_view pass : hlo::Passes().ids()) {
            spaces.add_actions(std::string(pass));
          }
          spaces.add_actions("stop");
          for (int kind = 0; kind < hlo::kOpcodeCount; ++kind) {
            spaces.add_node_kinds(
                std::string(hlo::OpcodeName(static_cast<hlo::Opcode>(kind))));
          }
          spaces.set_node_features(
              tuning::ModuleObservationSpec().node_features);
          spaces.add_scores("ops");
          spaces.add_scores("xla");
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* OpenEnvironment(
      grpc::CallbackServerContext* context,
      const v1::OpenEnvironmentRequest* request,
      v1::OpenEnvironmentResponse* response) override {
    return Handle(runtime_, open_environment_, context, request, response,
                  [this](const v1::OpenEnvironmentRequest& asked,
                         v1::OpenEnvironmentResponse& opened) {
                    return Open(asked, opened);
                  });
  }

  grpc::ServerUnaryReactor* Step(grpc::CallbackServerContext* context,
                                 const v1::StepRequest* request,
                                 v1::StepResponse* response) override {
    return Handle(
        runtime_, step_, context, request, response,
        [this, context](const v1::StepRequest& asked, v1::StepResponse& taken) {
          ResponseRoom room;
          return TakeSteps(*context, asked, room, taken);
        });
  }

  grpc::ServerUnaryReactor* StepBatch(
      grpc::CallbackServerContext* context, const v1::StepBatchRequest* request,
      v1::StepBatchResponse* response) override {
    return Handle(runtime_, step_batch_, context, request, response,
                  [this, context](const v1::StepBatchRequest& asked,
                                  v1::StepBatchResponse& taken) {
                    return TakeBatch(*context, asked, taken);
                  });
  }

  grpc::ServerUnaryReactor* Fork(grpc::CallbackServerContext* context,
                                 const v1::ForkRequest* request,
                                 v1::ForkResponse* response) override {
    return Handle(runtime_, fork_, context, request, response,
                  [this](const v1::ForkRequest& asked,
                         v1::ForkResponse& forked) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const std::string id,
                                          EnvironmentId(asked.name()));
                    HONE_ASSIGN_OR_RETURN(const EnvironmentUse parent,
                                          runtime_.environments.Use(id));
                    LiveEnvironment fork = {
                        .id = "",
                        .problem = parent->problem,
                        .episode = parent->episode,
                        .max_steps = parent->max_steps,
                        .parts = parent->parts,
                        .last_request_id = "",
                        .before_last_request = std::nullopt};
                    return Add(std::move(fork), *forked.mutable_environment(),
                               *forked.mutable_observation());
                  });
  }

  grpc::ServerUnaryReactor* Close(grpc::CallbackServerContext* context,
                                  const v1::CloseRequest* request,
                                  v1::CloseResponse* response) override {
    return Handle(runtime_, close_, context, request, response,
                  [this](const v1::CloseRequest& asked,
                         v1::CloseResponse&) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const std::string id,
                                          EnvironmentId(asked.name()));
                    return runtime_.environments.Close(id);
                  });
  }

 private:
  absl::Status Open(const v1::OpenEnvironmentRequest& asked,
                    v1::OpenEnvironmentResponse& opened) {
    if (runtime_.tunings.draining()) {
      runtime_.metrics.RpcRejected("draining").Increment();
      return DrainingError();
    }
    HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                          FindEnvironmentTask(asked.task()));
    HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions options,
                          FromProto(asked.options()));
    const absl::StatusOr<std::string> options_key = task->OptionsKey(options);
    if (!options_key.ok()) {
      return InvalidField("options", options_key.status().message());
    }
    if (asked.max_steps() < 0 || asked.max_steps() > kMaxEpisodeSteps) {
      return InvalidField("max_steps",
                          absl::StrCat(asked.max_steps(), ", expected 0 to ",
                                       kMaxEpisodeSteps));
    }
    // Refuses before the work of making a problem.
    HONE_RETURN_IF_ERROR(runtime_.environments.CheckRoom(0));
    const std::string digest = asked.module().has_content()
                                   ? Sha256Hex(asked.module().content())
                                   : asked.module().digest();
    HONE_ASSIGN_OR_RETURN(
        std::shared_ptr<EnvironmentProblem> problem,
        runtime_.environments.ProblemOf(
            absl::StrCat(digest, "/", task->name(), "/", *options_key),
            [&] { return MakeProblem(*task, options, asked.module()); }));
    const space::SequentialProblem& sequential =
        *problem->problem->sequential();
    const int32_t max_steps =
        asked.max_steps() > 0
            ? asked.max_steps()
            : std::min(sequential.max_steps(), kMaxEpisodeSteps);
    return Add({.id = "",
                .problem = std::move(problem),
                .episode = tuning::Episode(sequential, max_steps),
                .max_steps = max_steps,
                .parts = asked.parts(),
                .last_request_id = "",
                .before_last_request = std::nullopt},
               *opened.mutable_environment(), *opened.mutable_observation());
  }

  absl::StatusOr<std::shared_ptr<EnvironmentProblem>> MakeProblem(
      const tuning::Task& task, const tuning::TaskOptions& options,
      const v1::ModuleSource& source) {
    HONE_ASSIGN_OR_RETURN(ModuleLoader::Loaded loaded,
                          runtime_.modules.Load(source));
    auto shared = std::make_shared<EnvironmentProblem>();
    shared->module = std::move(loaded.module);
    shared->task = std::string(task.name());
    HONE_ASSIGN_OR_RETURN(shared->problem,
                          task.MakeProblem(shared->module, options, {}));
    HONE_ASSIGN_OR_RETURN(
        const space::Measurement by_default,
        shared->problem->Measure(shared->problem->DefaultCandidate()));
    shared->default_score = by_default.cost;
    shared->state_bytes = shared->module.instruction_count() * kBytesPerNode;
    return shared;
  }

  // Observes the environment, then opens it.
  absl::Status Add(LiveEnvironment environment, v1::Environment& proto,
                   v1::Observation& observation) {
    HONE_RETURN_IF_ERROR(
        runtime_.environments.CheckRoom(environment.problem->state_bytes));
    HONE_RETURN_IF_ERROR(
        Observe(environment.episode, environment.parts, observation));
    HONE_RETURN_IF_ERROR(ResponseRoom().Take(observation.ByteSizeLong()));
    ToProto(environment, proto);
    HONE_ASSIGN_OR_RETURN(const std::string id,
                          runtime_.environments.Open(std::move(environment)));
    proto.set_name(EnvironmentName(id));
    return absl::OkStatus();
  }

  // Takes all steps of a request, or none.
  absl::Status TakeSteps(const grpc::CallbackServerContext& context,
                         const v1::StepRequest& asked, ResponseRoom& room,
                         v1::StepResponse& taken) {
    HONE_ASSIGN_OR_RETURN(const std::string id, EnvironmentId(asked.name()));
    if (asked.actions().empty()) {
      return InvalidField("actions", "empty, expected at least one");
    }
    HONE_ASSIGN_OR_RETURN(const EnvironmentUse environment,
                          runtime_.environments.Use(id));
    const bool repeated = !asked.request_id().empty() &&
                          asked.request_id() == environment->last_request_id;
    const tuning::Episode before =
        repeated ? *environment->before_last_request : environment->episode;
    const absl::Status allowed = before.Check(absl::MakeConstSpan(
        asked.actions().data(), static_cast<size_t>(asked.actions_size())));
    if (absl::IsInvalidArgument(allowed)) {
      return InvalidField("actions", allowed.message());
    }
    if (!allowed.ok()) {
      return WithReason(allowed, "EPISODE_ENDED", {{"name", asked.name()}});
    }
    const v1::ObservationParts& parts =
        asked.has_parts() ? asked.parts() : environment->parts;
    tuning::Episode episode = before;
    for (const int32_t action : asked.actions()) {
      if (context.IsCancelled()) {
        return absl::CancelledError("cancelled by client");
      }
      const absl::Duration start = SystemClock().Monotonic();
      HONE_ASSIGN_OR_RETURN(const tuning::EpisodeStep step,
                            episode.Step(action));
      v1::StepResponse::Step& proto = *taken.add_steps();
      proto.set_reward(step.reward);
      proto.set_terminated(step.terminated);
      proto.set_truncated(step.truncated);
      if (!step.error.ok()) *proto.mutable_error() = ToRpcStatus(step.error);
      HONE_RETURN_IF_ERROR(
          Observe(episode, parts, *proto.mutable_observation()));
      HONE_RETURN_IF_ERROR(room.Take(proto.ByteSizeLong()));
      runtime_.metrics.environment_step_duration.Observe(
          absl::ToDoubleSeconds(SystemClock().Monotonic() - start));
    }
    environment->episode = std::move(episode);
    environment->last_request_id = asked.request_id();
    environment->before_last_request.reset();
    if (!asked.request_id().empty()) environment->before_last_request = before;
    return absl::OkStatus();
  }

  absl::Status TakeBatch(const grpc::CallbackServerContext& context,
                         const v1::StepBatchRequest& asked,
                         v1::StepBatchResponse& taken) {
    if (asked.requests_size() > kMaxBatchSteps) {
      return InvalidField(
          "requests",
          absl::StrCat(asked.requests_size(), " of them, expected at most ",
                       kMaxBatchSteps));
    }
    absl::flat_hash_set<absl::string_view> names;
    for (const v1::StepRequest& request : asked.requests()) {
      if (!names.insert(request.name()).second) {
        return InvalidField("requests",
                            absl::StrCat("\"", request.name(),
                                         "\" comes twice, expected each "
                                         "environment once"));
      }
      taken.add_results();
    }
    ResponseRoom room;
    std::atomic<int> next = 0;
    pool_.ParallelFor(asked.requests_size(), 1, [&](int64_t, int64_t) {
      // Steps differ too much for equal pieces.
      for (int i; (i = next.fetch_add(1)) < asked.requests_size();) {
        auto& result = *taken.mutable_results(i);
        const absl::Status status = TakeSteps(context, asked.requests(i), room,
                                              *result.mutable_response());
        if (!status.ok()) *result.mutable_error() = ToRpcStatus(status);
      }
    });
    return absl::OkStatus();
  }

  Runtime& runtime_;
  // Takes the steps of batches.
  ThreadPool pool_{std::max(1u, std::thread::hardware_concurrency())};
  const MethodMetrics get_spaces_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/GetSpaces");
  const MethodMetrics open_environment_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/OpenEnvironment");
  const MethodMetrics step_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/Step");
  const MethodMetrics step_batch_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/StepBatch");
  const MethodMetrics fork_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/Fork");
  const MethodMetrics close_ =
      runtime_.metrics.Method("hone.v1.EnvironmentService/Close");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeEnvironmentService(Runtime& runtime) {
  return std::make_unique<EnvironmentService>(runtime);
}

}  // namespace hone::daemon
