#ifndef HONE_BENCH_COST_MODEL_COST_DATA_SET_H_
#define HONE_BENCH_COST_MODEL_COST_DATA_SET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "learning/cost_training.h"

namespace hone::bench {

// Where the data of a cost model comes from; each data set has the options that
// concern it.
struct CostDataOptions {
  // File with a line for each kernel and its measurements.
  std::string data = {};
  // File that says which kernels are trained on, choose among weights, or are
  // held out.
  std::string split = {};
  // Kernels that are made up.
  int32_t kernels = 1000;
  uint64_t seed = 0;
};

// The data that a cost model is trained on: groups of measured configurations
// with their features. Kernels of published figures are in no data set.
struct CostDataSet {
  absl::string_view id;
  absl::string_view contents;
  // The options that it uses: names of those of `hone train cost-model`,
  // without dashes, separated by commas. Those for files are required.
  absl::string_view options;
  // Errors: InvalidArgument if nothing is left to train on; those of reading
  // the data.
  absl::StatusOr<learning::CostTrainingSet> (*make)(
      const CostDataOptions& options) = nullptr;

  // Returns true if `option` is one of `options`.
  bool Uses(absl::string_view option) const;
};

// All data sets, those of cost_data_sets.def.
const Registry<CostDataSet>& CostDataSets();

#define HONE_COST_DATA_SET(id, factory, contents, options) \
  absl::StatusOr<learning::CostTrainingSet> factory(       \
      const CostDataOptions& options_of_set);
#include "bench/cost_model/cost_data_sets.def"
#undef HONE_COST_DATA_SET

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_COST_DATA_SET_H_
