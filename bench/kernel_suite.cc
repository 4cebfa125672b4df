#include "bench/kernel_suite.h"

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "hlo/read_module.h"
#include "storage/memory_store.h"
#include "tuning/tuner.h"

namespace hone::bench {

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
  const tuning::TunerContext context{
      .store = &store, .clock = &SystemClock(), .kernels = &measurer};
  tuning::TuningSpec spec;
  spec.task = "kernel";
  spec.optimizer = search.optimizer;
  spec.options.threads = search.threads;
  spec.budget.trials = search.trials;
  spec.seed = search.seed;
  HONE_ASSIGN_OR_RETURN(const storage::Tuning tuning,
                        tuning::CreateTuning(context, spec, module));
  return tuning::RunTuning(context, tuning.id);
}

}  // namespace hone::bench
