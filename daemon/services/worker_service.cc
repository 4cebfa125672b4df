#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/time/time.h"

#include "base/status_macros.h"
#include "daemon/access/principal.h"
#include "daemon/services/services.h"
#include "hone/v1/worker_service.grpc.pb.h"

namespace hone::daemon {
namespace {

// Returns true if the worker has an idle device and the answer tells it nothing
// new.
bool MayWait(const v1::SynchronizeRequest& request,
             const v1::SynchronizeResponse& response) {
  return request.state() == v1::SynchronizeRequest::ACTIVE &&
         request.executing_size() < request.devices_size() &&
         response.receipts().empty() && !response.drain() &&
         response.execute_size() == request.executing_size() &&
         absl::c_none_of(response.execute(), [](const auto& execute) {
           return execute.has_work();
         });
}

class WorkerService final : public v1::WorkerService::CallbackService {
 public:
  explicit WorkerService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Synchronize(
      grpc::CallbackServerContext* context,
      const v1::SynchronizeRequest* request,
      v1::SynchronizeResponse* response) override {
    auto* call =
        new UnaryCall(runtime_, synchronize_, *context, *request, *response);
    call->Start(
        [this, context, request,
         response]() -> absl::StatusOr<std::optional<Wait>> {
          HONE_ASSIGN_OR_RETURN(*response, runtime_.fleet.Synchronize(
                                               *request, CallerOf(*context)));
          if (!MayWait(*request, *response)) return std::nullopt;
          const absl::Duration timeout = std::min(
              {runtime_.fleet.longest_wait(), 0.9 * RemainingTime(*context),
               absl::Seconds(request->longest_wait().seconds()) +
                   absl::Nanoseconds(request->longest_wait().nanos())});
          if (timeout <= absl::ZeroDuration()) return std::nullopt;
          return Wait{[this, request](std::function<void()> wake) {
                        return runtime_.fleet.WaitForWork(request->worker_id(),
                                                          std::move(wake));
                      },
                      timeout};
        },
        [this, context, request, response]() -> absl::Status {
          HONE_ASSIGN_OR_RETURN(*response, runtime_.fleet.Synchronize(
                                               *request, CallerOf(*context)));
          return absl::OkStatus();
        });
    return call;
  }

  grpc::ServerUnaryReactor* ReadModule(
      grpc::CallbackServerContext* context,
      const v1::ReadModuleRequest* request,
      v1::ReadModuleResponse* response) override {
    return Handle(runtime_, read_module_, context, request, response,
                  [this](const v1::ReadModuleRequest& asked,
                         v1::ReadModuleResponse& part) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(*part.mutable_chunk(),
                                          runtime_.fleet.ReadModule(
                                              asked.digest(), asked.offset()));
                    return absl::OkStatus();
                  });
  }

 private:
  WorkerCaller CallerOf(const grpc::CallbackServerContext& context) const {
    const std::string peer = context.peer();
    return {.address = peer.substr(0, peer.rfind(':')),
            .principal = PrincipalOf(runtime_.authenticator, context)};
  }

  Runtime& runtime_;
  const MethodMetrics synchronize_ =
      runtime_.metrics.Method("hone.v1.WorkerService/Synchronize");
  const MethodMetrics read_module_ =
      runtime_.metrics.Method("hone.v1.WorkerService/ReadModule");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeWorkerService(Runtime& runtime) {
  return std::make_unique<WorkerService>(runtime);
}

}  // namespace hone::daemon
