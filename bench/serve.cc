#include "bench/serve.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/corpus.h"
#include "bench/service/daemon_process.h"
#include "daemon/config.h"
#include "daemon/server.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "proto/grpc_status.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRounds = 5;
constexpr int kStarts = 5;

// Answers every lookup with the same response, doing nothing else.
class EchoService final : public v1::CacheService::CallbackService {
 public:
  explicit EchoService(v1::LookupResponse response)
      : response_(std::move(response)) {}

  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context,
                                   const v1::LookupRequest*,
                                   v1::LookupResponse* response) override {
    *response = response_;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const v1::LookupResponse response_;
};

// A result like that of a GPT-2 training step: forty passes.
absl::StatusOr<storage::Record> MakeRecord() {
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                        tuning::FindTask("pass_order"));
  storage::Record record;
  record.key.module_fingerprint = Sha256Hex("bench/serve");
  record.key.target = task->default_target();
  record.key.task = "pass_order";
  HONE_ASSIGN_OR_RETURN(record.key.task_options, task->OptionsKey({}));
  record.key.space_version = task->space_version();
  record.module_name = "jit_step";
  record.unit = "ops";
  record.default_cost = 4000;
  record.best_cost = 3600;
  Json passes = Json::array();
  for (int i = 0; i < 40; ++i) passes.push_back("tuple-simplifier");
  record.decision = Json{{"passes", passes}}.dump();
  record.tuned_module_digest = Sha256Hex("tuned");
  record.optimizer = "beam";
  record.trials = 500;
  record.verification.method = "evaluator: 2 random, 1 adversarial inputs";
  record.producer = "bench";
  record.created = SystemClock().Now();
  return record;
}

// Latencies in microseconds, sorted, and lookups per second.
struct Load {
  std::vector<double> latencies;
  double per_second = 0;

  double Percentile(double p) const {
    const auto index =
        static_cast<size_t>(p / 100 * static_cast<double>(latencies.size()));
    return latencies[std::min(index, latencies.size() - 1)];
  }
};

using Stubs = std::vector<std::unique_ptr<v1::CacheService::Stub>>;

Stubs Connect(const std::string& address, int clients) {
  Stubs stubs;
  for (int i = 0; i < clients; ++i) {
    grpc::ChannelArguments arguments;
    // Or all would share one connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stubs.push_back(v1::CacheService::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments)));
  }
  return stubs;
}

absl::StatusOr<Load> Measure(const Stubs& stubs, int64_t requests,
                             const std::string& fingerprint) {
  std::vector<std::vector<double>> latencies(stubs.size());
  std::vector<absl::Status> statuses(stubs.size());
  const absl::Duration start = SystemClock().Monotonic();
  std::vector<std::thread> threads;
  threads.reserve(stubs.size());
  for (size_t i = 0; i < stubs.size(); ++i) {
    threads.emplace_back([&, i] {
      v1::LookupRequest request;
      request.set_module_fingerprint(fingerprint);
      latencies[i].reserve(static_cast<size_t>(requests));
      for (int64_t r = 0; r < requests && statuses[i].ok(); ++r) {
        grpc::ClientContext context;
        v1::LookupResponse response;
        const absl::Duration sent = SystemClock().Monotonic();
        statuses[i] = ToStatus(stubs[i]->Lookup(&context, request, &response));
        latencies[i].push_back(
            absl::ToDoubleMicroseconds(SystemClock().Monotonic() - sent));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::Duration elapsed = SystemClock().Monotonic() - start;
  Load load;
  for (size_t i = 0; i < stubs.size(); ++i) {
    HONE_RETURN_IF_ERROR(statuses[i]);
    load.latencies.insert(load.latencies.end(), latencies[i].begin(),
                          latencies[i].end());
  }
  std::sort(load.latencies.begin(), load.latencies.end());
  load.per_second = static_cast<double>(load.latencies.size()) /
                    absl::ToDoubleSeconds(elapsed);
  return load;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The median over rounds of each figure.
Json Summary(const std::vector<Load>& rounds) {
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

void PrintRow(std::ostream& out, absl::string_view name, const Json& row) {
  out << absl::StreamFormat(
      "%-12s %9.0f %9.0f %9.0f %12.0f\n", name, row["p50_us"].get<double>(),
      row["p90_us"].get<double>(), row["p99_us"].get<double>(),
      row["per_second"].get<double>());
}

}  // namespace

absl::StatusOr<Json> RunServeBench(const ServeOptions& options,
                                   std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const storage::Record record, MakeRecord());
  const TemporaryDirectory directory;
  daemon::Config config;
  config.listen = {"127.0.0.1:0"};
  config.http = "127.0.0.1:0";
  config.state = directory.path();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<storage::Store> store,
                        daemon::OpenStore(config));
  HONE_RETURN_IF_ERROR(store->Publish(record).status());
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<daemon::Server> server,
                        daemon::Server::Start(config, std::move(store)));
  const Stubs hone = Connect(server->grpc_address(), options.clients);

  // The echo server returns the same bytes as the daemon.
  const std::string& fingerprint = record.key.module_fingerprint;
  v1::LookupRequest request;
  request.set_module_fingerprint(fingerprint);
  v1::LookupResponse response;
  grpc::ClientContext context;
  HONE_RETURN_IF_ERROR(ToStatus(hone[0]->Lookup(&context, request, &response)));
  EchoService echo_service(response);
  int echo_port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &echo_port);
  builder.RegisterService(&echo_service);
  const std::unique_ptr<grpc::Server> echo_server = builder.BuildAndStart();
  if (echo_server == nullptr) {
    return absl::UnavailableError("cannot start the echo server");
  }
  const Stubs echo =
      Connect(absl::StrCat("127.0.0.1:", echo_port), options.clients);

  std::vector<Load> hone_rounds, echo_rounds;
  std::vector<double> ratios;
  // The first round warms up.
  for (int round = 0; round <= kRounds; ++round) {
    HONE_ASSIGN_OR_RETURN(Load bare,
                          Measure(echo, options.requests, fingerprint));
    HONE_ASSIGN_OR_RETURN(Load cached,
                          Measure(hone, options.requests, fingerprint));
    if (round == 0) continue;
    ratios.push_back(cached.Percentile(50) / bare.Percentile(50));
    echo_rounds.push_back(std::move(bare));
    hone_rounds.push_back(std::move(cached));
  }
  std::vector<double> starts;
  for (int i = 0; i < kStarts; ++i) {
    DaemonProcess daemon;
    HONE_ASSIGN_OR_RETURN(const absl::Duration took, daemon.Start());
    starts.push_back(absl::ToDoubleSeconds(took));
  }

  Json document = {
      {"bench", "serve"},
      {"machine", DescribeMachine()},
      {"clients", options.clients},
      {"requests_per_client", options.requests},
      {"rounds", kRounds},
      {"request_bytes", request.ByteSizeLong()},
      {"response_bytes", response.ByteSizeLong()},
      {"lookup", Summary(hone_rounds)},
      {"echo", Summary(echo_rounds)},
      {"p50_ratio", Median(ratios)},
      {"p50_ratio_min", *std::min_element(ratios.begin(), ratios.end())},
      {"p50_ratio_max", *std::max_element(ratios.begin(), ratios.end())},
      {"start_seconds", Median(starts)},
      {"start_seconds_max", *std::max_element(starts.begin(), starts.end())},
  };
  out << absl::StreamFormat(
      "%d clients x %d requests, median of %d rounds, %d byte responses\n",
      options.clients, options.requests, kRounds, response.ByteSizeLong());
  out << absl::StreamFormat("%-12s %9s %9s %9s %12s\n", "", "p50 us", "p90 us",
                            "p99 us", "per second");
  PrintRow(out, "lookup", document["lookup"]);
  PrintRow(out, "bare echo", document["echo"]);
  out << absl::StreamFormat(
      "p50 ratio to the echo server: %.2f (%.2f to %.2f)\n",
      document["p50_ratio"].get<double>(),
      document["p50_ratio_min"].get<double>(),
      document["p50_ratio_max"].get<double>());
  out << absl::StreamFormat(
      "start with an empty store: %.3f s (slowest of %d: %.3f s)\n",
      document["start_seconds"].get<double>(), kStarts,
      document["start_seconds_max"].get<double>());
  return document;
}

}  // namespace hone::bench
