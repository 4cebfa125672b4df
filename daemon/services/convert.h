#ifndef HONE_DAEMON_SERVICES_CONVERT_H_
#define HONE_DAEMON_SERVICES_CONVERT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "daemon/config.h"
#include "daemon/tuning_executor.h"
#include "hone/v1/record.pb.h"
#include "hone/v1/tuning.pb.h"
#include "hone/v1/tuning_service.pb.h"
#include "storage/record.h"
#include "storage/store.h"
#include "tuning/tuner.h"

// Conversions between the API's messages and internal types.
namespace hone::daemon {

void ToProto(const storage::Record& record, v1::Record& proto);
void ToProto(const storage::Tuning& tuning, v1::Tuning& proto);
// Sets the phase QUEUED for tunings that wait.
void ToProto(const TuningUpdate& update, v1::TuningProgress& proto);

storage::TuningState FromProto(v1::Tuning::State state);
// Absent options take their defaults. Errors: InvalidArgument for an unknown
// score, numerics, contiguity or cluster, and for the options of another task
// than `task`.
absl::StatusOr<tuning::TaskOptions> FromProto(const v1::TaskOptions& proto,
                                              absl::string_view task);

// Returns the specification with its defaults filled in.
// Errors: InvalidArgument for a negative budget and bad options.
absl::StatusOr<tuning::TuningSpec> FromProto(const v1::TuningSpec& proto,
                                             const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_CONVERT_H_
