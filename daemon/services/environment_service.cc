#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/names.h"
#include "daemon/request_ids.h"
#include "daemon/services/convert.h"
#include "daemon/services/services.h"
#include "hlo/ir/opcode.h"
#include "hlo/passes/registry.h"
#include "hone/v1/environment_service.grpc.pb.h"
#include "tuning/registry.h"
#include "tuning/task.h"
#include "tuning/tasks/module_observation.h"
#include "work/environments.h"
#include "work/messages.h"

namespace hone::daemon {
namespace {

// The task that environments are of.
constexpr absl::string_view kTask = "pass_order";

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

// Returns an error of taking steps as the API has it.
absl::Status StepError(const absl::Status& status, const std::string& name) {
  if (HasReason(status)) return status;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return InvalidField("actions", status.message());
    case absl::StatusCode::kFailedPrecondition:
      return WithReason(status, "EPISODE_ENDED", {{"name", name}});
    case absl::StatusCode::kResourceExhausted:
      return WithReason(status, "RESPONSE_TOO_LARGE");
    default:
      return status;
  }
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
          spaces.add_scores(v1::PassOrderOptions::OPS);
          spaces.add_scores(v1::PassOrderOptions::XLA);
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* OpenEnvironment(
      grpc::CallbackServerContext* context,
      const v1::OpenEnvironmentRequest* request,
      v1::OpenEnvironmentResponse* response) override {
    return Handle(runtime_, open_environment_, context, request, response,
                  [this, context](const v1::OpenEnvironmentRequest& asked,
                                  v1::OpenEnvironmentResponse& opened,
                                  const CancelledPredicate& cancelled) {
                    return ServeOnce(runtime_.request_ids,
                                     runtime_.authenticator.CallerOf(*context),
                                     asked, opened, cancelled, [&] {
                                       return Open(asked, opened, cancelled);
                                     });
                  });
  }

  grpc::ServerUnaryReactor* Step(grpc::CallbackServerContext* context,
                                 const v1::StepRequest* request,
                                 v1::StepResponse* response) override {
    return Handle(runtime_, step_, context, request, response,
                  [this](const v1::StepRequest& asked, v1::StepResponse& taken,
                         const CancelledPredicate& cancelled) -> absl::Status {
                    auto results = TakeSteps({&asked}, cancelled);
                    HONE_ASSIGN_OR_RETURN(taken, std::move(results[0]));
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* StepBatch(
      grpc::CallbackServerContext* context, const v1::StepBatchRequest* request,
      v1::StepBatchResponse* response) override {
    return Handle(
        runtime_, step_batch_, context, request, response,
        [this](const v1::StepBatchRequest& asked, v1::StepBatchResponse& taken,
               const CancelledPredicate& cancelled) {
          return TakeBatch(asked, taken, cancelled);
        });
  }

  grpc::ServerUnaryReactor* Fork(grpc::CallbackServerContext* context,
                                 const v1::ForkRequest* request,
                                 v1::ForkResponse* response) override {
    return Handle(
        runtime_, fork_, context, request, response,
        [this, context](const v1::ForkRequest& asked, v1::ForkResponse& forked,
                        const CancelledPredicate& cancelled) {
          return ServeOnce(runtime_.request_ids,
                           runtime_.authenticator.CallerOf(*context), asked,
                           forked, cancelled,
                           [&] { return ForkOne(asked, forked, cancelled); });
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
                    v1::OpenEnvironmentResponse& opened,
                    const CancelledPredicate& cancelled) {
    HONE_RETURN_IF_ERROR(CheckParent(asked.parent()));
    if (runtime_.tunings.draining()) {
      runtime_.metrics.RpcRejected("draining").Increment();
      return DrainingError();
    }
    HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                          FindEnvironmentTask(asked.task()));
    HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions options,
                          FromProto(asked.options(), task->name()));
    const absl::StatusOr<std::string> options_key = task->OptionsKey(options);
    if (!options_key.ok()) {
      return InvalidField("options", options_key.status().message());
    }
    if (asked.max_steps() < 0 || asked.max_steps() > work::kMaxEpisodeSteps) {
      return InvalidField("max_steps",
                          absl::StrCat(asked.max_steps(), ", expected 0 to ",
                                       work::kMaxEpisodeSteps));
    }
    // Refuses before the work of making a problem.
    HONE_RETURN_IF_ERROR(runtime_.environments.CheckRoom());
    const std::string digest = ModuleLoader::DigestOf(asked.module());
    HONE_RETURN_IF_ERROR(runtime_.quarantine.Check(digest));
    internal::EnvironmentCall::Open open;
    open.set_problem(
        absl::StrCat(digest, "/", task->name(), "/", *options_key));
    HONE_ASSIGN_OR_RETURN(*open.mutable_module(),
                          runtime_.modules.Bytes(asked.module()));
    open.set_file_name(std::string(ModuleLoader::FileNameOf(asked.module())));
    open.set_task(std::string(task->name()));
    open.set_task_options(*options_key);
    open.set_max_steps(asked.max_steps());
    *open.mutable_parts() = asked.parts();
    absl::StatusOr<internal::EnvironmentAnswer> answer =
        runtime_.environments.Open(std::move(open), cancelled);
    runtime_.quarantine.Count(digest, answer.status());
    if (absl::IsInvalidArgument(answer.status())) {
      return WithReason(answer.status(), "MALFORMED_MODULE");
    }
    HONE_RETURN_IF_ERROR(answer.status());
    opened.Swap(answer->mutable_opened());
    return absl::OkStatus();
  }

  absl::Status ForkOne(const v1::ForkRequest& asked, v1::ForkResponse& forked,
                       const CancelledPredicate& cancelled) {
    HONE_ASSIGN_OR_RETURN(const std::string id, EnvironmentId(asked.name()));
    HONE_ASSIGN_OR_RETURN(internal::EnvironmentAnswer answer,
                          runtime_.environments.Fork(id, cancelled));
    v1::OpenEnvironmentResponse& opened = *answer.mutable_opened();
    forked.mutable_environment()->Swap(opened.mutable_environment());
    forked.mutable_observation()->Swap(opened.mutable_observation());
    return absl::OkStatus();
  }

  // Takes the steps of each request, all of it or nothing.
  std::vector<absl::StatusOr<v1::StepResponse>> TakeSteps(
      const std::vector<const v1::StepRequest*>& asked,
      const CancelledPredicate& cancelled) {
    std::vector<absl::StatusOr<v1::StepResponse>> results(asked.size());
    std::vector<const v1::StepRequest*> taken;
    std::vector<size_t> indices;
    for (size_t i = 0; i < asked.size(); ++i) {
      if (asked[i]->actions().empty()) {
        results[i] = InvalidField("actions", "empty, expected at least one");
        continue;
      }
      if (absl::Status status = CheckRequestId(asked[i]->request_id());
          !status.ok()) {
        results[i] = std::move(status);
        continue;
      }
      taken.push_back(asked[i]);
      indices.push_back(i);
    }
    const absl::Duration start = SystemClock().Monotonic();
    auto answers = runtime_.environments.Step(taken, cancelled);
    int64_t steps = 0;
    for (size_t k = 0; k < indices.size(); ++k) {
      absl::StatusOr<v1::StepResponse>& result = results[indices[k]];
      result = std::move(answers[k]);
      if (!result.ok()) {
        result = StepError(result.status(), taken[k]->name());
        continue;
      }
      for (v1::StepResponse::Step& step : *result->mutable_steps()) {
        if (!step.has_error()) continue;
        *step.mutable_error() = ToRpcStatus(work::FromProto(step.error()));
      }
      steps += result->steps_size();
    }
    const double each =
        absl::ToDoubleSeconds(SystemClock().Monotonic() - start) /
        static_cast<double>(std::max<int64_t>(1, steps));
    for (int64_t i = 0; i < steps; ++i) {
      runtime_.metrics.environment_step_duration.Observe(each);
    }
    return results;
  }

  absl::Status TakeBatch(const v1::StepBatchRequest& asked,
                         v1::StepBatchResponse& taken,
                         const CancelledPredicate& cancelled) {
    if (asked.requests_size() > kMaxBatchSteps) {
      return WithLimit(
          InvalidField("requests", absl::StrCat(asked.requests_size(),
                                                " of them, expected at most ",
                                                kMaxBatchSteps)),
          "batch_steps");
    }
    absl::flat_hash_set<absl::string_view> names;
    std::vector<const v1::StepRequest*> requests;
    for (const v1::StepRequest& request : asked.requests()) {
      if (!names.insert(request.name()).second) {
        return InvalidField("requests",
                            absl::StrCat("\"", request.name(),
                                         "\" comes twice, expected each "
                                         "environment once"));
      }
      requests.push_back(&request);
    }
    for (absl::StatusOr<v1::StepResponse>& result :
         TakeSteps(requests, cancelled)) {
      auto& proto = *taken.add_results();
      if (result.ok()) {
        *proto.mutable_response() = *std::move(result);
      } else {
        *proto.mutable_error() = ToRpcStatus(result.status());
      }
    }
    return absl::OkStatus();
  }

  Runtime& runtime_;
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
