// Hostile requests of every RPC, with tokens of all roles and of none: each
// gets a status that the API documents and that fits its role, the daemon
// lives, and its health answers quickly all the while.

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/documented_status.h"
#include "bench/faults/faults.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/hostile_message.h"
#include "bench/faults/methods.h"
#include "bench/faults/token_callers.h"
#include "bench/service/daemon_process.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kClients = 4;
// The time after which a client gives up, and that for which one stalls.
constexpr absl::Duration kDeadline = absl::Seconds(2);
constexpr absl::Duration kStall = absl::Milliseconds(200);

// What one client has seen.
struct Seen {
  std::map<std::string, int64_t> codes;
  std::map<std::string, int64_t> bad;  // by what was answered, and by whom
  std::set<std::string> answering;     // methods that do, in time
  int64_t refused = 0;                 // requests, for their token
  int64_t stalled = 0;
};

void SendOne(grpc::GenericStub& stub,
             const google::protobuf::MethodDescriptor& method,
             const TokenCallers::Caller& caller, Rng& rng, Seen& seen) {
  std::vector<std::string> messages;
  const uint64_t count = method.client_streaming() ? rng.Below(5) : 1;
  for (uint64_t k = 0; k < count; ++k) {
    messages.push_back(HostileMessage(*method.input_type(), rng));
  }
  absl::Duration deadline = kDeadline;
  Ending ending = Ending::kDecent;
  switch (rng.Below(20)) {
    case 0:
    case 1:
      deadline = absl::Milliseconds(rng.Below(20));
      break;
    case 2:
      deadline = kStall;
      ending = Ending::kStalls;
      ++seen.stalled;
      break;
    default:
      break;
  }
  const std::string path = PathOf(method);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       absl::ToChronoMilliseconds(deadline));
  ShowToken(caller, context);
  const grpc::Status status =
      CallMethod(stub, context, path, messages, nullptr, ending);
  ++seen.codes[absl::StrCat(status.error_code())];
  const bool is_refused =
      status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
      status.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  seen.refused += is_refused;
  if (ending == Ending::kDecent && !is_refused &&
      status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) {
    seen.answering.insert(path);
  }
  const auto keep = [&](const char* what) {
    ++seen.bad[absl::StrCat(what, path, ": ", status.error_code(), " ",
                            status.error_message().substr(0, 200))];
  };
  if (!IsDocumented(status)) keep("");
  if (!FitsRole(status, path, caller)) keep("for the wrong role, ");
}

void Report(const std::vector<Seen>& clients, Json& row) {
  std::map<std::string, int64_t> codes;
  int64_t sent = 0;
  int64_t refused = 0;
  int64_t stalled = 0;
  for (const Seen& seen : clients) {
    refused += seen.refused;
    stalled += seen.stalled;
    for (const auto& [code, n] : seen.codes) {
      codes[code] += n;
      sent += n;
    }
    for (const auto& [answer, n] : seen.bad) {
      row["broken"].push_back(absl::StrCat(n, " times ", answer));
    }
  }
  const auto methods = Methods();
  row["methods"] = methods.size();
  row["requests"] = sent;
  row["refused for their token"] = refused;
  row["stalled"] = stalled;
  row["answers by code"] = codes;
  for (const auto* method : methods) {
    const std::string path = PathOf(*method);
    if (absl::c_none_of(clients, [&](const Seen& seen) {
          return seen.answering.contains(path);
        })) {
      row["broken"].push_back(absl::StrCat(path, " never answered in time"));
    }
  }
}

}  // namespace

absl::StatusOr<Json> SendHostileRequests(const FaultOptions& options) {
  Json row = {{"fault", "hostile"}, {"broken", Json::array()}};
  const TemporaryDirectory folder;
  HONE_ASSIGN_OR_RETURN(const TokenCallers callers,
                        TokenCallers::Create(folder.path()));
  DaemonProcess daemon(
      {.arguments = {"--config", callers.config_path()}, .over_socket = true});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  std::vector<Seen> seen(kClients);
  std::vector<std::thread> clients;
  for (size_t client = 0; client < kClients; ++client) {
    clients.emplace_back([&, client] {
      grpc::GenericStub stub(daemon.ConnectOverLoopback());
      Rng rng(options.seed * 1000 + client);
      for (const auto* method : Methods()) {
        for (auto i = static_cast<int64_t>(client); i < options.hostile;
             i += kClients) {
          SendOne(stub, *method, callers.Choose(rng), rng, seen[client]);
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  health.Report(row);
  Report(seen, row);
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto exit = daemon.Terminate(); exit.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", exit.status));
  }
  return row;
}

}  // namespace hone::bench
