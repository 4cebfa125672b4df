#include "bench/kernel_suite.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "hlo/read_module.h"
#include "storage/memory_store.h"
#include "tuning/tuner.h"

namespace hone::bench {
namespace {

tuning::TunerContext ContextOf(storage::Store& store,
                               backends::KernelMeasurer& measurer) {
  return {.store = &store, .clock = &SystemClock(), .kernels = &measurer};
}

tuning::TuningSpec SpecOf(const KernelSearch& search) {
  tuning::TuningSpec spec;
  spec.task = "kernel";
  spec.optimizer = search.optimizer;
  spec.options.threads = search.threads;
  spec.budget.trials = search.trials;
  spec.seed = search.seed;
  return spec;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> KernelNames(const std::string& suite,
                                                     const std::string& only) {
  HONE_ASSIGN_OR_RETURN(const std::regex pattern, ParseOnly(only));
  const std::string path = suite + "/suite.json";
  HONE_ASSIGN_OR_RETURN(const auto json,
                        ReadJsonFile(path, "a suite of kernels (--suite DIR)"));
  if (!json.is_object() || !json.contains("kernels")) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected an object with 'kernels'"));
  }
  std::vector<std::string> names;
  for (const auto& kernel : json["kernels"]) {
    if (!kernel.is_object() || !kernel.contains("name") ||
        !kernel["name"].is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": entry ", kernel.dump(), " lacks a name"));
    }
    const auto name = kernel["name"].get<std::string>();
    if (std::regex_search(name, pattern)) names.push_back(name);
  }
  if (names.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no kernel of ", suite, " has a name like '", only, "'"));
  }
  return names;
}

absl::StatusOr<hlo::Module> ReadKernel(const std::string& suite,
                                       const std::string& name) {
  return hlo::ReadModuleFile(absl::StrCat(suite, "/", name, ".hlo"));
}

absl::StatusOr<storage::Record> TuneKernel(const hlo::Module& module,
                                           const KernelSearch& search,
                                           backends::KernelMeasurer& measurer) {
  storage::MemoryStore store;
  const tuning::TunerContext context = ContextOf(store, measurer);
  HONE_ASSIGN_OR_RETURN(const storage::Tuning tuning,
                        tuning::CreateTuning(context, SpecOf(search), module));
  return tuning::RunTuning(context, tuning.id);
}

absl::StatusOr<std::vector<tuning::Found>> TuneKernelInStages(
    const hlo::Module& module, const KernelSearch& search,
    absl::Span<const int64_t> budgets, backends::KernelMeasurer& measurer) {
  storage::MemoryStore store;
  tuning::SearchJob job;
  HONE_ASSIGN_OR_RETURN(
      job.tuning,
      tuning::CreateTuning(ContextOf(store, measurer), SpecOf(search), module));
  HONE_ASSIGN_OR_RETURN(job.module, store.GetBlob(job.tuning.module_digest));
  std::vector<tuning::Found> stages;
  for (const int64_t budget : budgets) {
    job.tuning.budget.trials = budget;
    std::vector<space::Trial> trials;
    HONE_ASSIGN_OR_RETURN(
        tuning::Found found,
        tuning::LocalSearcher(SystemClock(), /*pool=*/nullptr, &measurer)
            .Search(job, {.on_trial = [&](const space::Trial& trial) {
                      trials.push_back(trial);
                      return absl::OkStatus();
                    }}));
    job.trials.insert(job.trials.end(), trials.begin(), trials.end());
    stages.push_back(std::move(found));
  }
  return stages;
}

}  // namespace hone::bench
