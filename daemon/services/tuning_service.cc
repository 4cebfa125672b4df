#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/request_ids.h"
#include "daemon/services/convert.h"
#include "daemon/services/operation.h"
#include "daemon/services/services.h"
#include "daemon/services/tuning_request.h"
#include "daemon/services/watch_call.h"
#include "hone/v1/tuning_service.grpc.pb.h"

namespace hone::daemon {
namespace {

using google::longrunning::Operation;

class TuningService final : public v1::TuningService::CallbackService {
 public:
  explicit TuningService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Tune(grpc::CallbackServerContext* context,
                                 const v1::TuneRequest* request,
                                 Operation* response) override {
    return Handle(
        runtime_, tune_, context, request, response,
        [this, context](const v1::TuneRequest& asked, Operation& operation,
                        const CancelledPredicate& cancelled) {
          const std::string caller = runtime_.authenticator.CallerOf(*context);
          return ServeOnce(
              runtime_.request_ids, caller, asked, operation, cancelled,
              [&] { return StartTuning(asked, caller, operation, cancelled); });
        });
  }

  grpc::ServerWriteReactor<v1::WatchTuningResponse>* WatchTuning(
      grpc::CallbackServerContext* context,
      const v1::WatchTuningRequest* request) override {
    return new WatchCall(runtime_, watch_tuning_, *context, *request);
  }

  grpc::ServerUnaryReactor* GetTuning(grpc::CallbackServerContext* context,
                                      const v1::GetTuningRequest* request,
                                      v1::Tuning* response) override {
    return Handle(runtime_, get_tuning_, context, request, response,
                  [this](const v1::GetTuningRequest& asked,
                         v1::Tuning& tuning) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const std::string id,
                                          TuningId(asked.name()));
                    HONE_ASSIGN_OR_RETURN(const TuningUpdate update,
                                          runtime_.tunings.Get(id));
                    ToProto(update.tuning, tuning);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* ListTunings(
      grpc::CallbackServerContext* context,
      const v1::ListTuningsRequest* request,
      v1::ListTuningsResponse* response) override {
    return Handle(
        runtime_, list_tunings_, context, request, response,
        [this](const v1::ListTuningsRequest& asked,
               v1::ListTuningsResponse& proto) -> absl::Status {
          HONE_RETURN_IF_ERROR(CheckParent(asked.parent()));
          std::vector<storage::TuningState> states;
          for (const int state : asked.states()) {
            if (state < v1::Tuning::PENDING || state > v1::Tuning::CANCELLED) {
              return InvalidField("states", "unknown state");
            }
            states.push_back(FromProto(static_cast<v1::Tuning::State>(state)));
          }
          const auto page = runtime_.store.ListTunings(
              states, asked.page_size(), asked.page_token());
          if (!page.ok()) return InPage(asked.page_size(), page.status());
          for (const storage::Tuning& tuning : page->items) {
            ToProto(tuning, *proto.add_tunings());
          }
          proto.set_next_page_token(page->next_page_token);
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* CancelTuning(
      grpc::CallbackServerContext* context,
      const v1::CancelTuningRequest* request,
      v1::CancelTuningResponse* response) override {
    return Handle(
        runtime_, cancel_tuning_, context, request, response,
        [this, context](const v1::CancelTuningRequest& asked,
                        v1::CancelTuningResponse& proto) -> absl::Status {
          HONE_ASSIGN_OR_RETURN(const std::string id, TuningId(asked.name()));
          HONE_RETURN_IF_ERROR(CheckRequestId(asked.request_id()));
          if (asked.force() &&
              !runtime_.authenticator.HasRole(*context, Role::kAdmin)) {
            return WithReason(
                absl::PermissionDeniedError(
                    "force, expected a token with the role admin"),
                "PERMISSION_DENIED", {{"role", "admin"}});
          }
          HONE_ASSIGN_OR_RETURN(
              const TuningExecutor::Departure departure,
              runtime_.tunings.Leave(
                  id,
                  {.caller = runtime_.authenticator.CallerOf(*context),
                   .request_id = asked.request_id()},
                  asked.force()));
          ToProto(departure.tuning, *proto.mutable_tuning());
          proto.set_shares_left(departure.shares_left);
          return absl::OkStatus();
        });
  }

 private:
  absl::Status StartTuning(const v1::TuneRequest& asked,
                           const std::string& caller, Operation& operation,
                           const CancelledPredicate& cancelled) {
    HONE_RETURN_IF_ERROR(CheckParent(asked.parent()));
    HONE_ASSIGN_OR_RETURN(CheckedRequest checked,
                          CheckedRequest::Read(runtime_, asked.module(),
                                               asked.spec(), cancelled));
    if (asked.validate_only()) {
      operation.set_done(true);
      operation.mutable_response()->PackFrom(v1::TuneResponse());
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        const TuningExecutor::Submission submission,
        checked.Submit({.caller = caller, .request_id = asked.request_id()},
                       /*use_cache=*/!asked.skip_cache()));
    if (submission.cached.has_value()) {
      return Cached(*submission.cached, operation);
    }
    runtime_.metrics.CacheRequests(asked.skip_cache() ? "bypass" : "miss")
        .Increment();
    HONE_ASSIGN_OR_RETURN(const TuningUpdate started,
                          runtime_.tunings.Get(submission.tuning.id));
    operation = OperationOf(started);
    return absl::OkStatus();
  }

  absl::Status Cached(const storage::Record& record, Operation& operation) {
    runtime_.metrics.CacheRequests("hit").Increment();
    TuningUpdate update;
    absl::StatusOr<storage::Tuning> tuning =
        runtime_.store.GetTuning(record.tuning_id);
    if (tuning.ok()) {
      HONE_ASSIGN_OR_RETURN(update, runtime_.tunings.Describe(*tuning));
    } else {  // Published without one, or it is lost.
      update.tuning.id = record.tuning_id;
      update.tuning.key = record.key;
      update.tuning.state = storage::TuningState::kSucceeded;
      update.progress.phase = tuning::Progress::Phase::kDone;
    }
    update.record = record;
    operation = OperationOf(update, /*cached=*/true);
    return absl::OkStatus();
  }

  Runtime& runtime_;
  const MethodMetrics tune_ =
      runtime_.metrics.Method("hone.v1.TuningService/Tune");
  const MethodMetrics watch_tuning_ =
      runtime_.metrics.Method("hone.v1.TuningService/WatchTuning");
  const MethodMetrics get_tuning_ =
      runtime_.metrics.Method("hone.v1.TuningService/GetTuning");
  const MethodMetrics list_tunings_ =
      runtime_.metrics.Method("hone.v1.TuningService/ListTunings");
  const MethodMetrics cancel_tuning_ =
      runtime_.metrics.Method("hone.v1.TuningService/CancelTuning");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTuningService(Runtime& runtime) {
  return std::make_unique<TuningService>(runtime);
}

}  // namespace hone::daemon
