// Modules that no machine can evaluate, in requests that are otherwise as they
// should be: calls answer, tunings end, and good modules are served meanwhile.

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include <grpcpp/grpcpp.h>

#include "base/status_macros.h"
#include "bench/faults/documented_status.h"
#include "bench/faults/faults.h"
#include "bench/faults/good_modules.h"
#include "bench/faults/health_watch.h"
#include "bench/faults/hostile_modules.h"
#include "bench/faults/methods.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "hone/v1/environment_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kClients = 4;
// More than the daemon may take to answer that it goes on without the caller.
constexpr absl::Duration kDeadline = absl::Minutes(2);
// More than all tunings may take that the modules have begun.
constexpr absl::Duration kPatience = absl::Minutes(50);

v1::TuningSpec Spec(const char* task) {
  v1::TuningSpec spec;
  spec.set_task(task);
  spec.set_optimizer("random");
  spec.mutable_budget()->set_trials(3);
  spec.mutable_budget()->mutable_time()->set_seconds(2);
  return spec;
}

// The ways in which modules come to the daemon.
struct Way {
  const char* method;
  std::string (*request)(const std::string& text);
};
constexpr Way kWays[] = {
    {"/hone.v1.CompileService/Compile",
     [](const std::string& text) {
       v1::CompileRequest request;
       request.mutable_module()->set_content(text);
       *request.add_specs() = Spec("pass_order");
       request.mutable_patience()->set_seconds(1);
       return request.SerializeAsString();
     }},
    {"/hone.v1.TuningService/Tune",
     [](const std::string& text) {
       v1::TuneRequest request;
       request.mutable_module()->set_content(text);
       *request.mutable_spec() = Spec("pass_order");
       return request.SerializeAsString();
     }},
    {"/hone.v1.TuningService/Tune",
     [](const std::string& text) {
       v1::TuneRequest request;
       request.mutable_module()->set_content(text);
       *request.mutable_spec() = Spec("kernel");
       return request.SerializeAsString();
     }},
    {"/hone.v1.EnvironmentService/OpenEnvironment",
     [](const std::string& text) {
       v1::OpenEnvironmentRequest request;
       request.mutable_module()->set_content(text);
       request.set_task("pass_order");
       return request.SerializeAsString();
     }},
};

// Sends `modules` modules in all ways, and counts the answers.
class Sender {
 public:
  Sender(const DaemonProcess& daemon, int64_t modules)
      : daemon_(daemon), modules_(modules) {}

  void Run() {
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([this] {
        grpc::GenericStub stub(daemon_.Connect());
        for (int64_t n = next_++; n < modules_; n = next_++) Send(stub, n);
      });
    }
    for (std::thread& client : clients) client.join();
  }

  void Report(Json& row) const {
    row["modules"] = modules_;
    row["answers by code"] = codes_;
    for (const auto& [answer, n] : bad_) {
      row["broken"].push_back(absl::StrCat(n, " times ", answer));
    }
  }

 private:
  void Send(grpc::GenericStub& stub, int64_t n) {
    const NamedModule module = HostileModule(n);
    const auto way = static_cast<size_t>(n / HostileModuleKinds());
    const Way& chosen = kWays[way % std::size(kWays)];
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoSeconds(kDeadline));
    const grpc::Status status =
        CallMethod(stub, context, chosen.method, {chosen.request(module.text)});
    absl::MutexLock lock(&mu_);
    ++codes_[absl::StrCat(status.error_code())];
    if (!IsDocumented(status) ||
        status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      ++bad_[absl::StrCat(chosen.method, ", ", module.name, ": ",
                          status.error_code(), " ",
                          status.error_message().substr(0, 200))];
    }
  }

  const DaemonProcess& daemon_;
  const int64_t modules_;
  std::atomic<int64_t> next_ = 0;
  absl::Mutex mu_;
  std::map<std::string, int64_t> codes_;
  std::map<std::string, int64_t> bad_;
};

// Returns false if tunings still run or wait after kPatience.
bool WaitForTunings(const DaemonProcess& daemon) {
  const absl::Time end = absl::Now() + kPatience;
  while (daemon.Metric("hone_tunings_active") != 0) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(200));
  }
  return true;
}

}  // namespace

absl::StatusOr<Json> SendHostileModules(const FaultOptions& options) {
  Json row = {{"fault", "modules"}, {"broken", Json::array()}};
  DaemonProcess daemon;
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  HealthWatch health(daemon);
  Sender sender(daemon, options.modules);
  const absl::Time start = absl::Now();
  sender.Run();
  row["seconds until the last answer"] =
      absl::ToDoubleSeconds(absl::Now() - start);
  sender.Report(row);
  if (!WaitForTunings(daemon)) row["broken"].push_back("tunings do not end");
  row["seconds until all tunings ended"] =
      absl::ToDoubleSeconds(absl::Now() - start);
  for (const char* state : {"succeeded", "failed", "cancelled"}) {
    row[absl::StrCat("tunings that ended as ", state)] = daemon.Metric(
        absl::StrCat("hone_tunings_finished_total{state=\"", state, "\""));
  }
  row["processes that failed"] = daemon.Metric("hone_process_failures_total");
  health.Report(row);
  if (const absl::Status good = CompileGoodModules(daemon, 1); !good.ok()) {
    row["broken"].push_back(
        absl::StrCat("a good module is not compiled: ", good.message()));
  }
  if (!daemon.IsAlive()) {
    row["broken"].push_back("honed has ended");
  } else if (const auto exit = daemon.Terminate(); exit.status != 0) {
    row["broken"].push_back(absl::StrCat("exit status ", exit.status));
  }
  return row;
}

}  // namespace hone::bench
