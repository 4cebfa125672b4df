#ifndef HONE_BENCH_ENVIRONMENT_H_
#define HONE_BENCH_ENVIRONMENT_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct EnvironmentOptions {
  // About 1,000 instructions: where a step is to take half a millisecond.
  std::string module = "bench/data/corpus/gpt2_2l.train.hlo.zst";
  // Steps of each row.
  int64_t steps = 2000;
  uint64_t seed = 1;
};

// The table of environment steps: random walks from the module, of 32 passes
// each, steps per second.
//
// In process on one thread, by its CPU time: steps that run a pass (those
// remembered are left out), and what such a step spends on copying the state,
// the pass, the fingerprint, the score and releasing the state before. By the
// clock, over loopback gRPC against a daemon in this process: one action a
// request, 32 actions a request, and batches of 16 environments, with the
// histogram and with the graph. The table goes to `out`; the same as JSON is
// returned.
//
// Errors: those of reading the module; Unavailable when no server starts.
absl::StatusOr<nlohmann::ordered_json> RunEnvironmentBench(
    const EnvironmentOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_ENVIRONMENT_H_
