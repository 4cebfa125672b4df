#include <iostream>
#include <string>

#include "nlohmann/json.hpp"

#include "costmodels/registry.h"
#include "costmodels/xla_cpu_features.h"
#include "costmodels/xla_cpu_kernels.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/pipeline.h"
#include "hlo/read_module.h"

// Prints, for every module named on standard input (one path a line), a line of
// JSON: `path`; `ops`, `analytical` (ns) and `features` (of the cost model
// xla-cpu) after the pipeline xla-cpu; `ops_as_is`, `analytical_as_is` and
// `features_as_is` without it; `kernels`, the groups of every computation of
// the module as it is: [computation, root, features]. The first line has the
// names of the features. For fit_xla_cpu_model.py.

namespace hone {
namespace {

nlohmann::json KernelsOf(const hlo::Module& module) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const hlo::Computation& computation : module.computations()) {
    for (const costmodels::XlaCpuKernel& kernel :
         costmodels::GroupXlaCpuKernels(module, computation)) {
      kernels.push_back({computation.name(), computation[kernel.root].name(),
                         costmodels::FeaturesOf(module, computation, kernel)});
    }
  }
  return kernels;
}

// Returns false if the module cannot be read.
bool Print(const std::string& path) {
  const absl::StatusOr<hlo::Module> module = hlo::ReadModuleFile(path);
  if (!module.ok()) {
    std::cerr << module.status() << "\n";
    return false;
  }
  hlo::Module lowered = *module;
  if (!hlo::RunPipeline(lowered, "xla-cpu").ok()) lowered = *module;
  const auto analytical = costmodels::CreateCostModel("analytical");
  nlohmann::json line;
  line["path"] = path;
  line["ops"] = hlo::CountOps(lowered);
  line["ops_as_is"] = hlo::CountOps(*module);
  line["analytical"] = (*analytical)->PredictModuleNs(lowered);
  line["analytical_as_is"] = (*analytical)->PredictModuleNs(*module);
  line["features"] = costmodels::FeaturesOf(lowered);
  line["features_as_is"] = costmodels::FeaturesOf(*module);
  line["kernels"] = KernelsOf(*module);
  std::cout << line.dump() << "\n";
  return true;
}

bool Main() {
  nlohmann::json names = nlohmann::json::array();
  for (absl::string_view name : costmodels::XlaCpuFeatureNames()) {
    names.push_back(std::string(name));
  }
  std::cout << names.dump() << "\n";
  bool ok = true;
  for (std::string path; std::getline(std::cin, path);) ok &= Print(path);
  return ok;
}

}  // namespace
}  // namespace hone

int main() { return hone::Main() ? 0 : 1; }
