#include "daemon/services/operation.h"

#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"
#include "hone/v1/tuning_service.pb.h"

namespace hone::daemon {

google::longrunning::Operation OperationOf(const TuningUpdate& update,
                                           bool cached) {
  const storage::Tuning& tuning = update.tuning;
  google::longrunning::Operation operation;
  operation.set_name(OperationName(tuning.id));
  v1::TuneMetadata metadata;
  ToProto(tuning, *metadata.mutable_tuning());
  ToProto(update, *metadata.mutable_progress());
  operation.mutable_metadata()->PackFrom(metadata);
  operation.set_done(storage::IsTerminal(tuning.state));
  if (tuning.state == storage::TuningState::kSucceeded) {
    v1::TuneResponse response;
    response.set_cached(cached);
    if (update.record.has_value()) {
      ToProto(*update.record, *response.mutable_record());
    }
    operation.mutable_response()->PackFrom(response);
  } else if (tuning.state == storage::TuningState::kFailed) {
    *operation.mutable_error() = metadata.tuning().error();
  } else if (tuning.state == storage::TuningState::kCancelled) {
    *operation.mutable_error() =
        ToRpcStatus(absl::CancelledError("the tuning was cancelled"));
  }
  return operation;
}

}  // namespace hone::daemon
