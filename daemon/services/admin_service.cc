#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/services/services.h"
#include "hlo/passes/registry.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "optimizers/registry.h"
#include "proto/duration.h"
#include "proto/worker_protocol.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

class AdminService final : public v1::AdminService::CallbackService {
 public:
  explicit AdminService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* GetServerInfo(
      grpc::CallbackServerContext* context,
      const v1::GetServerInfoRequest* request,
      v1::GetServerInfoResponse* response) override {
    return Handle(runtime_, get_server_info_, context, request, response,
                  [this](const auto&, v1::GetServerInfoResponse& info) {
                    return FillServerInfo(info);
                  });
  }

  grpc::ServerUnaryReactor* ListWorkers(
      grpc::CallbackServerContext* context,
      const v1::ListWorkersRequest* request,
      v1::ListWorkersResponse* response) override {
    return Handle(runtime_, list_workers_, context, request, response,
                  [this](const auto&, v1::ListWorkersResponse& list) {
                    for (v1::Worker& worker : runtime_.fleet.Workers()) {
                      *list.add_workers() = std::move(worker);
                    }
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* Backup(grpc::CallbackServerContext* context,
                                   const v1::BackupRequest* request,
                                   v1::BackupResponse* response) override {
    return Handle(runtime_, backup_, context, request, response,
                  [this](const v1::BackupRequest& asked,
                         v1::BackupResponse& proto) -> absl::Status {
                    const std::string name =
                        asked.name().empty()
                            ? absl::FormatTime("%Y%m%dT%H%M%SZ",
                                               SystemClock().Now(),
                                               absl::UTCTimeZone())
                            : asked.name();
                    const absl::StatusOr<storage::BackupInfo> info =
                        runtime_.store.Backup(name);
                    if (!info.ok()) return InField("name", info.status());
                    proto.set_name(name);
                    proto.set_path(info->path);
                    proto.set_records(info->records);
                    proto.set_bytes(info->bytes);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* ListQuarantinedModules(
      grpc::CallbackServerContext* context,
      const v1::ListQuarantinedModulesRequest* request,
      v1::ListQuarantinedModulesResponse* response) override {
    return Handle(
        runtime_, list_quarantined_, context, request, response,
        [this](const auto&,
               v1::ListQuarantinedModulesResponse& list) -> absl::Status {
          HONE_ASSIGN_OR_RETURN(const auto modules, runtime_.quarantine.List());
          for (const storage::QuarantinedModule& module : modules) {
            v1::QuarantinedModule& proto = *list.add_modules();
            proto.set_digest(module.digest);
            proto.set_reason(module.reason);
            proto.mutable_quarantine_time()->set_seconds(
                absl::ToUnixSeconds(module.since));
          }
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* ReleaseModule(
      grpc::CallbackServerContext* context,
      const v1::ReleaseModuleRequest* request,
      v1::ReleaseModuleResponse* response) override {
    return Handle(runtime_, release_module_, context, request, response,
                  [this](const v1::ReleaseModuleRequest& asked, const auto&) {
                    return runtime_.quarantine.Release(asked.digest());
                  });
  }

  grpc::ServerUnaryReactor* DrainWorker(grpc::CallbackServerContext* context,
                                        const v1::DrainWorkerRequest* request,
                                        v1::Worker* response) override {
    return Handle(runtime_, drain_worker_, context, request, response,
                  [this](const v1::DrainWorkerRequest& asked,
                         v1::Worker& worker) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(
                        worker, runtime_.fleet.DrainWorker(asked.id()));
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* ReleaseWorker(
      grpc::CallbackServerContext* context,
      const v1::ReleaseWorkerRequest* request, v1::Worker* response) override {
    return Handle(runtime_, release_worker_, context, request, response,
                  [this](const v1::ReleaseWorkerRequest& asked,
                         v1::Worker& worker) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(worker,
                                          runtime_.fleet.Release(asked.id()));
                    return absl::OkStatus();
                  });
  }

 private:
  absl::Status FillServerInfo(v1::GetServerInfoResponse& info) {
    const Config& config = runtime_.config;
    info.set_version(HONE_VERSION);
    info.set_api_version("hone.v1");
    info.set_digest_function("sha256");
    for (const tuning::TaskEntry& entry : tuning::Tasks()) {
      auto& proto = *info.add_tasks();
      proto.set_name(std::string(entry.id));
      proto.set_target(entry.task->default_target());
      proto.set_space_version(entry.task->space_version());
      proto.set_default_optimizer(config.default_optimizer.empty()
                                      ? entry.task->default_optimizer()
                                      : config.default_optimizer);
    }
    for (const optimizers::OptimizerInfo& optimizer :
         optimizers::Optimizers()) {
      auto& proto = *info.add_optimizers();
      proto.set_name(std::string(optimizer.id));
      proto.set_sequential((optimizer.kinds & optimizers::kSequential) != 0);
      proto.set_assignment((optimizer.kinds & optimizers::kAssignment) != 0);
    }
    info.set_default_trials(config.default_trials);
    for (absl::string_view pass : hlo::Passes().ids()) {
      info.add_passes(std::string(pass));
    }
    auto& limits = *info.mutable_limits();
    limits.set_max_message_bytes(kMaxMessageBytes);
    limits.set_max_inline_bytes(kMaxInlineBytes);
    limits.set_max_module_bytes(config.max_module_bytes);
    limits.set_min_chunk_bytes(kMinChunkBytes);
    limits.set_max_chunk_bytes(kMaxChunkBytes);
    limits.set_max_query_digests(kMaxQueryDigests);
    limits.set_max_page_size(kMaxPageSize);
    limits.set_max_running_tunings(config.max_running_tunings);
    limits.set_max_queued_tunings(config.max_queued_tunings);
    limits.set_max_environments(config.max_environments);
    *limits.mutable_environment_idle_timeout() =
        ToProtoDuration(config.environment_idle);
    limits.set_max_batch_steps(kMaxBatchSteps);
    // Read when the daemon started: nothing here waits for the store.
    info.set_schema_version(
        static_cast<int32_t>(runtime_.metrics.schema_version.Value()));
    info.mutable_start_time()->set_seconds(absl::ToUnixSeconds(start_time_));
    info.set_draining(runtime_.tunings.draining());
    info.set_min_worker_protocol(kMinWorkerProtocol);
    info.set_max_worker_protocol(kMaxWorkerProtocol);
    return absl::OkStatus();
  }

  Runtime& runtime_;
  const absl::Time start_time_ = SystemClock().Now();
  const MethodMetrics get_server_info_ =
      runtime_.metrics.Method("hone.v1.AdminService/GetServerInfo");
  const MethodMetrics list_workers_ =
      runtime_.metrics.Method("hone.v1.AdminService/ListWorkers");
  const MethodMetrics backup_ =
      runtime_.metrics.Method("hone.v1.AdminService/Backup");
  const MethodMetrics list_quarantined_ =
      runtime_.metrics.Method("hone.v1.AdminService/ListQuarantinedModules");
  const MethodMetrics release_module_ =
      runtime_.metrics.Method("hone.v1.AdminService/ReleaseModule");
  const MethodMetrics drain_worker_ =
      runtime_.metrics.Method("hone.v1.AdminService/DrainWorker");
  const MethodMetrics release_worker_ =
      runtime_.metrics.Method("hone.v1.AdminService/ReleaseWorker");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(Runtime& runtime) {
  return std::make_unique<AdminService>(runtime);
}

}  // namespace hone::daemon
