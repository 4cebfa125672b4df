#include "daemon/services/tuning_request.h"

#include <utility>

#include "base/status_macros.h"
#include "daemon/services/convert.h"

namespace hone::daemon {

absl::StatusOr<TuningRequest> ReadTuningRequest(Runtime& runtime,
                                                const v1::ModuleSource& source,
                                                const v1::TuningSpec& spec) {
  TuningRequest result;
  HONE_ASSIGN_OR_RETURN(result.request, FromProto(spec, runtime.config));
  HONE_RETURN_IF_ERROR(tuning::ValidateRequest(result.request));
  std::optional<std::string> fingerprint =
      runtime.modules.RememberedFingerprint(source);
  if (!fingerprint.has_value()) {
    HONE_ASSIGN_OR_RETURN(ModuleLoader::Loaded loaded,
                          runtime.modules.Load(source));
    fingerprint = std::move(loaded.fingerprint);
    result.module = std::move(loaded.module);
  }
  HONE_ASSIGN_OR_RETURN(result.key,
                        tuning::MakeCacheKey(*fingerprint, result.request,
                                             runtime.tuner.kernels));
  return result;
}

absl::Status LoadModule(Runtime& runtime, const v1::ModuleSource& source,
                        TuningRequest& request) {
  if (request.module.has_value()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(ModuleLoader::Loaded loaded,
                        runtime.modules.Load(source));
  request.module = std::move(loaded.module);
  return absl::OkStatus();
}

}  // namespace hone::daemon
