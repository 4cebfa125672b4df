#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/may_block.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "daemon/services/convert.h"
#include "daemon/services/services.h"
#include "hone/v1/cache_service.grpc.pb.h"

namespace hone::daemon {
namespace {

using storage::CacheKey;
using storage::Record;

// Returns what of a specification decides the key.
// Errors: also those of CheckParent.
absl::StatusOr<tuning::TuningSpec> SpecOf(const v1::LookupRequest& proto) {
  HONE_RETURN_IF_ERROR(CheckParent(proto.parent()));
  tuning::TuningSpec spec;
  if (!proto.task().empty()) spec.task = proto.task();
  spec.target = proto.target();
  HONE_ASSIGN_OR_RETURN(spec.options, FromProto(proto.options(), spec.task));
  return spec;
}

absl::Time FromProto(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(time.nanos());
}

storage::RecordFilter FilterOf(const v1::RecordFilter& proto) {
  return {.module_fingerprint = proto.module_fingerprint(),
          .target = proto.target(),
          .task = proto.task(),
          .producer = proto.producer(),
          .measured_by = proto.measured_by(),
          .created_after = proto.has_created_after()
                               ? FromProto(proto.created_after())
                               : absl::InfinitePast(),
          .created_before = proto.has_created_before()
                                ? FromProto(proto.created_before())
                                : absl::InfiniteFuture()};
}

// Returns true for a corrupt record whose digest can be read.
bool NamesARecord(const storage::CorruptItem& item) {
  constexpr size_t kDigestBytes = 64;
  return item.table == "record" && item.key.size() == kDigestBytes;
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
  // It was published after the lookup, which found no such module.
  return "module_fingerprint";
}

// Names the record in an error of the store about it.
absl::Status Named(const absl::Status& status, absl::string_view digest) {
  if (!absl::IsNotFound(status)) return status;
  return ResourceNotFound("record", RecordName(digest));
}

class CacheService final : public v1::CacheService::CallbackService {
 public:
  explicit CacheService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context,
                                   const v1::LookupRequest* request,
                                   v1::LookupResponse* response) override {
    CallGuard guard(runtime_, lookup_, *context);
    {
      const NonBlockingScope scope;
      // A cached record needs no other thread.
      if (guard.admission().ok() && LookupInMemory(*request, *response)) {
        return AnswerAtOnce(std::move(guard), *context, *request, *response);
      }
    }
    return AnswerSoon(std::move(guard), *context, *request, *response,
                      [this, request, response] {
                        return LookupInStore(*request, *response);
                      });
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

  grpc::ServerUnaryReactor* GetRecord(grpc::CallbackServerContext* context,
                                      const v1::GetRecordRequest* request,
                                      v1::Record* response) override {
    return Handle(runtime_, get_record_, context, request, response,
                  [this](const v1::GetRecordRequest& asked,
                         v1::Record& proto) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const std::string digest,
                                          RecordDigest(asked.name()));
                    const absl::StatusOr<Record> record =
                        runtime_.store.GetRecord(digest);
                    if (!record.ok()) return Named(record.status(), digest);
                    ToProto(*record, proto);
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* DeleteRecord(
      grpc::CallbackServerContext* context,
      const v1::DeleteRecordRequest* request,
      v1::DeleteRecordResponse* response) override {
    return Handle(runtime_, delete_record_, context, request, response,
                  [this](const v1::DeleteRecordRequest& asked,
                         v1::DeleteRecordResponse&) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(const std::string digest,
                                          RecordDigest(asked.name()));
                    return Named(runtime_.store.DeleteRecord(digest), digest);
                  });
  }

  grpc::ServerUnaryReactor* List(grpc::CallbackServerContext* context,
                                 const v1::ListRecordsRequest* request,
                                 v1::ListRecordsResponse* response) override {
    return Handle(runtime_, list_, context, request, response,
                  [this](const v1::ListRecordsRequest& asked,
                         v1::ListRecordsResponse& proto) -> absl::Status {
                    HONE_RETURN_IF_ERROR(CheckParent(asked.parent()));
                    const auto page = runtime_.store.ListRecords(
                        FilterOf(asked.filter()), asked.page_size(),
                        asked.page_token());
                    if (!page.ok()) {
                      return InPage(asked.page_size(), page.status());
                    }
                    for (const Record& record : page->items) {
                      ToProto(record, *proto.add_records());
                    }
                    proto.set_next_page_token(page->next_page_token);
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
                    HONE_RETURN_IF_ERROR(CheckParent(asked.parent()));
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

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const v1::CheckCacheRequest* request,
                                  v1::CheckCacheResponse* response) override {
    return Handle(
        runtime_, check_, context, request, response,
        [this](const v1::CheckCacheRequest& asked,
               v1::CheckCacheResponse& proto) -> absl::Status {
          const absl::StatusOr<storage::CheckPage> page =
              runtime_.store.Check(asked.page_token());
          if (!page.ok()) return InField("page_token", page.status());
          for (const storage::CorruptItem& item : page->corrupt) {
            auto& line = *proto.add_corrupt();
            line.set_table(item.table);
            line.set_key(NamesARecord(item) ? RecordName(item.key) : item.key);
            line.set_what(item.what);
          }
          proto.set_checked(page->checked);
          proto.set_next_page_token(page->next_page_token);
          return absl::OkStatus();
        });
  }

 private:
  bool LookupInMemory(const v1::LookupRequest& asked,
                      v1::LookupResponse& response) {
    std::string fingerprint = asked.module_fingerprint();
    if (asked.has_module_digest()) {
      std::optional<ModuleLoader::Description> known =
          runtime_.modules.Remembered(asked.module_digest());
      if (!known.has_value()) return false;
      fingerprint = std::move(known->fingerprint);
    }
    const absl::StatusOr<tuning::TuningSpec> spec = SpecOf(asked);
    if (!spec.ok()) return false;
    const absl::StatusOr<CacheKey> key =
        tuning::MakeCacheKey(fingerprint, *spec, &runtime_.present_devices);
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
    std::string reason = "corrupt";
    if (absl::IsNotFound(record.status())) {
      const absl::StatusOr<std::optional<Record>> nearest =
          runtime_.store.FindNearest(key);
      // It only explains: if it cannot be read, this is still a miss.
      if (nearest.ok()) reason = MissReason(key, *nearest);
    }
    runtime_.metrics.CacheMissReason(reason).Increment();
    return WithReason(absl::NotFoundError(absl::StrCat(
                          "no result for ", key.task, " of ",
                          key.module_fingerprint, " (", reason, ")")),
                      "CACHE_MISS", {{"miss_reason", reason}});
  }

  absl::StatusOr<CacheKey> KeyOf(const v1::LookupRequest& asked) {
    std::string fingerprint = asked.module_fingerprint();
    if (asked.has_module_digest()) {
      HONE_ASSIGN_OR_RETURN(
          ModuleLoader::Description module,
          runtime_.modules.DescribeStored(asked.module_digest()));
      fingerprint = std::move(module.fingerprint);
    }
    if (fingerprint.empty()) {
      return InvalidField(
          "module", "empty, expected module_fingerprint or module_digest");
    }
    HONE_ASSIGN_OR_RETURN(const tuning::TuningSpec spec, SpecOf(asked));
    absl::StatusOr<CacheKey> key =
        tuning::MakeCacheKey(fingerprint, spec, &runtime_.present_devices);
    if (key.ok()) return key;
    HONE_RETURN_IF_ERROR(
        InField("options", tuning::MakeWaitingKey(fingerprint, spec).status()));
    return InField("target", key.status());
  }

  Runtime& runtime_;
  prometheus::Counter& hits_ = runtime_.metrics.CacheRequests("hit");
  prometheus::Counter& misses_ = runtime_.metrics.CacheRequests("miss");
  const MethodMetrics lookup_ =
      runtime_.metrics.Method("hone.v1.CacheService/Lookup");
  const MethodMetrics explain_lookup_ =
      runtime_.metrics.Method("hone.v1.CacheService/ExplainLookup");
  const MethodMetrics get_record_ =
      runtime_.metrics.Method("hone.v1.CacheService/GetRecord");
  const MethodMetrics delete_record_ =
      runtime_.metrics.Method("hone.v1.CacheService/DeleteRecord");
  const MethodMetrics list_ =
      runtime_.metrics.Method("hone.v1.CacheService/List");
  const MethodMetrics invalidate_ =
      runtime_.metrics.Method("hone.v1.CacheService/Invalidate");
  const MethodMetrics stats_ =
      runtime_.metrics.Method("hone.v1.CacheService/Stats");
  const MethodMetrics check_ =
      runtime_.metrics.Method("hone.v1.CacheService/Check");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeCacheService(Runtime& runtime) {
  return std::make_unique<CacheService>(runtime);
}

}  // namespace hone::daemon
