#ifndef HONE_BENCH_SERVE_H_
#define HONE_BENCH_SERVE_H_

#include <cstdint>
#include <ostream>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct ServeOptions {
  // The number of client threads, each with its own connection.
  int clients = 4;
  // The number of lookups per client.
  int64_t requests = 5000;
};

// Makes the serving table: the latency of a cached CacheService.Lookup over
// loopback gRPC, beside a minimal server on the same gRPC that returns the same
// bytes, under the same clients, alternating in the same run; and the time from
// the start of honed (the binary beside this executable) with an empty store to
// its first answer. Writes the table to `out` and returns it as JSON.
//
// Servers and clients share the machine, and the two servers this process, so
// the ratio is the cost of Hone's handler, not of a network.
// Errors: Unavailable if a server cannot be started; those of a lookup.
absl::StatusOr<nlohmann::ordered_json> RunServeBench(
    const ServeOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVE_H_
