#include "daemon/services/tuning_request.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/services/convert.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

absl::Status CheckCost(const hlo::EvaluationCost& cost,
                       const LimitValues& limits) {
  if (cost.flops > static_cast<double>(limits.max_evaluation_flops)) {
    return AtLimit(
        "max_evaluation_flops",
        absl::StrCat("evaluating the module takes ", cost.flops,
                     " operations, most of them for ", cost.most_flops,
                     ", expected at most ", limits.max_evaluation_flops));
  }
  if (cost.bytes > static_cast<double>(limits.max_evaluation_bytes)) {
    return AtLimit(
        "max_evaluation_bytes",
        absl::StrCat("comparing the module with its tuned form takes ",
                     cost.bytes, " bytes, with ", cost.most_bytes,
                     " the largest instruction, expected at most ",
                     limits.max_evaluation_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckedRequest> CheckedRequest::Read(
    Runtime& runtime, const v1::ModuleSource& source,
    const v1::TuningSpec& spec, const std::function<bool()>& stop) {
  CheckedRequest result(runtime, source);
  HONE_ASSIGN_OR_RETURN(result.spec_, FromProto(spec, runtime.config));
  HONE_RETURN_IF_ERROR(InField("spec", tuning::ValidateSpec(result.spec_)));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                        tuning::FindTask(result.spec_.task));
  HONE_ASSIGN_OR_RETURN(
      result.module_,
      runtime.modules.Describe(source, task->graph_kind(result.spec_.options),
                               stop));
  HONE_RETURN_IF_ERROR(InField(
      "module", task->CheckSubject(result.module_.kind, result.module_.name,
                                   result.spec_.options)));
  if (task->evaluates()) {
    HONE_RETURN_IF_ERROR(CheckCost(result.module_.cost, runtime.config));
  }
  absl::StatusOr<storage::CacheKey> key = tuning::MakeCacheKey(
      result.module_.fingerprint, result.spec_, &runtime.present_devices);
  if (absl::IsUnavailable(key.status())) {
    result.missing_ = key.status();
    key = tuning::MakeWaitingKey(result.module_.fingerprint, result.spec_);
  }
  if (!key.ok()) return InField("spec", key.status());
  result.key_ = *std::move(key);
  return result;
}

absl::StatusOr<TuningExecutor::Submission> CheckedRequest::Submit(
    const Share& share, bool use_cache) {
  return runtime_->tunings.Submit(
      spec_, key_, share, use_cache,
      [this]() -> absl::StatusOr<tuning::StoredModule> {
        // The bytes as they came are what a restart reads.
        if (source_->has_content()) {
          HONE_RETURN_IF_ERROR(
              runtime_->store.PutBlob(source_->content()).status());
        }
        return tuning::StoredModule{module_.name, module_.digest};
      });
}

}  // namespace hone::daemon
