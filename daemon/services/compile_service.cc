#include <algorithm>
#include <memory>

#include "daemon/services/compile_sequence.h"
#include "daemon/services/services.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "proto/duration.h"

namespace hone::daemon {
namespace {

// The share of the call's time that patience may use, so that the default still
// arrives before its deadline.
constexpr double kPatienceShare = 0.9;

class CompileService final : public v1::CompileService::CallbackService {
 public:
  explicit CompileService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Compile(grpc::CallbackServerContext* context,
                                    const v1::CompileRequest* request,
                                    v1::CompileResponse* response) override {
    const absl::Duration patience =
        std::min(FromProtoDuration(request->patience()),
                 kPatienceShare *
                     std::min(RemainingTime(*context), compile_.rule.longest));
    auto compilation = std::make_shared<CompileSequence>(
        runtime_, *request, runtime_.authenticator.CallerOf(*context),
        std::max(absl::ZeroDuration(), patience));
    auto* call =
        new UnaryCall(runtime_, compile_, *context, *request, *response);
    const auto finish = [compilation, response] {
      return compilation->Finish(*response);
    };
    call->Start(
        [compilation, finish]() -> absl::StatusOr<std::optional<Wait>> {
          absl::StatusOr<std::optional<Wait>> wait = compilation->Begin();
          if (wait.ok() && !wait->has_value()) {
            const absl::Status status = finish();
            if (!status.ok()) return status;
          }
          return wait;
        },
        finish);
    return call;
  }

 private:
  Runtime& runtime_;
  const MethodMetrics compile_ =
      runtime_.metrics.Method("hone.v1.CompileService/Compile");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeCompileService(Runtime& runtime) {
  return std::make_unique<CompileService>(runtime);
}

}  // namespace hone::daemon
