#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"

#include "base/status_macros.h"
#include "daemon/services/services.h"
#include "hone/v1/worker_service.grpc.pb.h"

namespace hone::daemon {
namespace {

// However long a worker would wait: connections are seen to be alive.
constexpr absl::Duration kLongestWait = absl::Seconds(30);

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
          HONE_ASSIGN_OR_RETURN(*response,
                                runtime_.fleet.Synchronize(*request));
          // Receipts are not kept waiting.
          if (!request->has_idle() || !response->has_idle() ||
              !response->receipts().empty()) {
            return std::nullopt;
          }
          const absl::Duration timeout = std::min(
              {kLongestWait, 0.9 * RemainingTime(*context),
               absl::Seconds(request->longest_wait().seconds()) +
                   absl::Nanoseconds(request->longest_wait().nanos())});
          if (timeout <= absl::ZeroDuration()) return std::nullopt;
          return Wait{[this](std::function<void()> wake) {
                        return runtime_.fleet.WaitForWork(std::move(wake));
                      },
                      timeout};
        },
        [this, request, response]() -> absl::Status {
          HONE_ASSIGN_OR_RETURN(*response,
                                runtime_.fleet.Synchronize(*request));
          return absl::OkStatus();
        });
    return call;
  }

 private:
  Runtime& runtime_;
  const MethodMetrics synchronize_ =
      runtime_.metrics.Method("hone.v1.WorkerService/Synchronize");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeWorkerService(Runtime& runtime) {
  return std::make_unique<WorkerService>(runtime);
}

}  // namespace hone::daemon
