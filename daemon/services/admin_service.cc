#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "daemon/limits.h"
#include "daemon/services/services.h"
#include "hlo/passes/registry.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "optimizers/registry.h"
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
    auto& idle = *limits.mutable_environment_idle_timeout();
    idle.set_seconds(absl::ToInt64Seconds(config.environment_idle));
    idle.set_nanos(static_cast<int32_t>(
        absl::ToInt64Nanoseconds(config.environment_idle % absl::Seconds(1))));
    limits.set_max_batch_steps(kMaxBatchSteps);
    HONE_ASSIGN_OR_RETURN(const storage::StoreStats stats,
                          runtime_.store.Stats());
    info.set_schema_version(stats.schema_version);
    info.mutable_start_time()->set_seconds(absl::ToUnixSeconds(start_time_));
    info.set_draining(runtime_.tunings.draining());
    return absl::OkStatus();
  }

  Runtime& runtime_;
  const absl::Time start_time_ = SystemClock().Now();
  const MethodMetrics get_server_info_ =
      runtime_.metrics.Method("hone.v1.AdminService/GetServerInfo");
  const MethodMetrics list_workers_ =
      runtime_.metrics.Method("hone.v1.AdminService/ListWorkers");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(Runtime& runtime) {
  return std::make_unique<AdminService>(runtime);
}

}  // namespace hone::daemon
