#ifndef HONE_BENCH_FAULTS_FAULTS_H_
#define HONE_BENCH_FAULTS_FAULTS_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct FaultOptions {
  // The faults to try; empty: all (FaultNames).
  std::vector<std::string> only;
  // kill -9 at random moments under load.
  int64_t kills = 200;
  // Calls of all kinds that are cancelled at random moments.
  int64_t cancellations = 100'000;
  // Calls in flight, and slow HTTP clients, when SIGTERM comes.
  int64_t calls = 500;
  int64_t slow_clients = 100;
  // Hostile requests of each RPC.
  int64_t hostile = 500;
  // Modules that no machine can evaluate.
  int64_t modules = 120;
  // gRPC clients that stall, at once.
  int64_t stalled = 1000;
  // Times that the disk of the store gets full, that it fails for a while, and
  // that bits of the store flip while honed is stopped.
  int64_t fills = 20;
  int64_t io_errors = 200;
  int64_t flips = 200;
  // Trials of tunings whose workers are stopped (SIGSTOP) and go on.
  int64_t paused_trials = 10'000;
  // Trials of tunings whose candidates' processes do harm.
  int64_t native_trials = 1000;
  uint64_t seed = 1;
};

// "kill", "cancel", "drain", "hostile", "modules",
// "slow-clients", "full-disk", "io-errors", "bit-flips",
// "paused", "native".
std::vector<std::string> FaultNames();

// Makes the table of faults: has a real honed suffer each, with real clients,
// and counts what must not happen. Writes the table to `out` and returns it as
// JSON; `broken` of the document counts the promises that were not kept.
// Errors: InvalidArgument for an unknown name in `only`; NotFound without a
// honed beside this executable, or for "io-errors" and "native" without a
// library that only builds with tests have.
absl::StatusOr<nlohmann::ordered_json> RunFaultsBench(
    const FaultOptions& options, std::ostream& out);

// One fault: returns {"fault", figures…, "broken": [sentences]}.
using Fault = absl::StatusOr<nlohmann::ordered_json> (*)(const FaultOptions&);
absl::StatusOr<nlohmann::ordered_json> KillUnderLoad(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> CancelCalls(const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> DrainUnderLoad(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> SendHostileRequests(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> SendHostileModules(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> StallClients(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> FillDisk(const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> FailDisk(const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> FlipBits(const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> PauseWorkers(
    const FaultOptions& options);
absl::StatusOr<nlohmann::ordered_json> RunHostileCode(
    const FaultOptions& options);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_FAULTS_H_
