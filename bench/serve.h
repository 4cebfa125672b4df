#ifndef HONE_BENCH_SERVE_H_
#define HONE_BENCH_SERVE_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct ServeOptions {
  // The number of client threads, each with its own connection.
  int clients = 4;
  // The number of lookups per client and round.
  int64_t requests = 5000;
  // The number of records of the full store.
  int64_t records = 1'000'000;
  // The modules that are tuned here and in processes: a corpus folder
  // (bench/data/README.md), a regular expression of names, and the trials of
  // each tuning.
  std::string corpus = "bench/data/corpus";
  std::string only = "^(gpt2_2l|resnet18_b8|mlp)[.]train$";
  int64_t trials = 100;
};

// Makes the serving tables:
// - a cached CacheService.Lookup over TCP, the Unix socket, and TLS with a
//   token, beside a minimal server on the same gRPC and transport that returns
//   the same bytes, under the same clients, alternating in the same run;
// - the time from the start of honed (the binary beside this executable) to its
//   first answer, hits, misses and a scrape, with one record and with
//   `options.records`;
// - tunings in a process of their own beside the same ones in this process.
// Writes them to `out` and returns them as JSON.
//
// Servers and clients share the machine, and in the first table this process,
// so its ratio is the cost of Hone's handler, not of a network.
// Errors: Unavailable if a server cannot be started; those of a lookup and of a
// tuning.
absl::StatusOr<nlohmann::ordered_json> RunServeBench(
    const ServeOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVE_H_
