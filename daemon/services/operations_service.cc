#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/longrunning/operations.grpc.pb.h"

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"
#include "daemon/services/operation.h"
#include "daemon/services/services.h"

namespace hone::daemon {
namespace {

using google::longrunning::Operation;

class OperationsService final
    : public google::longrunning::Operations::CallbackService {
 public:
  explicit OperationsService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* GetOperation(
      grpc::CallbackServerContext* context,
      const google::longrunning::GetOperationRequest* request,
      Operation* response) override {
    return Handle(runtime_, get_, context, request, response,
                  [this](const auto& asked, Operation& operation) {
                    return Fill(asked.name(), operation);
                  });
  }

  grpc::ServerUnaryReactor* ListOperations(
      grpc::CallbackServerContext* context,
      const google::longrunning::ListOperationsRequest* request,
      google::longrunning::ListOperationsResponse* response) override {
    return Handle(
        runtime_, list_, context, request, response,
        [this](const auto& asked, auto& proto) -> absl::Status {
          if (!asked.filter().empty()) {
            return InvalidField("filter", "not supported, expected none");
          }
          HONE_RETURN_IF_ERROR(CheckParent(asked.name(), "name"));
          auto page = runtime_.store.ListTunings({}, asked.page_size(),
                                                 asked.page_token());
          if (!page.ok()) return InPage(asked.page_size(), page.status());
          for (storage::Tuning& tuning : page->items) {
            HONE_ASSIGN_OR_RETURN(const TuningUpdate update,
                                  runtime_.tunings.Describe(std::move(tuning)));
            *proto.add_operations() = OperationOf(update);
          }
          proto.set_next_page_token(page->next_page_token);
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* CancelOperation(
      grpc::CallbackServerContext* context,
      const google::longrunning::CancelOperationRequest* request,
      google::protobuf::Empty* response) override {
    return Handle(
        runtime_, cancel_, context, request, response,
        [this, context](const auto& asked, auto&) -> absl::Status {
          HONE_ASSIGN_OR_RETURN(const std::string id,
                                OperationId(asked.name()));
          const absl::Status status =
              runtime_.tunings
                  .Leave(id,
                         {.caller = runtime_.authenticator.CallerOf(*context),
                          .request_id = ""},
                         /*force=*/false)
                  .status();
          if (!absl::IsFailedPrecondition(status)) return status;
          HONE_ASSIGN_OR_RETURN(const TuningUpdate update,
                                runtime_.tunings.Get(id));
          // Too late is no error here.
          return storage::IsTerminal(update.tuning.state) ? absl::OkStatus()
                                                          : status;
        });
  }

  grpc::ServerUnaryReactor* DeleteOperation(
      grpc::CallbackServerContext* context,
      const google::longrunning::DeleteOperationRequest* request,
      google::protobuf::Empty* response) override {
    return Handle(runtime_, delete_, context, request, response,
                  [](const auto&, auto&) {
                    return absl::UnimplementedError(
                        "operations are kept, expected CancelOperation");
                  });
  }

  grpc::ServerUnaryReactor* WaitOperation(
      grpc::CallbackServerContext* context,
      const google::longrunning::WaitOperationRequest* request,
      Operation* response) override {
    auto* call = new UnaryCall(runtime_, wait_, *context, *request, *response);
    call->Start(
        [this, context, request]() -> absl::StatusOr<std::optional<Wait>> {
          HONE_ASSIGN_OR_RETURN(const std::string id,
                                OperationId(request->name()));
          HONE_RETURN_IF_ERROR(runtime_.tunings.Get(id).status());
          // Most of the client's time, so that the answer still gets there.
          absl::Duration timeout = 0.9 * RemainingTime(*context);
          if (request->has_timeout()) {
            timeout = std::min(
                timeout, absl::Seconds(request->timeout().seconds()) +
                             absl::Nanoseconds(request->timeout().nanos()));
          }
          return WaitForTuning(runtime_.tunings, id, timeout);
        },
        [this, request, response] { return Fill(request->name(), *response); });
    return call;
  }

 private:
  absl::Status Fill(absl::string_view name, Operation& operation) {
    HONE_ASSIGN_OR_RETURN(const std::string id, OperationId(name));
    HONE_ASSIGN_OR_RETURN(const TuningUpdate update, runtime_.tunings.Get(id));
    operation = OperationOf(update);
    return absl::OkStatus();
  }

  MethodMetrics Method(absl::string_view name) {
    return runtime_.metrics.Method(
        absl::StrCat("google.longrunning.Operations/", name));
  }

  Runtime& runtime_;
  const MethodMetrics get_ = Method("GetOperation");
  const MethodMetrics list_ = Method("ListOperations");
  const MethodMetrics delete_ = Method("DeleteOperation");
  const MethodMetrics cancel_ = Method("CancelOperation");
  const MethodMetrics wait_ = Method("WaitOperation");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeOperationsService(Runtime& runtime) {
  return std::make_unique<OperationsService>(runtime);
}

}  // namespace hone::daemon
