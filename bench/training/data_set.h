#ifndef HONE_BENCH_TRAINING_DATA_SET_H_
#define HONE_BENCH_TRAINING_DATA_SET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "optimizers/policies/training.h"

namespace hone::bench {

// What a data set is made from; each has the options that concern it.
struct DataSetOptions {
  // Modules: the folder of the corpus, and the largest module. Larger ones
  // teach little that their smaller kin do not, and take most of the time.
  std::string corpus = "bench/data/corpus";
  int64_t max_instructions = 3000;
  // Graphs of partitions: the folder with their manifest.
  std::string partitions = "bench/data/partition";
  // Graphs to train on, and the most nodes of one that is generated.
  int64_t graphs = 64;
  int32_t max_nodes = 200;
};

// What a policy is trained on: problems of one kind, split into those that it
// learns from and those that choose among weights. What figures are published
// on is in no data set.
struct DataSet {
  absl::string_view id;
  absl::string_view contents;
  // The options of `hone train` that it uses, among those that some data sets
  // do not use: names without dashes, separated by commas.
  absl::string_view options;
  // Errors: InvalidArgument if nothing is left to train on; those of reading
  // the data.
  absl::StatusOr<optimizers::policies::TrainingSet> (*make)(
      const DataSetOptions& options) = nullptr;

  // Returns true if `option` is one of `options`.
  bool Uses(absl::string_view option) const;
};

// All data sets, those of data_sets.def.
const Registry<DataSet>& DataSets();

#define HONE_DATA_SET(id, factory, contents, used)           \
  absl::StatusOr<optimizers::policies::TrainingSet> factory( \
      const DataSetOptions& options);
#include "bench/training/data_sets.def"
#undef HONE_DATA_SET

}  // namespace hone::bench

#endif  // HONE_BENCH_TRAINING_DATA_SET_H_
