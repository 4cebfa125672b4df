#ifndef HONE_BENCH_COST_MODEL_COLLECT_TPU_H_
#define HONE_BENCH_COST_MODEL_COLLECT_TPU_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"

namespace hone::bench {

struct CollectTpuOptions {
  // The data file. Programs that are in it are not simulated again.
  std::string output;
  std::string corpus = "bench/data/corpus";
  std::string partitions = "bench/data/partition";
  // A regular expression that program names must match; empty: all.
  std::string only;
  // Random kernels besides them, each a program.
  int64_t random = 0;
  // The name of a bundled TPU.
  std::string tpu = "v4";
  // Kernels of each program, to each of which comes one of other sizes, and
  // configurations of each kernel.
  int64_t kernels = 60;
  int64_t configs = 24;
  uint64_t seed = 0;
};

// The numbers that a run has added, and of programs that the file had before.
struct CollectedTpu {
  int64_t present = 0;
  int64_t programs = 0;
  int64_t kernels = 0;
  int64_t configs = 0;
  double seconds = 0;
};

// Simulates kernels of programs under random fusions, layouts, tiles and flags,
// and appends a line for each kernel to the data file, which holds whole lines
// at any moment.
//
// A program is fused by priority, greedily, not at all, and at random. Of all
// its different kernels half are drawn by their time, half evenly. Of a
// kernel's configurations a third is drawn evenly from the space, a third edits
// the best found so far, and a third has other flags than the default with
// tiles among these.
// Programs that are in the file stay as they are, whatever kernels, configs and
// seed they were drawn with. Deterministic by seed. Errors: InvalidArgument for
// a file that is no data file, or one of another TPU.
absl::StatusOr<CollectedTpu> CollectTpu(const CollectTpuOptions& options,
                                        std::ostream& log);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_COLLECT_TPU_H_
