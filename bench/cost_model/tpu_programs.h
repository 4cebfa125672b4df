#ifndef HONE_BENCH_COST_MODEL_TPU_PROGRAMS_H_
#define HONE_BENCH_COST_MODEL_TPU_PROGRAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::bench {

// A program whose kernels run on TPUs.
struct TpuProgram {
  std::string name;
  // The model that it is of, whatever its sizes, and whether it infers or
  // trains: programs of a family share kernels.
  std::string family;
  // The file, or if that is empty the HLO text.
  std::string path;
  std::string text = {};
};

// Returns the bundled programs whose names match the regular expression `only`
// (empty: all): the corpus and the graphs of partitions, in the order of their
// manifests. Errors: those of reading the manifests; InvalidArgument for an
// expression that is none, or if nothing matches.
absl::StatusOr<std::vector<TpuProgram>> ReadTpuPrograms(
    const std::string& corpus, const std::string& partitions,
    const std::string& only);

// Returns random kernels as programs, as many of single computations as of
// several together (random_kernels.h) and of what programs have little of
// (random_tpu_kernels.h).
std::vector<TpuProgram> RandomTpuPrograms(uint64_t seed, int64_t count);

// Reads a program and runs XLA's target-independent pipeline.
absl::StatusOr<hlo::Module> ReadTpuProgram(const TpuProgram& program);

// The families that are held out of training: those that choose among weights,
// and those that figures are published on.
struct FamilySplit {
  absl::flat_hash_set<std::string> validation;
  absl::flat_hash_set<std::string> test;
};

// Reads a split of a file: {"NAME": {"validation": ["FAMILY", …], "test":
// […]}}. `split` is "FILE:NAME", or the file for its split "random". Errors:
// those of reading; NotFound for an unknown name, listing the known ones;
// InvalidArgument for another form, or a family in both lists.
absl::StatusOr<FamilySplit> ReadFamilySplit(const std::string& split);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TPU_PROGRAMS_H_
