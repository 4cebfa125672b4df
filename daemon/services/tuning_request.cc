#include "daemon/services/tuning_request.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "daemon/services/convert.h"

namespace hone::daemon {

absl::StatusOr<CheckedRequest> CheckedRequest::Read(
    Runtime& runtime, const v1::ModuleSource& source,
    const v1::TuningSpec& spec, backends::KernelMeasurer& devices) {
  CheckedRequest result(runtime, source);
  HONE_ASSIGN_OR_RETURN(result.spec_, FromProto(spec, runtime.config));
  HONE_RETURN_IF_ERROR(tuning::ValidateSpec(result.spec_));
  std::optional<std::string> fingerprint =
      runtime.modules.RememberedFingerprint(source);
  if (!fingerprint.has_value()) {
    HONE_ASSIGN_OR_RETURN(ModuleLoader::Loaded loaded,
                          runtime.modules.Load(source));
    fingerprint = std::move(loaded.fingerprint);
    result.module_ = std::move(loaded.module);
  }
  HONE_ASSIGN_OR_RETURN(
      result.key_, tuning::MakeCacheKey(*fingerprint, result.spec_, &devices));
  return result;
}

absl::StatusOr<const hlo::Module*> CheckedRequest::Module() {
  if (!module_.has_value()) {
    HONE_ASSIGN_OR_RETURN(ModuleLoader::Loaded loaded,
                          runtime_->modules.Load(*source_));
    module_ = std::move(loaded.module);
  }
  return &*module_;
}

absl::StatusOr<TuningExecutor::Submission> CheckedRequest::Submit(
    bool use_cache) {
  return runtime_->tunings.Submit(
      spec_, key_, use_cache, [this]() -> absl::StatusOr<tuning::StoredModule> {
        HONE_ASSIGN_OR_RETURN(const hlo::Module* module, Module());
        // The bytes as they came are what a restart reads.
        std::string digest = source_->digest();
        if (source_->has_content()) {
          HONE_ASSIGN_OR_RETURN(digest,
                                runtime_->store.PutBlob(source_->content()));
        }
        return tuning::StoredModule{*module, std::move(digest)};
      });
}

}  // namespace hone::daemon
