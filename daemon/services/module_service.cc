#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
#include "daemon/services/open_uploads.h"
#include "daemon/services/services.h"
#include "daemon/services/stream_call.h"
#include "hone/v1/module_service.grpc.pb.h"

namespace hone::daemon {
namespace {

absl::Status ModuleUnknown(absl::string_view digest) {
  return WithReason(ResourceNotFound("module", digest), "MODULE_UNKNOWN",
                    {{"digest", std::string(digest)}});
}

absl::StatusOr<std::string> ReadModule(storage::Store& store,
                                       const std::string& digest) {
  absl::StatusOr<std::string> bytes = store.GetBlob(digest);
  if (absl::IsNotFound(bytes.status())) return ModuleUnknown(digest);
  return bytes;
}

// One read is outstanding until the last, then the pool has the call.
class UploadCall final
    : public StreamCall<grpc::ServerReadReactor<v1::UploadRequest>> {
 public:
  UploadCall(Runtime& runtime, const MethodMetrics& metrics,
             OpenUploads& uploads, grpc::CallbackServerContext& context,
             v1::UploadResponse& response)
      : StreamCall(runtime, metrics, context),
        runtime_(runtime),
        response_(response) {
    const NonBlockingScope scope;
    absl::Status status = guard().admission();
    if (status.ok()) status = Open(uploads);
    if (!status.ok()) {
      End(status);
      return;
    }
    absl::MutexLock lock(&mu_);
    if (!ended_) StartRead(&part_);
  }

  void OnReadDone(bool ok) override {
    const NonBlockingScope scope;
    if (!ok) {
      Schedule([this] { StoreAndEnd(); });
      return;
    }
    guard().Received(part_);
    const absl::Status status = header_seen_ ? TakeChunk() : TakeHeader();
    if (!status.ok()) {
      End(status);
      return;
    }
    absl::MutexLock lock(&mu_);
    if (!ended_) StartRead(&part_);
  }

 private:
  absl::Status Open(OpenUploads& uploads) {
    HONE_ASSIGN_OR_RETURN(upload_, uploads.Open(Ender()));
    return absl::OkStatus();
  }

  absl::Status TakeHeader() {
    header_seen_ = true;
    if (!part_.has_header()) {
      return InvalidField("part", "a chunk first, expected a header");
    }
    header_ = part_.header();
    const int64_t limit = runtime_.config.max_module_bytes;
    if (header_.size_bytes() <= 0) {
      return InvalidField(
          "header.size_bytes",
          absl::StrCat(header_.size_bytes(), ", expected more than 0"));
    }
    if (header_.size_bytes() > limit) {
      runtime_.metrics.RpcRejected("module_too_large").Increment();
      return WithLimit(WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                      "a module of ", header_.size_bytes(),
                                      " bytes, expected at most ", limit)),
                                  "MODULE_TOO_LARGE",
                                  {{"max_module_bytes", absl::StrCat(limit)}}),
                       "max_module_bytes");
    }
    return upload_->Received(0);
  }

  absl::Status TakeChunk() {
    const auto bad_chunk = [](absl::string_view what) {
      return WithReason(absl::InvalidArgumentError(what), "BAD_CHUNK");
    };
    if (!part_.has_chunk()) {
      return bad_chunk("a second header, expected a chunk");
    }
    const auto size = static_cast<int64_t>(part_.chunk().size());
    const auto received = static_cast<int64_t>(bytes_.size());
    if (size > kMaxChunkBytes) {
      return WithLimit(
          bad_chunk(absl::StrCat("a chunk of ", size,
                                 " bytes, expected at most ", kMaxChunkBytes)),
          "max_chunk_bytes");
    }
    if (received + size > header_.size_bytes()) {
      return SizeMismatch("more than ");
    }
    if (size < kMinChunkBytes && received + size < header_.size_bytes()) {
      return WithLimit(
          bad_chunk(absl::StrCat("a chunk of ", size,
                                 " bytes before the last, expected at least ",
                                 kMinChunkBytes)),
          "min_chunk_bytes");
    }
    HONE_RETURN_IF_ERROR(upload_->Received(size));
    HONE_RETURN_IF_ERROR(Hold(size));
    // Takes the chunk over: no copy on gRPC's thread.
    bytes_.Append(std::move(*part_.mutable_chunk()));
    return absl::OkStatus();
  }

  absl::Status SizeMismatch(absl::string_view received) {
    return WithReason(
        absl::InvalidArgumentError(
            absl::StrCat("received ", received, "the announced size, expected ",
                         header_.size_bytes(), " bytes")),
        "SIZE_MISMATCH");
  }

  void StoreAndEnd() {
    const absl::Status status = Store();
    if (!Claim()) return;
    // With the answer, so that the client may send the next one.
    bytes_.Clear();
    upload_.reset();
    guard().Release();
    if (status.ok()) {
      response_.set_digest(header_.digest());
      response_.set_size_bytes(header_.size_bytes());
      guard().Sent(response_);
    }
    Finish(status);
  }

  absl::Status Store() {
    HONE_RETURN_IF_ERROR(StillWanted());
    if (!header_seen_) {
      return InvalidField("part", "nothing sent, expected a header");
    }
    if (static_cast<int64_t>(bytes_.size()) != header_.size_bytes()) {
      return SizeMismatch("less than ");
    }
    const absl::string_view bytes = bytes_.Flatten();
    const std::string digest = Sha256Hex(bytes);
    if (digest != header_.digest()) {
      return WithReason(absl::InvalidArgumentError(absl::StrCat(
                            "the bytes have digest ", digest, ", expected ",
                            Excerpt(header_.digest()))),
                        "DIGEST_MISMATCH", {{"digest", digest}});
    }
    return runtime_.store.PutBlob(bytes).status();
  }

  Runtime& runtime_;
  v1::UploadResponse& response_;
  // Last released, as it bounds the bytes.
  std::unique_ptr<OpenUploads::Upload> upload_;
  v1::UploadRequest part_;
  bool header_seen_ = false;
  v1::UploadRequest::Header header_;
  absl::Cord bytes_;
};

// Either the pool has the call or one write is outstanding.
class DownloadCall final
    : public StreamCall<grpc::ServerWriteReactor<v1::DownloadResponse>> {
 public:
  DownloadCall(Runtime& runtime, const MethodMetrics& metrics,
               grpc::CallbackServerContext& context,
               const v1::DownloadRequest& request)
      : StreamCall(runtime, metrics, context) {
    const NonBlockingScope scope;
    guard().Received(request);
    // The request ends with the call, which a cancellation may end first.
    Schedule([this, &store = runtime.store, digest = request.digest()] {
      absl::StatusOr<std::string> bytes = ReadModule(store, digest);
      if (!bytes.ok()) {
        End(bytes.status());
        return;
      }
      // Until the end, however slowly the client reads.
      if (const absl::Status held = Hold(static_cast<int64_t>(bytes->size()));
          !held.ok()) {
        End(held);
        return;
      }
      bytes_ = *std::move(bytes);
      WriteNext();
    });
  }

  void OnWriteDone(bool ok) override {
    const NonBlockingScope scope;
    if (ok) {
      WriteNext();
    } else {
      End(absl::CancelledError("the client is gone"));
    }
  }

 private:
  void WriteNext() {
    if (sent_ == bytes_.size()) {
      End(absl::OkStatus());
      return;
    }
    const size_t size =
        std::min(bytes_.size() - sent_, static_cast<size_t>(kMaxChunkBytes));
    response_.set_chunk(bytes_.data() + sent_, size);
    sent_ += size;
    guard().Sent(response_);
    absl::MutexLock lock(&mu_);
    if (!ended_) StartWrite(&response_);
  }

  std::string bytes_;
  size_t sent_ = 0;
  v1::DownloadResponse response_;
};

class ModuleService final : public v1::ModuleService::CallbackService {
 public:
  explicit ModuleService(Runtime& runtime) : runtime_(runtime) {}

  grpc::ServerReadReactor<v1::UploadRequest>* Upload(
      grpc::CallbackServerContext* context,
      v1::UploadResponse* response) override {
    return new UploadCall(runtime_, upload_, uploads_, *context, *response);
  }

  grpc::ServerUnaryReactor* GetModule(grpc::CallbackServerContext* context,
                                      const v1::GetModuleRequest* request,
                                      v1::StoredModule* response) override {
    return Handle(runtime_, get_module_, context, request, response,
                  [this](const v1::GetModuleRequest& asked,
                         v1::StoredModule& module) -> absl::Status {
                    HONE_ASSIGN_OR_RETURN(
                        const std::string bytes,
                        ReadModule(runtime_.store, asked.digest()));
                    module.set_digest(asked.digest());
                    module.set_size_bytes(static_cast<int64_t>(bytes.size()));
                    return absl::OkStatus();
                  });
  }

  grpc::ServerWriteReactor<v1::DownloadResponse>* Download(
      grpc::CallbackServerContext* context,
      const v1::DownloadRequest* request) override {
    return new DownloadCall(runtime_, download_, *context, *request);
  }

  grpc::ServerUnaryReactor* QueryModules(
      grpc::CallbackServerContext* context,
      const v1::QueryModulesRequest* request,
      v1::QueryModulesResponse* response) override {
    return Handle(
        runtime_, query_modules_, context, request, response,
        [this](const v1::QueryModulesRequest& asked,
               v1::QueryModulesResponse& proto,
               const CancelledPredicate& cancelled) -> absl::Status {
          if (asked.digests_size() > kMaxQueryDigests) {
            return WithLimit(
                InvalidField("digests", absl::StrCat(asked.digests_size(),
                                                     " digests, expected at "
                                                     "most ",
                                                     kMaxQueryDigests)),
                "query_digests");
          }
          for (const std::string& digest : asked.digests()) {
            if (cancelled()) return absl::CancelledError();
            HONE_ASSIGN_OR_RETURN(const bool known,
                                  runtime_.store.HasBlob(digest));
            if (!known) proto.add_missing(digest);
          }
          return absl::OkStatus();
        });
  }

 private:
  Runtime& runtime_;
  OpenUploads uploads_{runtime_.config, runtime_.metrics};
  const MethodMetrics upload_ =
      runtime_.metrics.Method("hone.v1.ModuleService/Upload");
  const MethodMetrics get_module_ =
      runtime_.metrics.Method("hone.v1.ModuleService/GetModule");
  const MethodMetrics download_ =
      runtime_.metrics.Method("hone.v1.ModuleService/Download");
  const MethodMetrics query_modules_ =
      runtime_.metrics.Method("hone.v1.ModuleService/QueryModules");
};

}  // namespace

std::unique_ptr<grpc::Service> MakeModuleService(Runtime& runtime) {
  return std::make_unique<ModuleService>(runtime);
}

}  // namespace hone::daemon
