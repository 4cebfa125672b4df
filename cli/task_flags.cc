#include "cli/task_flags.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "cli/command.h"
#include "cli/read_hardware.h"

#include "base/status_macros.h"
#include "graphs/contiguity.h"
#include "graphs/step/device_times.h"
#include "hlo/rewrite/numerics.h"
#include "tuning/subject.h"

namespace hone::cli {
namespace {

absl::StatusOr<hone::v1::Numerics> ToProto(hlo::Numerics numerics) {
  switch (numerics) {
    case hlo::Numerics::kExact:
      return hone::v1::NUMERICS_EXACT;
    case hlo::Numerics::kReassociate:
      return hone::v1::NUMERICS_REASSOCIATE;
    case hlo::Numerics::kFast:
      return hone::v1::NUMERICS_FAST;
  }
  return absl::InternalError("numerics without a value in the API");
}

absl::StatusOr<hone::v1::PlacementOptions::Contiguity> ToProto(
    graphs::Contiguity contiguity) {
  switch (contiguity) {
    case graphs::Contiguity::kPipeline:
      return hone::v1::PlacementOptions::PIPELINE;
    case graphs::Contiguity::kConvex:
      return hone::v1::PlacementOptions::CONVEX;
    case graphs::Contiguity::kNone:
      return hone::v1::PlacementOptions::NONE;
  }
  return absl::InternalError("contiguity without a value in the API");
}

absl::StatusOr<hone::v1::PlacementOptions::Objective> ObjectiveToProto(
    absl::string_view objective) {
  if (objective.empty()) {
    return hone::v1::PlacementOptions::OBJECTIVE_UNSPECIFIED;
  }
  if (objective == tuning::kMaxLoad)
    return hone::v1::PlacementOptions::MAX_LOAD;
  if (objective == tuning::kStepTime) {
    return hone::v1::PlacementOptions::STEP_TIME;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown objective '", objective,
      "', expected one of: ", tuning::kMaxLoad, ", ", tuning::kStepTime));
}

absl::StatusOr<hone::v1::PartitionOptions::Objective> PartitionObjectiveToProto(
    absl::string_view objective) {
  if (objective.empty()) {
    return hone::v1::PartitionOptions::OBJECTIVE_UNSPECIFIED;
  }
  if (objective == tuning::kMaxLoad)
    return hone::v1::PartitionOptions::MAX_LOAD;
  if (objective == tuning::kInterval) {
    return hone::v1::PartitionOptions::INTERVAL;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "objective '", objective, "' of task 'partition', expected one of: ",
      tuning::kMaxLoad, ", ", tuning::kInterval));
}

// These always minimize the step time.
bool IsStepTask(absl::string_view task) {
  return task == "schedule" || task == "fusion" || task == "joint";
}

}  // namespace

void AddTaskFlags(CLI::App& command, TaskFlags& flags) {
  command
      .add_option("--score", flags.score,
                  "What pass_order minimizes: ops, or xla: modelled time")
      ->capture_default_str();
  AddNumericsOption(command, flags.numerics);
  command
      .add_option("--threads", flags.threads,
                  "Threads of a kernel's parallel loops, and of native code")
      ->transform(WholeNumber(1, kMaxThreads))
      ->capture_default_str();
  command
      .add_option("--contiguity", flags.contiguity,
                  "What the nodes of a device must be in a placement: "
                  "pipeline (a stage), convex (no path leaves and comes back) "
                  "or none")
      ->capture_default_str();
  command.add_option("--objective", flags.objective,
                     "What a placement minimizes: max-load, or step-time, "
                     "which --target cluster:NAME|FILE stands for; a "
                     "partition: max-load, or interval, the time between "
                     "samples in simulation");
  AddClusterOption(command, flags.cluster);
  AddPackageOption(command, flags.package);
  AddTpuOption(command, flags.tpu);
}

absl::Status TakeHardware(std::string& target, TaskFlags& flags) {
  struct Kind {
    const char* name;  // of the target
    const char* what;  // the option, too
    std::string& flag;
  };
  for (const auto& [name, what, flag] :
       {Kind{"cluster", "cluster", flags.cluster},
        Kind{"mcm", "package", flags.package}, Kind{"tpu", "tpu", flags.tpu}}) {
    absl::string_view hardware = target;
    if (!absl::ConsumePrefix(&hardware, absl::StrCat(name, ":"))) continue;
    if (!flag.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--target ", target,
                                                     " and --", what, " ", flag,
                                                     ", expected one of them"));
    }
    if (hardware.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--target ", name, ": has no ", what, ", expected ",
                       name, ":NAME|FILE"));
    }
    flag = std::string(hardware);
    target = name;
    if (target == "cluster" && flags.objective.empty()) {
      flags.objective = std::string(tuning::kStepTime);
    }
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

std::string TakeDefaultHardware(absl::Span<const std::string> tasks,
                                absl::string_view bytes, absl::string_view file,
                                TaskFlags& flags) {
  constexpr absl::string_view kCluster = "v100x4";
  constexpr absl::string_view kPackage = "hermosa36";
  constexpr absl::string_view kTpu = "v4";
  std::string note;
  if (flags.package.empty() && absl::c_linear_search(tasks, "partition")) {
    flags.package = std::string(kPackage);
    note = absl::StrCat("hone: no package given, partitioning over ", kPackage,
                        "; --target mcm:NAME|FILE names another one\n");
  }
  if (flags.tpu.empty() && absl::c_linear_search(tasks, "tile")) {
    flags.tpu = std::string(kTpu);
    absl::StrAppend(&note, "hone: no TPU given, choosing tiles for ", kTpu,
                    "; --target tpu:NAME|FILE names another one\n");
  }
  const bool lists_devices =
      (tuning::IsJson(bytes) || absl::EndsWith(file, ".json")) &&
      !tuning::HasOpcodes(bytes);
  const bool needs_one =
      absl::c_any_of(tasks, [&flags](const std::string& task) {
        // Fusion may be for a TPU.
        if (task == "fusion") return flags.tpu.empty();
        return task == "placement" || IsStepTask(task);
      });
  if (!flags.cluster.empty() || lists_devices || !needs_one) return note;
  flags.cluster = std::string(kCluster);
  if (flags.objective.empty()) flags.objective = std::string(tuning::kStepTime);
  return absl::StrCat(note, "hone: no cluster given, placing on ", kCluster,
                      "; --target cluster:NAME|FILE names another one\n");
}

absl::StatusOr<tuning::TaskOptions> ParseTaskFlags(const TaskFlags& flags) {
  tuning::TaskOptions options;
  options.score = flags.score;
  options.threads = flags.threads;
  HONE_ASSIGN_OR_RETURN(options.numerics, hlo::ParseNumerics(flags.numerics));
  HONE_ASSIGN_OR_RETURN(options.contiguity,
                        graphs::ParseContiguity(flags.contiguity));
  options.objective = flags.objective;
  HONE_ASSIGN_OR_RETURN(options.cluster, ReadCluster(flags.cluster));
  HONE_ASSIGN_OR_RETURN(options.package, ReadPackage(flags.package));
  HONE_ASSIGN_OR_RETURN(options.tpu, ReadTpu(flags.tpu));
  if (options.cluster.has_value() && flags.objective == tuning::kStepTime) {
    const absl::Status fits =
        graphs::DeviceTimes::Create(*options.cluster).status();
    if (!fits.ok()) {
      return absl::Status(fits.code(),
                          absl::StrCat(flags.cluster, ": ", fits.message()));
    }
  }
  return options;
}

absl::Status SetOptions(absl::string_view task, const TaskFlags& flags,
                        hone::v1::TaskOptions& options) {
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions parsed,
                        ParseTaskFlags(flags));
  if (IsStepTask(task)) {
    hone::v1::StepOptions& step = task == "schedule"
                                      ? *options.mutable_schedule()
                                  : task == "fusion" ? *options.mutable_fusion()
                                                     : *options.mutable_joint();
    if (parsed.cluster.has_value()) {
      step.set_cluster(graphs::PrintCluster(*parsed.cluster));
    }
    if (task == "fusion" && parsed.tpu.has_value()) {
      step.set_tpu(backends::PrintTpu(*parsed.tpu));
    }
    return absl::OkStatus();
  }
  if (task == "partition") {
    HONE_ASSIGN_OR_RETURN(const auto objective,
                          PartitionObjectiveToProto(flags.objective));
    options.mutable_partition()->set_objective(objective);
    if (parsed.package.has_value()) {
      options.mutable_partition()->set_package(
          graphs::PrintPackage(*parsed.package));
    }
    return absl::OkStatus();
  }
  if (task == "tile") {
    if (parsed.tpu.has_value()) {
      options.mutable_tile()->set_tpu(backends::PrintTpu(*parsed.tpu));
    }
    return absl::OkStatus();
  }
  if (task == "placement") {
    HONE_ASSIGN_OR_RETURN(const auto objective,
                          ObjectiveToProto(flags.objective));
    options.mutable_placement()->set_objective(objective);
    HONE_ASSIGN_OR_RETURN(const auto contiguity, ToProto(parsed.contiguity));
    options.mutable_placement()->set_contiguity(contiguity);
    if (parsed.cluster.has_value()) {
      options.mutable_placement()->set_cluster(
          graphs::PrintCluster(*parsed.cluster));
    }
    return absl::OkStatus();
  }
  HONE_ASSIGN_OR_RETURN(const hone::v1::Numerics numerics,
                        ToProto(parsed.numerics));
  if (task == "kernel" || task == "module") {
    hone::v1::KernelOptions& kernel = task == "kernel"
                                          ? *options.mutable_kernel()
                                          : *options.mutable_module();
    kernel.set_threads(flags.threads);
    kernel.set_numerics(numerics);
    return absl::OkStatus();
  }
  hone::v1::PassOrderOptions& pass_order = *options.mutable_pass_order();
  pass_order.set_numerics(numerics);
  if (flags.score == "ops") {
    pass_order.set_score(hone::v1::PassOrderOptions::OPS);
  } else if (flags.score == "xla") {
    pass_order.set_score(hone::v1::PassOrderOptions::XLA);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown score '", flags.score, "', expected one of: ops, xla"));
  }
  return absl::OkStatus();
}

}  // namespace hone::cli
