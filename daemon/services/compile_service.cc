#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/services/convert.h"
#include "daemon/services/services.h"
#include "daemon/services/tuning_request.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

using storage::Record;
using v1::Decision;

// The share of the client's deadline that patience may use, so that the default
// still arrives in time.
constexpr double kPatienceShare = 0.9;

// One Compile call; lives until its response is written.
class Compilation {
 public:
  Compilation(Runtime& runtime, const grpc::CallbackServerContext& context,
              const v1::CompileRequest& request, v1::CompileResponse& response)
      : runtime_(runtime),
        context_(context),
        request_(request),
        response_(response) {}

  absl::StatusOr<std::optional<Wait>> Begin() {
    if (request_.format() != v1::MODULE_FORMAT_UNSPECIFIED &&
        request_.format() != v1::MODULE_FORMAT_TEXT &&
        request_.format() != v1::MODULE_FORMAT_PROTO) {
      return InvalidField("format", "unknown, expected TEXT or PROTO");
    }
    // The compiler does not wait for a device.
    absl::StatusOr<CheckedRequest> checked = CheckedRequest::Read(
        runtime_, request_.module(), request_.spec(), runtime_.present_devices);
    if (absl::IsUnavailable(checked.status())) {
      HONE_RETURN_IF_ERROR(RespondUnchanged(checked.status()));
      return std::nullopt;
    }
    HONE_RETURN_IF_ERROR(checked.status());
    checked_.emplace(*std::move(checked));
    absl::StatusOr<TuningExecutor::Submission> submission =
        checked_->Submit(/*use_cache=*/true);
    if (submission.ok() && submission->cached.has_value()) {
      if (Respond(Decision::CACHE, *submission->cached).ok()) {
        runtime_.metrics.CacheRequests("hit").Increment();
        return std::nullopt;
      }
      // The module of the record cannot be read, so it is tuned again.
      submission = checked_->Submit(/*use_cache=*/false);
    }
    runtime_.metrics.CacheRequests("miss").Increment();
    if (submission.ok()) {
      tuning_id_ = submission->tuning.id;
      if (const absl::Duration patience = Patience();
          patience > absl::ZeroDuration()) {
        return WaitForTuning(runtime_.tunings, tuning_id_, patience);
      }
    } else if (!absl::IsResourceExhausted(submission.status()) &&
               !absl::IsUnavailable(submission.status())) {
      return submission.status();
    } else {
      // The compiler does not depend on a tuning.
      spdlog::warn("no tuning started: {}",
                   std::string(submission.status().message()));
    }
    HONE_RETURN_IF_ERROR(RespondByDefault());
    return std::nullopt;
  }

  absl::Status AfterWait() {
    HONE_ASSIGN_OR_RETURN(const TuningUpdate update,
                          runtime_.tunings.Get(tuning_id_));
    if (update.record.has_value()) {
      return Respond(Decision::TUNED, *update.record);
    }
    return RespondByDefault();
  }

 private:
  absl::Duration Patience() const {
    const absl::Duration patience =
        absl::Seconds(request_.patience().seconds()) +
        absl::Nanoseconds(request_.patience().nanos());
    return std::min(patience, kPatienceShare * RemainingTime(context_));
  }

  absl::Status Respond(Decision::Source source, const Record& record) {
    if (request_.format() == v1::MODULE_FORMAT_PROTO) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            tuning::ReadTunedModule(runtime_.store, record));
      HONE_ASSIGN_OR_RETURN(*response_.mutable_module(),
                            hlo::SerializeHloProto(module));
    } else {
      HONE_ASSIGN_OR_RETURN(*response_.mutable_module(),
                            runtime_.store.GetBlob(record.tuned_module_digest));
    }
    Decision& decision = *response_.add_decisions();
    decision.set_task(record.key.task);
    decision.set_source(source);
    decision.set_decision(record.decision);
    decision.set_unit(record.unit);
    decision.set_default_cost(record.default_cost);
    decision.set_cost(record.best_cost);
    decision.set_tuning(TuningName(record.tuning_id));
    ToProto(record, *decision.mutable_record());
    return absl::OkStatus();
  }

  absl::Status SetModule(const hlo::Module& module) {
    if (request_.format() == v1::MODULE_FORMAT_PROTO) {
      HONE_ASSIGN_OR_RETURN(*response_.mutable_module(),
                            hlo::SerializeHloProto(module));
    } else {
      response_.set_module(hlo::PrintModule(module));
    }
    return absl::OkStatus();
  }

  // Where something is missing even for the default.
  absl::Status RespondUnchanged(const absl::Status& missing) {
    HONE_ASSIGN_OR_RETURN(const ModuleLoader::Loaded loaded,
                          runtime_.modules.Load(request_.module()));
    HONE_RETURN_IF_ERROR(SetModule(loaded.module));
    Decision& decision = *response_.add_decisions();
    decision.set_task(request_.spec().task());
    decision.set_source(Decision::DEFAULT);
    decision.set_missing(std::string(missing.message()));
    if (!tuning_id_.empty()) decision.set_tuning(TuningName(tuning_id_));
    return absl::OkStatus();
  }

  absl::Status RespondByDefault() {
    HONE_ASSIGN_OR_RETURN(const hlo::Module* module, checked_->Module());
    const tuning::TuningSpec& spec = checked_->spec();
    HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                          tuning::FindTask(spec.task));
    absl::StatusOr<std::unique_ptr<space::Problem>> made =
        task->MakeProblem(*module, spec.options,
                          {.target = checked_->key().target,
                           .kernels = &runtime_.present_devices,
                           .stop = nullptr});
    if (absl::IsUnavailable(made.status())) {
      return RespondUnchanged(made.status());
    }
    HONE_ASSIGN_OR_RETURN(const auto problem, std::move(made));
    const space::Candidate candidate = problem->DefaultCandidate();
    HONE_ASSIGN_OR_RETURN(const tuning::AppliedDecision applied,
                          task->Apply(*module, *problem, candidate));
    HONE_RETURN_IF_ERROR(SetModule(applied.module));
    Decision& decision = *response_.add_decisions();
    // Measuring on a device would take longer than a compiler waits.
    if (!problem->is_noisy()) {
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem->Measure(candidate));
      decision.set_default_cost(measurement.cost);
      decision.set_cost(measurement.cost);
    }
    decision.set_task(spec.task);
    decision.set_source(Decision::DEFAULT);
    decision.set_decision(applied.decision);
    decision.set_unit(std::string(problem->unit()));
    if (!tuning_id_.empty()) decision.set_tuning(TuningName(tuning_id_));
    return absl::OkStatus();
  }

  Runtime& runtime_;
  const grpc::CallbackServerContext& context_;
  const v1::CompileRequest& request_;
  v1::CompileResponse& response_;
  std::optional<CheckedRequest> checked_;
  std::string tuning_id_;
};

class CompileService final : public v1::CompileService::CallbackService {
 public:
  explicit CompileService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Compile(grpc::CallbackServerContext* context,
                                    const v1::CompileRequest* request,
                                    v1::CompileResponse* response) override {
    auto compilation =
        std::make_shared<Compilation>(runtime_, *context, *request, *response);
    auto* call =
        new UnaryCall(runtime_, compile_, *context, *request, *response);
    call->Start([compilation] { return compilation->Begin(); },
                [compilation] { return compilation->AfterWait(); });
    return call;
  }

 private:
  Runtime& runtime_;
  const MethodMetrics compile_ =
      runtime_.metrics.Method("hone.v1.CompileService/Compile");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeCompileService(Runtime& runtime) {
  return std::make_unique<CompileService>(runtime);
}

}  // namespace hone::daemon
