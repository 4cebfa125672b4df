#include "daemon/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "daemon/access/addresses.h"
#include "daemon/access/authenticator.h"
#include "daemon/access/byte_account.h"
#include "daemon/access/call_pools.h"
#include "daemon/access/methods.h"
#include "daemon/access/transport_credentials.h"
#include "daemon/access/unix_listener.h"
#include "daemon/environment_registry.h"
#include "daemon/fleet/fleet.h"
#include "daemon/fleet/fleet_kernels.h"
#include "daemon/fleet/kernel_canary.h"
#include "daemon/fleet/local_worker.h"
#include "daemon/limits.h"
#include "daemon/quarantine.h"
#include "daemon/services/call.h"
#include "daemon/services/module_loader.h"
#include "daemon/services/services.h"
#include "daemon/store_keeper.h"
#include "daemon/telemetry/background_refresh.h"
#include "daemon/telemetry/http_server.h"
#include "daemon/telemetry/metrics.h"
#include "daemon/telemetry/observed_store.h"
#include "daemon/telemetry/process_metrics.h"
#include "daemon/tuning_executor.h"
#include "storage/sqlite/sqlite_store.h"
#include "work/work_pool.h"

namespace hone::daemon {
namespace {

size_t Cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// gRPC itself refuses larger messages, without a reason: the daemon does so
// from kMaxMessageBytes on.
constexpr int kLargestReceivedBytes = 2 * static_cast<int>(kMaxMessageBytes);

// How long a scrape waits for the statistics of the store; after that it shows
// the last ones.
constexpr absl::Duration kStatsPatience = absl::Milliseconds(250);

std::string WithPort(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

class GrpcServer final : public Server {
 public:
  GrpcServer(const Config& config, std::unique_ptr<storage::Store> store,
             const Clock& clock)
      : config_(config),
        clock_(clock),
        store_(std::move(store), metrics_, config_.state),
        fleet_(clock, metrics_,
               {.lease = config_.worker_lease,
                .max_module_bytes = config_.max_module_bytes,
                .canary = KernelCanary()}),
        environments_(
            clock, metrics_, process_,
            {.max_environments = config_.max_environments,
             .memory_bytes = config_.environment_memory_bytes,
             .idle = config_.environment_idle,
             .processes = static_cast<int>(EnvironmentProcesses(Cores()))}) {}

  ~GrpcServer() override {
    config_.drain_delay = absl::ZeroDuration();
    Drain();
  }

  absl::Status StartServing() {
    HONE_ASSIGN_OR_RETURN(authenticator_,
                          Authenticator::Create(config_.tokens));
    runtime_.emplace(Runtime{.config = config_,
                             .metrics = metrics_,
                             .store = store_,
                             .modules = modules_,
                             .tunings = tunings_,
                             .environments = environments_,
                             .fleet = fleet_,
                             .present_devices = present_devices_,
                             .authenticator = *authenticator_,
                             .pools = pools_,
                             .bytes = bytes_,
                             .requests = requests_,
                             .background = background_,
                             .quarantine = quarantine_,
                             .request_ids = request_ids_});
    for (const Limit& limit : Limits()) {
      const double value = limit.value(config_);
      if (value != 0) metrics_.LimitValue(std::string(limit.name)).Set(value);
    }
    HONE_RETURN_IF_ERROR(store_.Stats().status());
    metrics_.OnCollect([this] { store_stats_.Run(kStatsPatience); });
    if (process_.program.empty()) {
      return absl::FailedPreconditionError(
          "no program hone beside honed, expected both in one folder");
    }
    HONE_RETURN_IF_ERROR(quarantine_.Load());
    HONE_RETURN_IF_ERROR(requests_.Start());
    HONE_RETURN_IF_ERROR(searches_.Start());
    HONE_RETURN_IF_ERROR(tunings_.ResumeUnfinished());
    HONE_RETURN_IF_ERROR(StartGrpc());
    HONE_ASSIGN_OR_RETURN(
        http_,
        HttpServer::Start(
            config_.http,
            {.metrics =
                 [this] { return metrics_.Serialize() + ProcessMetrics(); },
             .ready = [this] { return ready_.load(); }},
            config_.http_hosts));
    ready_ = true;
    SetHealth(true);
    store_keeper_ = std::make_unique<StoreKeeper>(
        store_,
        storage::RetentionPolicy{.max_age = config_.max_age,
                                 .max_bytes = config_.max_store_bytes},
        [this](bool writable) { SetTuningHealth(writable); });
    StartLocalWorker();
    return absl::OkStatus();
  }

  std::vector<std::string> grpc_addresses() const override {
    return addresses_;
  }
  std::string http_address() const override {
    return WithPort(config_.http, http_->port());
  }

  absl::Status Reload() override { return authenticator_->Reload(); }

  bool Drain() override {
    absl::MutexLock lock(&drain_mu_);
    if (grpc_ == nullptr) return tunings_.AwaitStopped(absl::ZeroDuration());
    ready_ = false;
    // Or it would say that tunings are served.
    store_keeper_ = nullptr;
    SetHealth(false);
    absl::SleepFor(config_.drain_delay);
    local_worker_ = nullptr;
    tunings_.Drain();
    fleet_.Drain();
    environments_.Drain();
    unix_listeners_.clear();
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
      services_.push_back(make(*runtime_));
    }
    grpc::ServerBuilder builder;
    for (const auto& service : services_) {
      builder.RegisterService(service.get());
    }
    builder.SetMaxReceiveMessageSize(kLargestReceivedBytes);
    builder.SetMaxSendMessageSize(-1);
    builder.SetResourceQuota(grpc::ResourceQuota("honed").Resize(
        static_cast<size_t>(config_.rpc_memory_bytes)));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               config_.max_streams_per_connection);
    // Connections that say nothing are closed.
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
    // A second daemon on the same port is an error, not a partner.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // Clients that wait on a stream may ping to keep it open.
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 15'000);
    HONE_ASSIGN_OR_RETURN(const auto tcp_credentials, TcpCredentials(config_));
    addresses_ = config_.listen_addresses();
    // gRPC writes to the ports when it starts.
    std::vector<int> ports(addresses_.size());
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (UnixPath(addresses_[i]).has_value()) {
        acceptors_.push_back(
            builder.experimental().AddExternalConnectionAcceptor(
                grpc::ServerBuilder::experimental_type::ExternalConnectionType::
                    FROM_FD,
                // UnixListener has checked who connects.
                grpc::InsecureServerCredentials()));
      } else {
        builder.AddListeningPort(addresses_[i], tcp_credentials, &ports[i]);
      }
    }
    grpc_ = builder.BuildAndStart();
    size_t unix_sockets = 0;
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (const std::optional<std::string> path = UnixPath(addresses_[i])) {
        if (grpc_ == nullptr) continue;
        HONE_RETURN_IF_ERROR(ListenAt(*path, *acceptors_[unix_sockets++]));
      } else if (ports[i] == 0) {
        grpc_.reset();
        return absl::UnavailableError(
            absl::StrCat("cannot listen on ", addresses_[i],
                         " for gRPC, expected a free port of this machine"));
      } else {
        addresses_[i] = WithPort(addresses_[i], ports[i]);
      }
    }
    if (grpc_ == nullptr) {
      return absl::UnavailableError(
          "cannot serve gRPC, expected addresses and certificates that fit");
    }
    return absl::OkStatus();
  }

  absl::Status ListenAt(
      const std::string& path,
      grpc::experimental::ExternalConnectionAcceptor& acceptor) {
    HONE_ASSIGN_OR_RETURN(auto listener,
                          UnixListener::Start(path, [&acceptor](int fd) {
                            grpc::experimental::ExternalConnectionAcceptor::
                                NewConnectionParameters connection;
                            connection.fd = fd;
                            acceptor.HandleNewConnection(&connection);
                          }));
    unix_listeners_.push_back(std::move(listener));
    return absl::OkStatus();
  }

  // Returns an address that needs neither a token nor a certificate; empty if
  // there is none.
  std::string LocalAddress() const {
    for (const std::string& address : addresses_) {
      if (UnixPath(address).has_value()) return address;
    }
    const bool is_open = config_.tokens.empty() && config_.tls_cert.empty();
    return is_open ? addresses_.front() : "";
  }

  void StartLocalWorker() {
    if (!config_.local_worker) return;
    const std::string address = LocalAddress();
    if (address.empty()) {
      spdlog::warn("server.listen has no unix:PATH: no local worker");
      return;
    }
    local_worker_ = std::make_unique<LocalWorker>(
        LocalWorker::Options{
            .program = process_.program,
            .server = address,
            .log_json = config_.log_json,
            .is_connected =
                [this](absl::string_view id) { return fleet_.IsConnected(id); },
            .longest_silence =
                std::max(3 * config_.worker_lease, absl::Seconds(15))},
        clock_);
  }

  void SetHealth(bool serving) {
    auto& health = *grpc_->GetHealthCheckService();
    health.SetServingStatus(serving);
    for (const std::string& service : ServiceNames()) {
      health.SetServingStatus(service, serving);
    }
  }

  // Lookups are served whatever happens to the disk; tunings are not.
  void SetTuningHealth(bool serving) {
    auto& health = *grpc_->GetHealthCheckService();
    health.SetServingStatus("hone.v1.TuningService", serving);
    health.SetServingStatus("hone.v1.CompileService", serving);
  }

  Config config_;
  const Clock& clock_;
  // In the order of creation: each needs those before it until its end.
  Metrics metrics_;
  ObservedStore store_;
  const work::WorkProcessOptions process_{
      .program = LocalWorker::BinaryBesideThis(),
      .memory_bytes = config_.process_memory_bytes};
  // Where modules are read and tunings run.
  work::WorkPool requests_{process_, std::max(2, static_cast<int>(Cores()))};
  work::WorkPool searches_{process_, config_.max_running_tunings};
  Quarantine quarantine_{store_, metrics_};
  ModuleLoader modules_{store_, requests_, quarantine_};
  Fleet fleet_;
  FleetKernels kernels_{fleet_, /*waits=*/true};
  FleetKernels present_devices_{fleet_, /*waits=*/false};
  work::ProcessSearcher searcher_{searches_, &kernels_};
  tuning::TunerContext tuner_{.store = &store_,
                              .clock = &SystemClock(),
                              .kernels = &present_devices_,
                              .searcher = &searcher_};
  TuningExecutor tunings_{
      tuner_,
      quarantine_,
      metrics_,
      {.max_running = config_.max_running_tunings,
       .max_queued = config_.max_queued_tunings,
       .wait_for_device = [this](absl::string_view target,
                                 std::function<void()> wake) {
         return fleet_.WaitForDevice(target, std::move(wake));
       }}};
  EnvironmentRegistry environments_;
  BackgroundRefresh store_stats_{[this] {
    // On an error the gauges keep their last values.
    (void)store_.Stats();
  }};
  std::unique_ptr<Authenticator> authenticator_;
  RequestIds request_ids_;
  std::optional<Runtime> runtime_;
  ByteAccount bytes_{config_.max_bytes_in_flight,
                     config_.max_client_bytes_in_flight,
                     metrics_.LimitUsed("max_bytes_in_flight")};
  std::vector<std::unique_ptr<grpc::Service>> services_;
  // These end before what their tasks use.
  ThreadPool background_{2 * std::max<size_t>(2, Cores())};
  CallPools pools_{Cores(), config_.max_waiting_calls};
  std::atomic<bool> ready_ = false;
  std::vector<std::string> addresses_;
  absl::Mutex drain_mu_;
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>>
      acceptors_;
  std::unique_ptr<grpc::Server> grpc_;
  std::vector<std::unique_ptr<UnixListener>> unix_listeners_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<LocalWorker> local_worker_;
  std::unique_ptr<StoreKeeper> store_keeper_;
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
  const std::filesystem::path folder(config.state);
  std::error_code ignored;
  std::filesystem::create_directories(folder.parent_path(), ignored);
  // If it fails, the store says why.
  mkdir(folder.c_str(), S_IRWXU);
  return storage::SqliteStore::Create(config.state);
}

}  // namespace hone::daemon
