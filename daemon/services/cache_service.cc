#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/services/convert.h"
#include "daemon/services/services.h"
#include "hone/v1/cache_service.grpc.pb.h"

namespace hone::daemon {
namespace {

using storage::CacheKey;
using storage::Record;

// Returns what of a specification decides the key.
absl::StatusOr<tuning::TuningSpec> SpecOf(const v1::LookupRequest& proto) {
  tuning::TuningSpec spec;
  if (!proto.task().empty()) spec.task = proto.task();
  spec.target = proto.target();
  HONE_ASSIGN_OR_RETURN(spec.options, FromProto(proto.options()));
  return spec;
}

storage::RecordFilter FilterOf(const v1::RecordFilter& proto) {
  return {.module_fingerprint = proto.module_fingerprint(),
          .target = proto.target(),
          .task = proto.task(),
          .producer = proto.producer()};
}

// Returns the first component in which `found` differs.
std::string MissReason(const CacheKey& asked,
                       const std::optional<Record>& found) {
  if (!found.has_value()) return "empty";
  const CacheKey& key = found->key;
  if (key.module_fingerprint != asked.module_fingerprint) {
    return "module_fingerprint";
  }
  if (key.target != asked.target) return "target";
  if (key.task != asked.task) return "task";
  if (key.task_options != asked.task_options) return "task_options";
  if (key.space_version != asked.space_version) return "space_version";
  // The record is there, and could not be read.
  return "corrupt";
}

class CacheService final : public v1::CacheService::CallbackService {
 public:
  explicit CacheService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context,
                                   const v1::LookupRequest* request,
                                   v1::LookupResponse* response) override {
    auto* call =
        new UnaryCall(runtime_, lookup_, *context, *request, *response);
    // A cached record needs no other thread.
    if (LookupInMemory(*request, *response)) {
      call->End(absl::OkStatus());
    } else {
      call->Start(
          [this, request, response]() -> absl::StatusOr<std::optional<Wait>> {
            HONE_RETURN_IF_ERROR(LookupInStore(*request, *response));
            return std::nullopt;
          });
    }
    return call;
  }

  grpc::ServerUnaryReactor* ExplainLookup(
      grpc::CallbackServerContext* context, const v1::LookupRequest* request,
      v1::ExplainLookupResponse* response) override {
    return Handle(runtime_, explain_lookup_, context, request, response,
                  [this](const v1::LookupRequest& asked,
                         v1::ExplainLookupResponse& proto) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const CacheKey key, KeyOf(asked));
                    HONE_ASSIGN_OR_RETURN(
                        const tuning::LookupExplanation explanation,
                        tuning::ExplainLookup(runtime_.store, key));
                    proto.set_hit(explanation.hit);
                    for (const auto& component : explanation.components) {
                      auto& line = *proto.add_components();
                      line.set_name(component.name);
                      line.set_asked(component.asked);
                      line.set_found(component.found);
                      line.set_matches(component.matches);
                    }
                    proto.set_summary(explanation.summary);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListRecordsRequest* request,
                                 v1::ListRecordsResponse* response) override {
    return Handle(runtime_, list_, context, request, response,
                  [this](const v1::ListRecordsRequest& asked,
                         v1::ListRecordsResponse& proto) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(
                        const auto page,
                        runtime_.store.ListRecords(FilterOf(asked.filter()),
                                                   asked.page_size(),
                                                   asked.page_token()));
                    for (const Record& record : page.items) {
                      ToProto(record, *proto.add_records());
                    }
                    proto.set_next_page_token(page.next_page_token);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* Invalidate(
      grpc::CallbackServerContext* context,
      const v1::InvalidateRequest* request,
      v1::InvalidateResponse* response) override {
    return Handle(runtime_, invalidate_, context, request, response,
                  [this](const v1::InvalidateRequest& asked,
                         v1::InvalidateResponse& proto) -> absl::Status {
                    if (asked.filter().ByteSizeLong() == 0 && !asked.all()) {
                      return InvalidField(
                          "filter", "empty, expected a filter, or all = true");
                    }
                    HONE_ASSIGN_OR_RETURN(
                        const int64_t removed,
                        runtime_.store.Invalidate(FilterOf(asked.filter())));
                    proto.set_removed(removed);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* Stats(grpc::CallbackServerContext* context,
                                  const v1::CacheStatsRequest* request,
                                  v1::CacheStatsResponse* response) override {
    return Handle(
        runtime_, stats_, context, request, response,
        [this](const auto&, v1::CacheStatsResponse& proto) -> absl::Status {
          HONE_ASSIGN_OR_RETURN(const storage::StoreStats stats,
                                runtime_.store.Stats());
          proto.set_records(stats.records);
          proto.set_tunings(stats.tunings);
          proto.set_trials(stats.trials);
          proto.set_modules(stats.blobs);
          proto.set_bytes(stats.bytes);
          proto.set_wal_bytes(stats.wal_bytes);
          proto.set_schema_version(stats.schema_version);
          proto.set_hits(static_cast<int64_t>(hits_.Value()));
          proto.set_misses(static_cast<int64_t>(misses_.Value()));
          return absl::OkStatus();
        });
  }

 private:
  bool LookupInMemory(const v1::LookupRequest& asked,
                      v1::LookupResponse& response) {
    const std::optional<std::string> fingerprint =
        asked.has_module_digest()
            ? runtime_.modules.RememberedFingerprint(asked.module_digest())
            : asked.module_fingerprint();
    if (!fingerprint.has_value()) return false;
    const absl::StatusOr<tuning::TuningSpec> spec = SpecOf(asked);
    if (!spec.ok()) return false;
    const absl::StatusOr<CacheKey> key =
        tuning::MakeCacheKey(*fingerprint, *spec, &runtime_.present_devices);
    if (!key.ok()) return false;
    const std::optional<Record> record = runtime_.store.RememberedRecord(*key);
    if (!record.has_value()) return false;
    hits_.Increment();
    ToProto(*record, *response.mutable_record());
    return true;
  }

  absl::Status LookupInStore(const v1::LookupRequest& asked,
                             v1::LookupResponse& response) {
    HONE_ASSIGN_OR_RETURN(const CacheKey key, KeyOf(asked));
    const absl::StatusOr<Record> record = runtime_.store.Lookup(key);
    if (record.ok()) {
      hits_.Increment();
      ToProto(*record, *response.mutable_record());
      return absl::OkStatus();
    }
    // A corrupt record is a miss; the store has counted it.
    if (!absl::IsNotFound(record.status()) &&
        !absl::IsDataLoss(record.status())) {
      runtime_.metrics.CacheRequests("error").Increment();
      return record.status();
    }
    misses_.Increment();
    HONE_ASSIGN_OR_RETURN(const std::optional<Record> nearest,
                          runtime_.store.FindNearest(key));
    const std::string reason = MissReason(key, nearest);
    runtime_.metrics.CacheMissReason(reason).Increment();
    return WithReason(absl::NotFoundError(absl::StrCat(
                          "no result for ", key.task, " of ",
                          key.module_fingerprint, " (", reason, ")")),
                      "CACHE_MISS", {{"miss_reason", reason}});
  }

  absl::StatusOr<CacheKey> KeyOf(const v1::LookupRequest& asked) {
    std::string fingerprint = asked.module_fingerprint();
    if (asked.has_module_digest()) {
      HONE_ASSIGN_OR_RETURN(fingerprint, runtime_.modules.FingerprintOfDigest(
                                             asked.module_digest()));
    }
    if (fingerprint.empty()) {
      return InvalidField(
          "module", "empty, expected module_fingerprint or module_digest");
    }
    HONE_ASSIGN_OR_RETURN(const tuning::TuningSpec spec, SpecOf(asked));
    return tuning::MakeCacheKey(fingerprint, spec, &runtime_.present_devices);
  }

  Runtime& runtime_;
  prometheus::Counter& hits_ = runtime_.metrics.CacheRequests("hit");
  prometheus::Counter& misses_ = runtime_.metrics.CacheRequests("miss");
  const MethodMetrics lookup_ =
      runtime_.metrics.Method("hone.v1.CacheService/Lookup");
  const MethodMetrics explain_lookup_ =
      runtime_.metrics.Method("hone.v1.CacheService/ExplainLookup");
  const MethodMetrics list_ =
      runtime_.metrics.Method("hone.v1.CacheService/List");
  const MethodMetrics invalidate_ =
      runtime_.metrics.Method("hone.v1.CacheService/Invalidate");
  const MethodMetrics stats_ =
      runtime_.metrics.Method("hone.v1.CacheService/Stats");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeCacheService(Runtime& runtime) {
  return std::make_unique<CacheService>(runtime);
}

}  // namespace hone::daemon
