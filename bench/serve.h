#ifndef HONE_BENCH_SERVE_H_
#define HONE_BENCH_SERVE_H_

#include <cstdint>
#include <ostream>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct ServeOptions {
  // Threads that look up, each over its own connection.
  int clients = 4;
  // Lookups of each.
  int64_t requests = 5000;
};

// The serving table: latency of a cached CacheService.Lookup over loopback gRPC
// beside a bare server on the same gRPC that answers with the same bytes, under
// the same clients, in turns in the same run; and the time that honed (the
// binary beside this executable) takes to serve with an empty store. The table
// goes to `out`; the same as JSON is returned.
//
// Servers and clients share the machine, and the two servers this process, so
// the ratio is the cost of Hone's handler, not of a network.
// Errors: Unavailable when a server cannot be started; what a lookup returns.
absl::StatusOr<nlohmann::ordered_json> RunServeBench(
    const ServeOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVE_H_
