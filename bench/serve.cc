#include "bench/serve.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <grpcpp/grpcpp.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/corpus.h"
#include "bench/service/daemon_process.h"
#include "bench/service/echo_server.h"
#include "bench/service/isolation.h"
#include "bench/service/lookup_load.h"
#include "bench/service/scale.h"
#include "bench/service/tls_files.h"
#include "daemon/config.h"
#include "daemon/server.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRounds = 5;
constexpr int kStarts = 5;

// Lookups of one record over one transport, beside the echo server's.
absl::StatusOr<Json> Compare(
    const std::string& transport, const Endpoint& hone_endpoint,
    const std::string& echo_address,
    const std::shared_ptr<grpc::ServerCredentials>& echo_credentials,
    const std::string& fingerprint, const ServeOptions& options) {
  const LookupClients hone(hone_endpoint, options.clients);
  HONE_ASSIGN_OR_RETURN(v1::LookupResponse response, hone.Lookup(fingerprint));
  const size_t response_bytes = response.ByteSizeLong();
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<EchoServer> server,
      EchoServer::Start(echo_address, echo_credentials, std::move(response)));
  Endpoint echo_endpoint = hone_endpoint;
  echo_endpoint.address = server->address();
  const LookupClients echo(echo_endpoint, options.clients);

  const auto same = [&](int64_t) { return fingerprint; };
  std::vector<Load> hone_rounds, echo_rounds;
  std::vector<double> latencies, rates;
  // The first round warms up.
  for (int round = 0; round <= kRounds; ++round) {
    HONE_ASSIGN_OR_RETURN(Load bare, echo.Measure(options.requests, same));
    HONE_ASSIGN_OR_RETURN(Load cached, hone.Measure(options.requests, same));
    if (round == 0) continue;
    latencies.push_back(cached.Percentile(50) / bare.Percentile(50));
    rates.push_back(cached.per_second / bare.per_second);
    echo_rounds.push_back(std::move(bare));
    hone_rounds.push_back(std::move(cached));
  }
  return Json{
      {"transport", transport},
      {"response_bytes", response_bytes},
      {"lookup", Summary(hone_rounds)},
      {"echo", Summary(echo_rounds)},
      {"p50_ratio", Median(latencies)},
      {"p50_ratio_min", *std::min_element(latencies.begin(), latencies.end())},
      {"p50_ratio_max", *std::max_element(latencies.begin(), latencies.end())},
      {"rate_ratio", Median(rates)},
      {"rate_ratio_min", *std::min_element(rates.begin(), rates.end())},
      {"rate_ratio_max", *std::max_element(rates.begin(), rates.end())}};
}

absl::StatusOr<std::unique_ptr<daemon::Server>> Serve(
    const daemon::Config& config, const storage::Record& record) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<storage::Store> store,
                        daemon::OpenStore(config));
  HONE_RETURN_IF_ERROR(store->Publish(record).status());
  return daemon::Server::Start(config, std::move(store));
}

absl::StatusOr<Json> MeasureTransports(const ServeOptions& options) {
  HONE_ASSIGN_OR_RETURN(const storage::Record record, MakeRecord(0));
  const std::string& fingerprint = record.key.module_fingerprint;
  const TemporaryDirectory plain_state, tls_state, files;
  daemon::Config config;
  config.local_worker = false;
  config.http = "127.0.0.1:0";
  Json rows = Json::array();
  {
    config.listen = {"127.0.0.1:0",
                     absl::StrCat("unix:", plain_state.path(), "/grpc")};
    config.state = plain_state.path();
    HONE_ASSIGN_OR_RETURN(const auto server, Serve(config, record));
    const std::vector<std::string> addresses = server->grpc_addresses();
    HONE_ASSIGN_OR_RETURN(
        Json tcp,
        Compare("TCP", {addresses[0]}, "127.0.0.1:0",
                grpc::InsecureServerCredentials(), fingerprint, options));
    rows.push_back(std::move(tcp));
    HONE_ASSIGN_OR_RETURN(
        Json socket,
        Compare("Unix socket", {addresses[1]},
                absl::StrCat("unix:", files.path(), "/echo"),
                grpc::InsecureServerCredentials(), fingerprint, options));
    rows.push_back(std::move(socket));
  }
  HONE_ASSIGN_OR_RETURN(const TlsFiles tls, MakeTlsFiles(files.path()));
  const std::string token = "bench";
  config.listen = {"localhost:0"};
  config.state = tls_state.path();
  config.tls_cert = tls.certificate_path;
  config.tls_key = tls.key_path;
  config.tokens = files.path() + "/tokens";
  std::ofstream(config.tokens) << "bench lookup " << Sha256Hex(token) << "\n";
  HONE_ASSIGN_OR_RETURN(const auto server, Serve(config, record));
  grpc::SslServerCredentialsOptions echo_tls;
  echo_tls.pem_key_cert_pairs = {{tls.key, tls.certificate}};
  HONE_ASSIGN_OR_RETURN(
      Json secure,
      Compare("TLS, token",
              {server->grpc_address(),
               grpc::SslCredentials({tls.certificate, "", ""}), token},
              "localhost:0", grpc::SslServerCredentials(echo_tls), fingerprint,
              options));
  rows.push_back(std::move(secure));
  return rows;
}

absl::StatusOr<Json> MeasureStarts() {
  std::vector<double> starts;
  for (int i = 0; i < kStarts; ++i) {
    DaemonProcess daemon;
    HONE_ASSIGN_OR_RETURN(const absl::Duration took, daemon.Start());
    starts.push_back(absl::ToDoubleSeconds(took));
  }
  return Json{{"median", Median(starts)},
              {"slowest", *std::max_element(starts.begin(), starts.end())}};
}

void PrintLoad(std::ostream& out, absl::string_view name, const Json& row) {
  out << absl::StreamFormat(
      "%-24s %9.0f %9.0f %9.0f %12.0f\n", name, row["p50_us"].get<double>(),
      row["p90_us"].get<double>(), row["p99_us"].get<double>(),
      row["per_second"].get<double>());
}

void PrintHeader(std::ostream& out, absl::string_view title) {
  out << absl::StreamFormat("%-24s %9s %9s %9s %12s\n", title, "p50 us",
                            "p90 us", "p99 us", "per second");
}

std::string Range(const Json& row, const std::string& name) {
  return absl::StrFormat("%.3f (%.3f to %.3f)", row[name].get<double>(),
                         row[name + "_min"].get<double>(),
                         row[name + "_max"].get<double>());
}

void PrintTransports(std::ostream& out, const Json& rows) {
  for (const Json& row : rows) {
    PrintHeader(out, row["transport"].get<std::string>());
    PrintLoad(out, "  lookup", row["lookup"]);
    PrintLoad(out, "  bare echo", row["echo"]);
    out << "  lookup / echo: p50 " << Range(row, "p50_ratio") << ", rate "
        << Range(row, "rate_ratio") << "\n";
  }
}

void PrintScale(std::ostream& out, const Json& scale) {
  for (const char* name : {"empty", "full"}) {
    const Json& side = scale[name];
    PrintHeader(out, absl::StrCat(side["records"].get<int64_t>(), " records"));
    PrintLoad(out, "  hit", side["hit"]);
    PrintLoad(out, "  miss", side["miss"]);
    out << absl::StreamFormat("  start %.3f s, slowest scrape %.1f ms\n",
                              side["start_seconds"].get<double>(),
                              side["scrape_ms_max"].get<double>());
  }
  out << absl::StreamFormat(
      "p99 with all records / with one: hit %.2f, "
      "miss %.2f\n",
      scale["hit_p99_ratio"].get<double>(),
      scale["miss_p99_ratio"].get<double>());
}

}  // namespace

absl::StatusOr<Json> RunServeBench(const ServeOptions& options,
                                   std::ostream& out) {
  Json document = {{"bench", "serve"},
                   {"machine", DescribeMachine()},
                   {"clients", options.clients},
                   {"requests_per_client", options.requests},
                   {"rounds", kRounds}};
  out << absl::StreamFormat("%d clients x %d requests, median of %d rounds\n",
                            options.clients, options.requests, kRounds);
  HONE_ASSIGN_OR_RETURN(document["transports"], MeasureTransports(options));
  PrintTransports(out, document["transports"]);
  HONE_ASSIGN_OR_RETURN(document["start_seconds"], MeasureStarts());
  out << absl::StreamFormat(
      "start with an empty store: %.3f s (slowest of %d: %.3f s)\n",
      document["start_seconds"]["median"].get<double>(), kStarts,
      document["start_seconds"]["slowest"].get<double>());
  HONE_ASSIGN_OR_RETURN(document["scale"], MeasureScale(options));
  PrintScale(out, document["scale"]);
  HONE_ASSIGN_OR_RETURN(document["isolation"], MeasureIsolation(options));
  const Json& isolation = document["isolation"];
  out << absl::StreamFormat(
      "tuning in a process of its own / in the caller's: %s of %d pairs, %d "
      "trials each\n",
      Range(isolation, "ratio"), isolation["tunings"].size(), options.trials);
  return document;
}

}  // namespace hone::bench
