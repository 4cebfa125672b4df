#include "daemon/services/tuning_request.h"

#include <utility>

#include "base/status_macros.h"
#include "daemon/services/convert.h"

namespace hone::daemon {

absl::StatusOr<CheckedRequest> CheckedRequest::Read(
    Runtime& runtime, const v1::ModuleSource& source,
    const v1::TuningSpec& spec, const std::function<bool()>& stop) {
  CheckedRequest result(runtime, source);
  HONE_ASSIGN_OR_RETURN(result.spec_, FromProto(spec, runtime.config));
  HONE_RETURN_IF_ERROR(tuning::ValidateSpec(result.spec_));
  HONE_ASSIGN_OR_RETURN(result.module_, runtime.modules.Describe(source, stop));
  absl::StatusOr<storage::CacheKey> key = tuning::MakeCacheKey(
      result.module_.fingerprint, result.spec_, &runtime.present_devices);
  if (absl::IsUnavailable(key.status())) {
    result.missing_ = key.status();
    key = tuning::MakeWaitingKey(result.module_.fingerprint, result.spec_);
  }
  HONE_ASSIGN_OR_RETURN(result.key_, std::move(key));
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
