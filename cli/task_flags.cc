#include "cli/task_flags.h"

#include "absl/strings/str_cat.h"
#include "cli/command.h"
#include "cli/read_cluster.h"

#include "base/status_macros.h"
#include "graphs/contiguity.h"
#include "hlo/rewrite/numerics.h"

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
  AddClusterOption(command, flags.cluster);
}

absl::StatusOr<tuning::TaskOptions> ParseTaskFlags(const TaskFlags& flags) {
  tuning::TaskOptions options;
  options.score = flags.score;
  options.threads = flags.threads;
  HONE_ASSIGN_OR_RETURN(options.numerics, hlo::ParseNumerics(flags.numerics));
  HONE_ASSIGN_OR_RETURN(options.contiguity,
                        graphs::ParseContiguity(flags.contiguity));
  HONE_ASSIGN_OR_RETURN(options.cluster, ReadCluster(flags.cluster));
  return options;
}

absl::Status SetOptions(absl::string_view task, const TaskFlags& flags,
                        hone::v1::TaskOptions& options) {
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions parsed,
                        ParseTaskFlags(flags));
  if (task == "placement") {
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
  if (task == "kernel") {
    options.mutable_kernel()->set_threads(flags.threads);
    options.mutable_kernel()->set_numerics(numerics);
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
