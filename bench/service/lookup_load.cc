#include "bench/service/lookup_load.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "proto/grpc_status.h"

namespace hone::bench {

double Load::Percentile(double p) const {
  const auto index =
      static_cast<size_t>(p / 100 * static_cast<double>(latencies.size()));
  return latencies[std::min(index, latencies.size() - 1)];
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

nlohmann::ordered_json Summary(const std::vector<Load>& rounds) {
  const auto median = [&](auto figure) {
    std::vector<double> values;
    values.reserve(rounds.size());
    for (const Load& round : rounds) values.push_back(figure(round));
    return Median(std::move(values));
  };
  return {{"p50_us", median([](const Load& l) { return l.Percentile(50); })},
          {"p90_us", median([](const Load& l) { return l.Percentile(90); })},
          {"p99_us", median([](const Load& l) { return l.Percentile(99); })},
          {"per_second", median([](const Load& l) { return l.per_second; })}};
}

LookupClients::LookupClients(Endpoint endpoint, int clients)
    : endpoint_(std::move(endpoint)) {
  for (int i = 0; i < clients; ++i) {
    grpc::ChannelArguments arguments;
    // Or all would share one connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stubs_.push_back(v1::CacheService::NewStub(grpc::CreateCustomChannel(
        endpoint_.address, endpoint_.credentials, arguments)));
  }
}

grpc::Status LookupClients::Call(size_t client, const std::string& fingerprint,
                                 v1::LookupResponse& response) const {
  v1::LookupRequest request;
  request.set_module_fingerprint(fingerprint);
  grpc::ClientContext context;
  if (!endpoint_.token.empty()) {
    context.AddMetadata("authorization",
                        absl::StrCat("Bearer ", endpoint_.token));
  }
  return stubs_[client]->Lookup(&context, request, &response);
}

absl::StatusOr<v1::LookupResponse> LookupClients::Lookup(
    const std::string& fingerprint) const {
  v1::LookupResponse response;
  HONE_RETURN_IF_ERROR(ToStatus(Call(0, fingerprint, response)));
  return response;
}

absl::StatusOr<Load> LookupClients::Measure(
    int64_t requests, const std::function<std::string(int64_t)>& fingerprint,
    grpc::StatusCode expected) const {
  std::vector<std::vector<double>> latencies(stubs_.size());
  std::vector<absl::Status> statuses(stubs_.size());
  std::vector<std::vector<std::string>> asked(stubs_.size());
  int64_t n = 0;
  for (std::vector<std::string>& modules : asked) {
    modules.reserve(static_cast<size_t>(requests));
    for (int64_t r = 0; r < requests; ++r) modules.push_back(fingerprint(n++));
  }
  const absl::Duration start = SystemClock().Monotonic();
  std::vector<std::thread> threads;
  threads.reserve(stubs_.size());
  for (size_t i = 0; i < stubs_.size(); ++i) {
    threads.emplace_back([&, i] {
      latencies[i].reserve(asked[i].size());
      for (const std::string& module : asked[i]) {
        v1::LookupResponse response;
        const absl::Duration sent = SystemClock().Monotonic();
        const grpc::Status status = Call(i, module, response);
        latencies[i].push_back(
            absl::ToDoubleMicroseconds(SystemClock().Monotonic() - sent));
        if (status.error_code() == expected) continue;
        statuses[i] = status.ok() ? absl::InternalError(
                                        "a lookup found what "
                                        "is not there")
                                  : ToStatus(status);
        return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::Duration elapsed = SystemClock().Monotonic() - start;
  Load load;
  for (size_t i = 0; i < stubs_.size(); ++i) {
    HONE_RETURN_IF_ERROR(statuses[i]);
    load.latencies.insert(load.latencies.end(), latencies[i].begin(),
                          latencies[i].end());
  }
  std::sort(load.latencies.begin(), load.latencies.end());
  load.per_second = static_cast<double>(load.latencies.size()) /
                    absl::ToDoubleSeconds(elapsed);
  return load;
}

}  // namespace hone::bench
