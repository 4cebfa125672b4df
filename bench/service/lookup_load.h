#ifndef HONE_BENCH_SERVICE_LOOKUP_LOAD_H_
#define HONE_BENCH_SERVICE_LOOKUP_LOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <grpcpp/grpcpp.h>
#include <nlohmann/json.hpp>

#include "hone/v1/cache_service.grpc.pb.h"

namespace hone::bench {

// A server of CacheService, and how to call it.
struct Endpoint {
  std::string address;
  std::shared_ptr<grpc::ChannelCredentials> credentials =
      grpc::InsecureChannelCredentials();
  // Sent with each call; empty: none.
  std::string token = "";
};

// The latencies of lookups in microseconds, sorted, and lookups per second.
struct Load {
  std::vector<double> latencies;
  double per_second = 0;

  double Percentile(double p) const;
};

// The median over rounds of p50, p90, p99 and the rate.
nlohmann::ordered_json Summary(const std::vector<Load>& rounds);
double Median(std::vector<double> values);

// Clients of one server, each a thread with a connection of its own.
class LookupClients {
 public:
  LookupClients(Endpoint endpoint, int clients);

  // Each client makes that many lookups, one after the other, and all together
  // those of fingerprint(0), fingerprint(1) and so on. Errors: those of a
  // lookup whose status is not `expected`.
  absl::StatusOr<Load> Measure(
      int64_t requests, const std::function<std::string(int64_t)>& fingerprint,
      grpc::StatusCode expected = grpc::StatusCode::OK) const;
  // One lookup.
  absl::StatusOr<v1::LookupResponse> Lookup(
      const std::string& fingerprint) const;

 private:
  grpc::Status Call(size_t client, const std::string& fingerprint,
                    v1::LookupResponse& response) const;

  const Endpoint endpoint_;
  std::vector<std::unique_ptr<v1::CacheService::Stub>> stubs_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_LOOKUP_LOAD_H_
