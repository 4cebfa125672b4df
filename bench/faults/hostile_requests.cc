// Hostile requests of every RPC: each gets a status that the API documents, the
// daemon lives, and its health answers quickly all the while.

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/faults/documented_status.h"
#include "bench/faults/faults.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/hostile_message.h"
#include "bench/faults/methods.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kClients = 4;
// The time after which a client gives up, for a request that stalls too.
constexpr absl::Duration kDeadline = absl::Seconds(2);

}  // namespace

absl::StatusOr<Json> SendHostileRequests(const FaultOptions& options) {
  Json row = {{"fault", "hostile"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  const auto methods = Methods();
  std::vector<std::map<std::string, int64_t>> counts(kClients);
  std::vector<std::map<std::string, int64_t>> bad(kClients);
  std::vector<std::set<std::string>> answering(kClients);
  std::vector<std::thread> clients;
  for (size_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      grpc::GenericStub stub(daemon.Connect());
      Rng rng(options.seed * 1000 + client);
      for (const auto* method : methods) {
        const std::string path = PathOf(*method);
        for (auto i = static_cast<int64_t>(client); i < options.hostile;
             i += kClients) {
          std::vector<std::string> messages;
          const uint64_t count = method->client_streaming() ? rng.Below(5) : 1;
          for (uint64_t k = 0; k < count; ++k) {
            messages.push_back(HostileMessage(*method->input_type(), rng));
          }
          grpc::ClientContext context;
          context.set_deadline(
              std::chrono::system_clock::now() +
              absl::ToChronoMilliseconds(rng.Below(10) == 0
                                             ? absl::Milliseconds(rng.Below(20))
                                             : kDeadline));
          const grpc::Status status = CallMethod(stub, context, path, messages);
          ++counts[client][absl::StrCat(status.error_code())];
          if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) {
            answering[client].insert(path);
          }
          if (!IsDocumented(status)) {
            ++bad[client][absl::StrCat(path, ": ", status.error_code(), " ",
                                       status.error_message().substr(0, 200))];
          }
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  health.Report(row);
  std::map<std::string, int64_t> all;
  int64_t sent = 0;
  for (const auto& count : counts) {
    for (const auto& [code, n] : count) {
      all[code] += n;
      sent += n;
    }
  }
  row["methods"] = methods.size();
  for (const auto* method : methods) {
    const std::string path = PathOf(*method);
    if (std::none_of(answering.begin(), answering.end(),
                     [&](const auto& paths) { return paths.contains(path); })) {
      row["broken"].push_back(absl::StrCat(path, " never answered in time"));
    }
  }
  row["requests"] = sent;
  row["answers by code"] = all;
  for (const auto& answers : bad) {
    for (const auto& [answer, n] : answers) {
      row["broken"].push_back(absl::StrCat(n, " times ", answer));
    }
  }
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto exit = daemon.Terminate(); exit.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", exit.status));
  }
  return row;
}

}  // namespace hone::bench
