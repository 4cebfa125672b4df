#ifndef HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
#define HONE_DAEMON_SERVICES_TUNING_REQUEST_H_

#include <functional>
#include <string>

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
  // Has the module read only if its fingerprint is not known from an earlier
  // request. Where the target needs a device and there is none, the key is that
  // of a tuning that waits for one. Errors: those of ModuleLoader::Describe,
  // FromProto, tuning::ValidateSpec and Task::CheckSubject; ResourceExhausted
  // (MODULE_TOO_COSTLY). `source` must outlive the result.
  static absl::StatusOr<CheckedRequest> Read(
      Runtime& runtime, const v1::ModuleSource& source,
      const v1::TuningSpec& spec, const std::function<bool()>& stop = nullptr);

  const tuning::TuningSpec& spec() const { return spec_; }
  const storage::CacheKey& key() const { return key_; }
  const ModuleLoader::Description& module() const { return module_; }
  // OK, or what the tuning has to wait for: "no worker offers a device, …".
  const absl::Status& missing() const { return missing_; }

  // Joins or starts the tuning, of which `share` is a share then, or returns
  // the published record if `use_cache`. Errors: those of
  // TuningExecutor::Submit.
  absl::StatusOr<TuningExecutor::Submission> Submit(const Share& share,
                                                    bool use_cache);

 private:
  CheckedRequest(Runtime& runtime, const v1::ModuleSource& source)
      : runtime_(&runtime), source_(&source) {}

  Runtime* runtime_;
  const v1::ModuleSource* source_;
  tuning::TuningSpec spec_;
  storage::CacheKey key_;
  ModuleLoader::Description module_;
  absl::Status missing_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_TUNING_REQUEST_H_
