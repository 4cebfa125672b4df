#ifndef HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
#define HONE_DAEMON_SERVICES_TUNING_REQUEST_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "daemon/services/call.h"
#include "hone/v1/module.pb.h"
#include "hone/v1/tuning.pb.h"
#include "storage/record.h"
#include "tuning/tuner.h"

namespace hone::daemon {

// A request about a module, checked and with defaults filled in.
struct TuningRequest {
  tuning::TuneRequest request;
  storage::CacheKey key;
  // Absent while the fingerprint is known from before and nobody has asked.
  std::optional<hlo::Module> module;
};

// Errors: those of ModuleLoader::Load, FromProto and tuning::ValidateRequest.
absl::StatusOr<TuningRequest> ReadTuningRequest(Runtime& runtime,
                                                const v1::ModuleSource& source,
                                                const v1::TuningSpec& spec);

// Loads the module if it is not there yet. Errors: those of ModuleLoader::Load.
absl::Status LoadModule(Runtime& runtime, const v1::ModuleSource& source,
                        TuningRequest& request);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
