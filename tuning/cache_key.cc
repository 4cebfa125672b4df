#include "tuning/cache_key.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include "backends/mcm_sim/pipeline_simulator.h"
#include "base/status_macros.h"
#include "graphs/hlo_import.h"
#include "optimizers/optimizer_text.h"
#include "tuning/registry.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

// Stands for the line feeds of a cluster, a package or a TPU, so that a key is
// one line.
constexpr absl::string_view kLineEnd = "|";

std::string OneLine(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"\n", kLineEnd}});
}
std::string Lines(absl::string_view line) {
  return absl::StrReplaceAll(line, {{kLineEnd, "\n"}});
}

// Decisions of one version mean nothing for another.
absl::Status CheckVersion(absl::string_view key, absl::string_view what,
                          absl::string_view found, int expected) {
  if (found == absl::StrCat(expected)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("task options '", key, "' are of version ", found,
                   " of the ", what, ", expected ", expected));
}

}  // namespace

std::string ClusterKey(const graphs::Cluster& cluster) {
  return absl::StrCat("cluster=", OneLine(graphs::PrintCluster(cluster)),
                      ";hlo_import=", graphs::kHloImportVersion);
}

std::string PackageKey(const graphs::Package& package) {
  return absl::StrCat("package=", OneLine(graphs::PrintPackage(package)),
                      ";hlo_import=", graphs::kHloImportVersion,
                      ";pipeline=", backends::kPipelineVersion);
}

std::string TpuKey(const backends::Tpu& tpu) {
  return absl::StrCat("tpu=", OneLine(backends::PrintTpu(tpu)),
                      ";tpu_sim=", backends::kTpuSimVersion);
}

absl::StatusOr<TaskOptions> ParseOptionsKey(absl::string_view key) {
  TaskOptions options;
  for (absl::string_view item : absl::StrSplit(key, ';')) {
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    if (option.first == "score") {
      options.score = std::string(option.second);
    } else if (option.first == "passes") {
      options.passes = std::string(option.second);
    } else if (option.first == "numerics") {
      HONE_ASSIGN_OR_RETURN(options.numerics,
                            hlo::ParseNumerics(option.second));
    } else if (option.first == "contiguity") {
      HONE_ASSIGN_OR_RETURN(options.contiguity,
                            graphs::ParseContiguity(option.second));
    } else if (option.first == "objective") {
      options.objective = std::string(option.second);
    } else if (option.first == "cluster") {
      HONE_ASSIGN_OR_RETURN(
          options.cluster,
          graphs::ParseCluster(Lines(option.second), "<cluster>"));
    } else if (option.first == "package") {
      HONE_ASSIGN_OR_RETURN(
          options.package,
          graphs::ParsePackage(Lines(option.second), "<package>"));
    } else if (option.first == "tpu") {
      HONE_ASSIGN_OR_RETURN(options.tpu,
                            backends::ParseTpu(Lines(option.second), "<tpu>"));
    } else if (option.first == "tpu_sim") {
      HONE_RETURN_IF_ERROR(CheckVersion(key, "simulator of TPUs", option.second,
                                        backends::kTpuSimVersion));
    } else if (option.first == "hlo_import") {
      HONE_RETURN_IF_ERROR(CheckVersion(key, "import of modules", option.second,
                                        graphs::kHloImportVersion));
    } else if (option.first == "pipeline") {
      HONE_RETURN_IF_ERROR(CheckVersion(key, "simulator of packages",
                                        option.second,
                                        backends::kPipelineVersion));
    } else if (option.first != "threads" ||
               !absl::SimpleAtoi(option.second, &options.threads)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "task options '", key,
          "', expected 'score=...', 'passes=...', "
          "'numerics=...', 'threads=N', "
          "'objective=...', 'contiguity=...', 'cluster=...', "
          "'package=...', 'tpu=...', 'hlo_import=N', 'pipeline=N' or "
          "'tpu_sim=N'"));
    }
  }
  return options;
}

absl::StatusOr<storage::CacheKey> MakeWaitingKey(
    absl::string_view module_fingerprint, const TuningSpec& spec) {
  HONE_ASSIGN_OR_RETURN(const Task* task, FindTask(spec.task));
  storage::CacheKey key;
  HONE_ASSIGN_OR_RETURN(key.task_options, task->OptionsKey(spec.options));
  key.module_fingerprint = std::string(module_fingerprint);
  key.target = spec.target.empty() ? task->default_target() : spec.target;
  key.task = spec.task;
  key.space_version = task->space_version();
  return key;
}

absl::StatusOr<storage::CacheKey> MakeCacheKey(
    absl::string_view module_fingerprint, const TuningSpec& spec,
    backends::KernelMeasurer* kernels) {
  HONE_ASSIGN_OR_RETURN(storage::CacheKey key,
                        MakeWaitingKey(module_fingerprint, spec));
  HONE_ASSIGN_OR_RETURN(const Task* task, FindTask(spec.task));
  HONE_ASSIGN_OR_RETURN(key.target, task->ResolveTarget(spec.target, kernels));
  return key;
}

std::string OptimizerOf(const TuningSpec& spec) {
  if (!spec.optimizer.empty()) return spec.optimizer;
  const absl::StatusOr<const Task*> task = FindTask(spec.task);
  return task.ok() ? (*task)->OptimizerFor(spec.options) : "";
}

absl::Status ValidateSpec(const TuningSpec& spec) {
  HONE_ASSIGN_OR_RETURN(const Task* task, FindTask(spec.task));
  HONE_RETURN_IF_ERROR(task->OptionsKey(spec.options).status());
  HONE_ASSIGN_OR_RETURN(const optimizers::OptimizerChoice optimizer,
                        optimizers::ParseOptimizer(OptimizerOf(spec)));
  if ((optimizer.info->kinds & task->problem_kind()) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer '", OptimizerOf(spec),
                     "' does not support task '", spec.task, "'"));
  }
  if (spec.budget.trials < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "budget of ", spec.budget.trials, " trials, expected 1 or more"));
  }
  if (spec.budget.time <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("budget of ", absl::FormatDuration(spec.budget.time),
                     ", expected more than 0"));
  }
  return absl::OkStatus();
}

}  // namespace hone::tuning
