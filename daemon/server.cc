#include "daemon/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "daemon/environment_registry.h"
#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_kernels.h"
#include "daemon/fleet/local_worker.h"
#include "daemon/limits.h"
#include "daemon/services/call.h"
#include "daemon/services/module_loader.h"
#include "daemon/services/services.h"
#include "daemon/telemetry/http_server.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/telemetry/observed_store.h"
#include "daemon/telemetry/process_metrics.h"
#include "daemon/tuning_executor.h"
#include "storage/sqlite/sqlite_store.h"

namespace hone::daemon {
namespace {

// Streams of one connection at a time.
constexpr int kMaxConcurrentStreams = 1000;

size_t Cores() { return std::max(1u, std::thread::hardware_concurrency()); }

absl::string_view HostOf(absl::string_view address) {
  return address.substr(0, address.rfind(':'));
}

class GrpcServer final : public Server {
 public:
  GrpcServer(const Config& config, std::unique_ptr<storage::Store> store,
             const Clock& clock)
      : config_(config),
        store_(std::move(store), metrics_),
        fleet_(clock, metrics_,
               {.version = HONE_VERSION, .lease = config_.worker_lease}),
        environments_(clock, metrics_,
                      {.max_environments = config_.max_environments,
                       .memory_bytes = config_.environment_memory_bytes,
                       .idle = config_.environment_idle}) {}

  ~GrpcServer() override {
    config_.drain_delay = absl::ZeroDuration();
    Drain();
  }

  absl::Status StartServing() {
    HONE_RETURN_IF_ERROR(SplitAddress(config_.listen).status());
    HONE_RETURN_IF_ERROR(store_.Stats().status());
    metrics_.OnCollect([this] {
      // On an error the gauges keep their last values.
      (void)store_.Stats();
    });
    HONE_RETURN_IF_ERROR(tunings_.ResumeUnfinished());
    HONE_RETURN_IF_ERROR(StartGrpc());
    HONE_ASSIGN_OR_RETURN(
        http_,
        HttpServer::Start(
            config_.http,
            {.metrics =
                 [this] { return metrics_.Serialize() + ProcessMetrics(); },
             .ready = [this] { return ready_.load(); }}));
    ready_ = true;
    SetHealth(true);
    StartLocalWorker();
    return absl::OkStatus();
  }

  std::string grpc_address() const override {
    return absl::StrCat(HostOf(config_.listen), ":", grpc_port_);
  }
  std::string http_address() const override {
    return absl::StrCat(HostOf(config_.http), ":", http_->port());
  }

  bool Drain() override {
    absl::MutexLock lock(&drain_mu_);
    if (grpc_ == nullptr) return tunings_.AwaitStopped(absl::ZeroDuration());
    ready_ = false;
    local_worker_ = nullptr;
    SetHealth(false);
    absl::SleepFor(config_.drain_delay);
    tunings_.Drain();
    fleet_.Drain();
    const absl::Time deadline = SystemClock().Now() + config_.drain_grace;
    grpc_->Shutdown(absl::ToChronoTime(deadline));
    grpc_.reset();
    const bool stopped = tunings_.AwaitStopped(
        std::max(absl::ZeroDuration(), deadline - SystemClock().Now()));
    http_.reset();
    return stopped;
  }

 private:
  absl::Status StartGrpc() {
    grpc::EnableDefaultHealthCheckService(true);
    if (config_.reflection) {
      // Process-wide, and kept once: all servers of a process have it then.
      static const bool once = [] {
        grpc::reflection::InitProtoReflectionServerBuilderPlugin();
        return true;
      }();
      (void)once;
    }
    for (const auto& make :
         {MakeAdminService, MakeCacheService, MakeCompileService,
          MakeEnvironmentService, MakeModuleService, MakeOperationsService,
          MakeTuningService, MakeWorkerService}) {
      services_.push_back(make(runtime_));
    }
    grpc::ServerBuilder builder;
    for (const auto& service : services_) {
      builder.RegisterService(service.get());
    }
    builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
    builder.SetMaxSendMessageSize(-1);
    builder.SetResourceQuota(grpc::ResourceQuota("honed").Resize(
        static_cast<size_t>(config_.rpc_memory_bytes)));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               kMaxConcurrentStreams);
    // A second daemon on the same port is an error, not a partner.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // Clients that wait on a stream may ping to keep it open.
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 15'000);
    builder.AddListeningPort(config_.listen, grpc::InsecureServerCredentials(),
                             &grpc_port_);
    grpc_ = builder.BuildAndStart();
    if (grpc_ == nullptr || grpc_port_ == 0) {
      grpc_.reset();
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", config_.listen,
                       " for gRPC, expected a free port of this machine"));
    }
    return absl::OkStatus();
  }

  void StartLocalWorker() {
    if (!config_.local_worker) return;
    const std::string program = LocalWorker::BinaryBesideThis();
    if (program.empty()) {
      spdlog::warn("no program hone beside this one: no local worker");
      return;
    }
    local_worker_ = std::make_unique<LocalWorker>(program, grpc_address(),
                                                  config_.log_json);
  }

  void SetHealth(bool serving) {
    auto& health = *grpc_->GetHealthCheckService();
    health.SetServingStatus(serving);
    for (const char* service :
         {"google.longrunning.Operations", "hone.v1.AdminService",
          "hone.v1.CacheService", "hone.v1.CompileService",
          "hone.v1.EnvironmentService", "hone.v1.ModuleService",
          "hone.v1.TuningService", "hone.v1.WorkerService"}) {
      health.SetServingStatus(service, serving);
    }
  }

  Config config_;
  // In the order of creation: each needs those before it until its end.
  Metrics metrics_;
  ObservedStore store_;
  ModuleLoader modules_{store_};
  // Evaluates modules, for all tunings.
  ThreadPool evaluation_pool_{Cores()};
  Fleet fleet_;
  FleetKernels kernels_{fleet_, /*waits=*/true};
  FleetKernels present_devices_{fleet_, /*waits=*/false};
  tuning::TunerContext tuner_{.store = &store_,
                              .clock = &SystemClock(),
                              .pool = &evaluation_pool_,
                              .kernels = &kernels_};
  TuningExecutor tunings_{tuner_,
                          metrics_,
                          {.max_running = config_.max_running_tunings,
                           .max_queued = config_.max_queued_tunings}};
  EnvironmentRegistry environments_;
  Runtime runtime_{.config = config_,
                   .metrics = metrics_,
                   .store = store_,
                   .modules = modules_,
                   .tunings = tunings_,
                   .environments = environments_,
                   .fleet = fleet_,
                   .tuner = tuner_,
                   .present_devices = present_devices_,
                   .pool = pool_};
  std::vector<std::unique_ptr<grpc::Service>> services_;
  // Ends before what its tasks use.
  ThreadPool pool_{std::max<size_t>(4, 2 * Cores())};
  std::atomic<bool> ready_ = false;
  int grpc_port_ = 0;
  absl::Mutex drain_mu_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<LocalWorker> local_worker_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    const Config& config, std::unique_ptr<storage::Store> store,
    const Clock& clock) {
  HONE_RETURN_IF_ERROR(ValidateConfig(config));
  auto server = std::make_unique<GrpcServer>(config, std::move(store), clock);
  HONE_RETURN_IF_ERROR(server->StartServing());
  return server;
}

absl::StatusOr<std::unique_ptr<storage::Store>> OpenStore(
    const Config& config) {
  return storage::SqliteStore::Create(config.state);
}

}  // namespace hone::daemon
