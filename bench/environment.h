#ifndef HONE_BENCH_ENVIRONMENT_H_
#define HONE_BENCH_ENVIRONMENT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct EnvironmentOptions {
  // About 1,000 instructions; the target for a step is half a millisecond.
  std::string module = "bench/data/corpus/gpt2_2l.train.hlo.zst";
  // The number of steps in each row.
  int64_t steps = 2000;
  uint64_t seed = 1;
};

// Measures environment steps per second on random walks of 32 passes from the
// module.
//
// In process, on one thread, by CPU time: steps that run a pass (cached ones
// are left out), split into copying the state, the pass, the fingerprint, the
// score and releasing the previous state. By wall clock, over loopback gRPC
// against a daemon in this process: one action per request, 32 actions per
// request, and batches of 16 environments, with the histogram and with the
// graph. Writes the table to `out` and returns it as JSON.
//
// Errors: those of reading the module; Unavailable if no server starts.
absl::StatusOr<nlohmann::ordered_json> RunEnvironmentBench(
    const EnvironmentOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_ENVIRONMENT_H_
