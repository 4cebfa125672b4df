#ifndef HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
#define HONE_DAEMON_SERVICES_TUNING_REQUEST_H_

#include <optional>

#include "absl/status/statusor.h"

#include "daemon/services/call.h"
#include "hone/v1/module.pb.h"
#include "hone/v1/tuning.pb.h"
#include "storage/record.h"
#include "tuning/tuner.h"

namespace hone::daemon {

// A request to tune a module: read and checked once, for all later steps.
class CheckedRequest {
 public:
  // Checks the specification, fills in its defaults and computes the key.
  // Parses the module only if its fingerprint is not known from an earlier
  // request. `devices` are those that the target may be. Errors: those of
  // ModuleLoader::Load, FromProto and tuning::ValidateSpec; Unavailable where
  // the target needs a device and there is none. `source` must outlive the
  // result.
  static absl::StatusOr<CheckedRequest> Read(Runtime& runtime,
                                             const v1::ModuleSource& source,
                                             const v1::TuningSpec& spec,
                                             backends::KernelMeasurer& devices);

  const tuning::TuningSpec& spec() const { return spec_; }
  const storage::CacheKey& key() const { return key_; }

  // Returns the module, which the first call parses if Read did not.
  // Errors: those of ModuleLoader::Load.
  absl::StatusOr<const hlo::Module*> Module();

  // Joins or starts the tuning, or returns the published record if `use_cache`.
  // Errors: those of TuningExecutor::Submit.
  absl::StatusOr<TuningExecutor::Submission> Submit(bool use_cache);

 private:
  CheckedRequest(Runtime& runtime, const v1::ModuleSource& source)
      : runtime_(&runtime), source_(&source) {}

  Runtime* runtime_;
  const v1::ModuleSource* source_;
  tuning::TuningSpec spec_;
  storage::CacheKey key_;
  std::optional<hlo::Module> module_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
