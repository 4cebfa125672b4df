#include "daemon/services/convert.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include <google/protobuf/timestamp.pb.h>

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "graphs/bundled_clusters.h"
#include "graphs/mcm/bundled_packages.h"
#include "proto/duration.h"
#include "tuning/registry.h"
#include "tuning/stored_error.h"
#include "tuning/task.h"
#include "work/messages.h"

namespace hone::daemon {
namespace {

void ToProto(absl::Time time, google::protobuf::Timestamp& proto) {
  const int64_t seconds = absl::ToUnixSeconds(time);
  proto.set_seconds(seconds);
  proto.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
}

v1::Tuning::State StateToProto(storage::TuningState state) {
  switch (state) {
    case storage::TuningState::kPending:
      return v1::Tuning::PENDING;
    case storage::TuningState::kRunning:
      return v1::Tuning::RUNNING;
    case storage::TuningState::kSucceeded:
      return v1::Tuning::SUCCEEDED;
    case storage::TuningState::kFailed:
      return v1::Tuning::FAILED;
    case storage::TuningState::kCancelled:
      return v1::Tuning::CANCELLED;
  }
  return v1::Tuning::STATE_UNSPECIFIED;
}

// Errors: InvalidArgument for a value that is none of the enum's.
absl::StatusOr<hlo::Numerics> FromProto(v1::Numerics numerics,
                                        absl::string_view owner) {
  switch (numerics) {
    case v1::NUMERICS_UNSPECIFIED:
    case v1::NUMERICS_REASSOCIATE:
      return hlo::Numerics::kReassociate;
    case v1::NUMERICS_EXACT:
      return hlo::Numerics::kExact;
    case v1::NUMERICS_FAST:
      return hlo::Numerics::kFast;
    default:
      return InvalidField(absl::StrCat("options.", owner, ".numerics"),
                          absl::StrCat(static_cast<int>(numerics),
                                       ", expected a value of Numerics"));
  }
}

absl::StatusOr<std::string> FromProto(
    v1::PlacementOptions::Objective objective) {
  switch (objective) {
    case v1::PlacementOptions::OBJECTIVE_UNSPECIFIED:
      return "";
    case v1::PlacementOptions::MAX_LOAD:
      return std::string(tuning::kMaxLoad);
    case v1::PlacementOptions::STEP_TIME:
      return std::string(tuning::kStepTime);
    default:
      return InvalidField(
          "options.placement.objective",
          absl::StrCat("unknown objective ", static_cast<int>(objective),
                       ", expected MAX_LOAD or STEP_TIME"));
  }
}

// Reads the cluster of a field of the options, if there is one.
absl::Status ReadCluster(absl::string_view field, const std::string& text,
                         std::optional<graphs::Cluster>& cluster) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<graphs::Cluster> found = graphs::FindCluster(text);
  if (!found.ok()) return InvalidField(field, found.status().message());
  cluster = *std::move(found);
  return absl::OkStatus();
}

// Reads the TPU of a field of the options, if there is one.
absl::Status ReadTpu(absl::string_view field, const std::string& text,
                     std::optional<backends::Tpu>& tpu) {
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<backends::Tpu> found = backends::FindTpu(text);
  if (!found.ok()) return InvalidField(field, found.status().message());
  tpu = *found;
  return absl::OkStatus();
}

absl::Status ReadPartition(const v1::PartitionOptions& proto,
                           tuning::TaskOptions& options) {
  if (!proto.package().empty()) {
    absl::StatusOr<graphs::Package> found =
        graphs::FindPackage(proto.package());
    if (!found.ok()) {
      return InvalidField("options.partition.package",
                          found.status().message());
    }
    options.package = *found;
  }
  switch (proto.objective()) {
    case v1::PartitionOptions::OBJECTIVE_UNSPECIFIED:
      return absl::OkStatus();
    case v1::PartitionOptions::MAX_LOAD:
      options.objective = std::string(tuning::kMaxLoad);
      return absl::OkStatus();
    case v1::PartitionOptions::INTERVAL:
      options.objective = std::string(tuning::kInterval);
      return absl::OkStatus();
    default:
      return InvalidField("options.partition.objective",
                          absl::StrCat("unknown objective ",
                                       static_cast<int>(proto.objective()),
                                       ", expected MAX_LOAD or INTERVAL"));
  }
}

absl::StatusOr<graphs::Contiguity> FromProto(
    v1::PlacementOptions::Contiguity contiguity) {
  switch (contiguity) {
    case v1::PlacementOptions::CONTIGUITY_UNSPECIFIED:
    case v1::PlacementOptions::PIPELINE:
      return graphs::Contiguity::kPipeline;
    case v1::PlacementOptions::CONVEX:
      return graphs::Contiguity::kConvex;
    case v1::PlacementOptions::NONE:
      return graphs::Contiguity::kNone;
    default:
      return InvalidField("options.placement.contiguity",
                          absl::StrCat(static_cast<int>(contiguity),
                                       ", expected a value of Contiguity"));
  }
}

absl::StatusOr<std::string> FromProto(v1::PassOrderOptions::Score score) {
  switch (score) {
    case v1::PassOrderOptions::SCORE_UNSPECIFIED:
    case v1::PassOrderOptions::OPS:
      return "ops";
    case v1::PassOrderOptions::XLA:
      return "xla";
    default:
      return InvalidField(
          "options.pass_order.score",
          absl::StrCat(static_cast<int>(score), ", expected a value of Score"));
  }
}

}  // namespace

void ToProto(const storage::Record& record, v1::Record& proto) {
  work::ToProto(record.key, *proto.mutable_key());
  proto.set_module_name(record.module_name);
  proto.set_unit(record.unit);
  proto.set_default_cost(record.default_cost);
  proto.set_best_cost(record.best_cost);
  proto.set_decision(record.decision);
  proto.set_tuned_module_digest(record.tuned_module_digest);
  proto.set_optimizer(record.optimizer);
  proto.set_seed(record.seed);
  proto.set_trials(record.trials);
  *proto.mutable_duration() = ToProtoDuration(absl::Seconds(record.seconds));
  work::ToProto(record.verification, *proto.mutable_verification());
  proto.set_tuning(TuningName(record.tuning_id));
  proto.set_producer(record.producer);
  ToProto(record.created, *proto.mutable_create_time());
  proto.set_name(RecordName(record.key.Digest()));
}

void ToProto(const storage::Tuning& tuning, v1::Tuning& proto) {
  proto.set_name(TuningName(tuning.id));
  work::ToProto(tuning.key, *proto.mutable_key());
  proto.set_module_name(tuning.module_name);
  proto.set_module_digest(tuning.module_digest);
  proto.set_optimizer(tuning.optimizer);
  proto.set_seed(tuning.seed);
  proto.mutable_budget()->set_trials(tuning.budget.trials);
  if (tuning.budget.time != absl::InfiniteDuration()) {
    *proto.mutable_budget()->mutable_time() =
        ToProtoDuration(tuning.budget.time);
  }
  proto.set_state(StateToProto(tuning.state));
  if (tuning.state == storage::TuningState::kFailed) {
    *proto.mutable_error() = ToRpcStatus(
        WithReason(tuning::ParseStoredError(tuning.error), "TUNING_FAILED",
                   {{"tuning", TuningName(tuning.id)}}));
  }
  proto.set_trials(tuning.trials);
  if (tuning.default_cost) proto.set_default_cost(*tuning.default_cost);
  if (tuning.best_cost) proto.set_best_cost(*tuning.best_cost);
  ToProto(tuning.created, *proto.mutable_create_time());
  ToProto(tuning.updated, *proto.mutable_update_time());
}

void ToProto(const TuningUpdate& update, v1::TuningProgress& proto) {
  const tuning::Progress& progress = update.progress;
  if (!update.waiting_for.empty()) {
    proto.set_phase(v1::TuningProgress::WAITING);
    proto.set_waiting_for(update.waiting_for);
  } else if (update.tuning.state == storage::TuningState::kPending) {
    proto.set_phase(v1::TuningProgress::QUEUED);
  } else {
    switch (progress.phase) {
      case tuning::Progress::Phase::kSearching:
        proto.set_phase(v1::TuningProgress::SEARCHING);
        break;
      case tuning::Progress::Phase::kVerifying:
        proto.set_phase(v1::TuningProgress::VERIFYING);
        break;
      case tuning::Progress::Phase::kDone:
        proto.set_phase(v1::TuningProgress::DONE);
        break;
    }
  }
  proto.set_trials(progress.trials);
  proto.set_budget_trials(progress.budget_trials);
  if (progress.default_cost) proto.set_default_cost(*progress.default_cost);
  if (progress.best_cost) proto.set_best_cost(*progress.best_cost);
  proto.set_unit(progress.unit);
  *proto.mutable_elapsed() = ToProtoDuration(absl::Seconds(progress.seconds));
}

storage::TuningState FromProto(v1::Tuning::State state) {
  switch (state) {
    case v1::Tuning::RUNNING:
      return storage::TuningState::kRunning;
    case v1::Tuning::SUCCEEDED:
      return storage::TuningState::kSucceeded;
    case v1::Tuning::FAILED:
      return storage::TuningState::kFailed;
    case v1::Tuning::CANCELLED:
      return storage::TuningState::kCancelled;
    default:
      return storage::TuningState::kPending;
  }
}

absl::StatusOr<tuning::TaskOptions> FromProto(const v1::TaskOptions& proto,
                                              absl::string_view task) {
  tuning::TaskOptions options;
  absl::string_view owner;
  v1::Numerics numerics = v1::NUMERICS_UNSPECIFIED;
  switch (proto.options_case()) {
    case v1::TaskOptions::kPassOrder: {
      owner = "pass_order";
      numerics = proto.pass_order().numerics();
      HONE_ASSIGN_OR_RETURN(options.score,
                            FromProto(proto.pass_order().score()));
      break;
    }
    case v1::TaskOptions::kKernel:
      owner = "kernel";
      numerics = proto.kernel().numerics();
      if (proto.kernel().threads() != 0) {
        options.threads = proto.kernel().threads();
      }
      break;
    case v1::TaskOptions::kModule:
      owner = "module";
      numerics = proto.module().numerics();
      if (proto.module().threads() != 0) {
        options.threads = proto.module().threads();
      }
      break;
    case v1::TaskOptions::kPlacement: {
      owner = "placement";
      HONE_ASSIGN_OR_RETURN(options.contiguity,
                            FromProto(proto.placement().contiguity()));
      HONE_ASSIGN_OR_RETURN(options.objective,
                            FromProto(proto.placement().objective()));
      HONE_RETURN_IF_ERROR(ReadCluster("options.placement.cluster",
                                       proto.placement().cluster(),
                                       options.cluster));
      break;
    }
    case v1::TaskOptions::kSchedule:
      owner = "schedule";
      HONE_RETURN_IF_ERROR(ReadCluster("options.schedule.cluster",
                                       proto.schedule().cluster(),
                                       options.cluster));
      break;
    case v1::TaskOptions::kFusion:
      owner = "fusion";
      HONE_RETURN_IF_ERROR(ReadCluster(
          "options.fusion.cluster", proto.fusion().cluster(), options.cluster));
      HONE_RETURN_IF_ERROR(
          ReadTpu("options.fusion.tpu", proto.fusion().tpu(), options.tpu));
      break;
    case v1::TaskOptions::kJoint:
      owner = "joint";
      HONE_RETURN_IF_ERROR(ReadCluster(
          "options.joint.cluster", proto.joint().cluster(), options.cluster));
      break;
    case v1::TaskOptions::kPartition:
      owner = "partition";
      HONE_RETURN_IF_ERROR(ReadPartition(proto.partition(), options));
      break;
    case v1::TaskOptions::kTile:
      owner = "tile";
      HONE_RETURN_IF_ERROR(
          ReadTpu("options.tile.tpu", proto.tile().tpu(), options.tpu));
      break;
    case v1::TaskOptions::OPTIONS_NOT_SET:
      return options;
  }
  if (owner != task) {
    return InvalidField(
        "options",
        absl::StrCat("those of task \"", owner, "\", but the task is \"", task,
                     "\", expected its own or none"));
  }
  HONE_ASSIGN_OR_RETURN(options.numerics, FromProto(numerics, owner));
  return options;
}

absl::StatusOr<tuning::TuningSpec> FromProto(const v1::TuningSpec& proto,
                                             const Config& config) {
  tuning::TuningSpec spec;
  if (!proto.task().empty()) spec.task = proto.task();
  spec.target = proto.target();
  spec.optimizer =
      proto.optimizer().empty() ? config.default_optimizer : proto.optimizer();
  HONE_ASSIGN_OR_RETURN(spec.options, FromProto(proto.options(), spec.task));
  spec.optimizer = tuning::OptimizerOf(spec);
  if (proto.budget().trials() < 0) {
    return InvalidField(
        "spec.budget.trials",
        absl::StrCat(proto.budget().trials(), ", expected 0 or more"));
  }
  spec.budget.trials = proto.budget().trials();
  if (spec.budget.trials > config.max_budget_trials) {
    return WithLimit(
        InvalidField("spec.budget.trials",
                     absl::StrCat(spec.budget.trials, ", expected at most ",
                                  config.max_budget_trials)),
        "max_budget_trials");
  }
  if (spec.budget.trials == 0) {
    const auto task = tuning::FindTask(spec.task);
    const int64_t own = task.ok() ? (*task)->TrialsFor(spec.options) : 0;
    spec.budget.trials = std::min(own > 0 ? own : config.default_trials,
                                  config.max_budget_trials);
  }
  spec.budget.time = config.max_budget;
  if (proto.budget().has_time()) {
    spec.budget.time = FromProtoDuration(proto.budget().time());
    if (spec.budget.time <= absl::ZeroDuration()) {
      return InvalidField("spec.budget.time",
                          absl::StrCat(absl::FormatDuration(spec.budget.time),
                                       ", expected more than 0"));
    }
    if (spec.budget.time > config.max_budget) {
      return WithLimit(
          InvalidField("spec.budget.time",
                       absl::StrCat(absl::FormatDuration(spec.budget.time),
                                    ", expected at most ",
                                    absl::FormatDuration(config.max_budget))),
          "max_budget");
    }
  }
  spec.seed = proto.seed();
  return spec;
}

}  // namespace hone::daemon
