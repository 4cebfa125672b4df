#include "cli/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/interrupt_note.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "hone/v1/admin_service.grpc.pb.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "hone/v1/module_service.grpc.pb.h"
#include "hone/v1/tuning_service.grpc.pb.h"
#include "proto/duration.h"
#include "proto/grpc_status.h"

namespace hone::cli {
namespace {

// Modules up to this size travel in the request.
constexpr size_t kMaxInlineBytes = size_t{2} << 20;
constexpr size_t kChunkBytes = size_t{512} << 10;
// Unary calls that only read or start something answer fast.
constexpr absl::Duration kCallTimeout = absl::Seconds(60);
constexpr absl::Duration kBackupTimeout = absl::Hours(2);
// The time that a daemon may take to start, as in `honed & hone tune …`.
constexpr absl::Duration kStartTimeout = absl::Seconds(3);
// The time to connect to a daemon that has been seen.
constexpr absl::Duration kConnectTimeout = absl::Milliseconds(500);
// The time that a daemon may take to restart while a tuning is watched.
constexpr absl::Duration kReconnectTimeout = absl::Minutes(1);

// Returns the status of a call, with advice if the server does not answer.
absl::Status StatusOfCall(const grpc::Status& status,
                          const std::string& server) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) {
    return ToStatus(status);
  }
  return absl::UnavailableError(
      absl::StrCat("honed at ", server, ": ", status.error_message(),
                   "; is it running? (--server ADDRESS, with TLS also --tls-ca "
                   "FILE; hone tune --local needs none)"));
}

void SetDeadline(grpc::ClientContext& context, absl::Duration timeout) {
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
}

// One unary call through `method` of a new stub.
template <typename Service, typename Request, typename Response>
absl::StatusOr<Response> Call(
    const std::shared_ptr<grpc::Channel>& channel, const std::string& server,
    grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&,
                                          Response*),
    const Request& request, absl::Duration timeout = kCallTimeout) {
  grpc::ClientContext context;
  SetDeadline(context, timeout);
  Response response;
  const auto stub = Service::NewStub(channel);
  HONE_RETURN_IF_ERROR(StatusOfCall(
      (stub.get()->*method)(&context, request, &response), server));
  return response;
}

}  // namespace

Client::Client(const Connection& connection)
    : server_(connection.server.empty() ? FindServer(kStartTimeout)
                                        : connection.server),
      channel_(OpenChannel(server_, connection)) {
  // A call that follows fails at once if this was in vain. A server that had to
  // be found has been waited for.
  Answers(connection.server.empty() ? kConnectTimeout : kStartTimeout);
}

bool Client::Answers(absl::Duration timeout) {
  return channel_->WaitForConnected(absl::ToChronoTime(absl::Now() + timeout));
}

absl::Status Client::SetModule(const std::string& bytes,
                               const std::string& file_name,
                               hone::v1::ModuleSource* source) {
  source->set_file_name(file_name);
  if (bytes.size() <= kMaxInlineBytes) {
    source->set_content(bytes);
    return absl::OkStatus();
  }
  const std::string digest = Sha256Hex(bytes);
  hone::v1::QueryModulesRequest query;
  query.add_digests(digest);
  HONE_ASSIGN_OR_RETURN(
      const hone::v1::QueryModulesResponse missing,
      Call<hone::v1::ModuleService>(
          channel_, server_, &hone::v1::ModuleService::Stub::QueryModules,
          query));
  source->set_digest(digest);
  if (missing.missing().empty()) return absl::OkStatus();

  grpc::ClientContext context;
  hone::v1::UploadResponse response;
  const auto stub = hone::v1::ModuleService::NewStub(channel_);
  const auto writer = stub->Upload(&context, &response);
  hone::v1::UploadRequest part;
  part.mutable_header()->set_digest(digest);
  part.mutable_header()->set_size_bytes(static_cast<int64_t>(bytes.size()));
  bool open = writer->Write(part);
  for (size_t at = 0; open && at < bytes.size(); at += kChunkBytes) {
    part.set_chunk(bytes.substr(at, kChunkBytes));
    open = writer->Write(part);
  }
  writer->WritesDone();
  return StatusOfCall(writer->Finish(), server_);
}

absl::StatusOr<std::string> Client::Download(const std::string& digest) {
  grpc::ClientContext context;
  hone::v1::DownloadRequest request;
  request.set_digest(digest);
  const auto stub = hone::v1::ModuleService::NewStub(channel_);
  const auto reader = stub->Download(&context, request);
  std::string bytes;
  for (hone::v1::DownloadResponse part; reader->Read(&part);) {
    bytes += part.chunk();
  }
  HONE_RETURN_IF_ERROR(StatusOfCall(reader->Finish(), server_));
  return bytes;
}

absl::StatusOr<Client::TuneResult> Client::Tune(
    const hone::v1::TuneRequest& request,
    const std::function<void(const hone::v1::WatchTuningResponse&)>& progress) {
  HONE_ASSIGN_OR_RETURN(
      const google::longrunning::Operation operation,
      Call<hone::v1::TuningService>(
          channel_, server_, &hone::v1::TuningService::Stub::Tune, request));
  hone::v1::TuneResponse response;
  if (operation.done() && operation.response().UnpackTo(&response)) {
    return TuneResult{response.record(), response.cached()};
  }
  hone::v1::TuneMetadata metadata;
  if (!operation.metadata().UnpackTo(&metadata)) {
    return absl::InternalError("the operation of a tuning lacks its metadata");
  }
  hone::v1::WatchTuningRequest watch;
  watch.set_name(metadata.tuning().name());
  const InterruptNote note(absl::StrCat("\nhone: ", watch.name(),
                                        " goes on in the daemon; hone cancel ",
                                        watch.name(), " ends it\n"));
  const auto stub = hone::v1::TuningService::NewStub(channel_);
  while (true) {
    grpc::ClientContext context;
    const auto reader = stub->WatchTuning(&context, watch);
    hone::v1::WatchTuningResponse message;
    while (reader->Read(&message)) progress(message);
    const absl::Status status = StatusOfCall(reader->Finish(), server_);
    switch (message.tuning().state()) {
      case hone::v1::Tuning::SUCCEEDED:
        if (message.has_record()) return TuneResult{message.record(), false};
        break;
      case hone::v1::Tuning::FAILED: {
        const google::rpc::Status& error = message.tuning().error();
        const auto code = static_cast<absl::StatusCode>(error.code());
        // Any other code says what is wrong with the input.
        if (code != absl::StatusCode::kInternal) {
          return absl::Status(code, error.message());
        }
        return absl::InternalError(absl::StrCat(metadata.tuning().name(),
                                                " failed: ", error.message()));
      }
      case hone::v1::Tuning::CANCELLED:
        return absl::CancelledError(
            absl::StrCat(metadata.tuning().name(), " was cancelled"));
      default:
        break;
    }
    // The stream broke: the tuning goes on in the daemon, or once it is back.
    if (!absl::IsUnavailable(status) || !Answers(kReconnectTimeout)) {
      return status.ok() ? absl::InternalError("the stream ended early")
                         : status;
    }
  }
}

absl::StatusOr<hone::v1::ListTuningsResponse> Client::ListTunings(
    const hone::v1::ListTuningsRequest& request) {
  return Call<hone::v1::TuningService>(
      channel_, server_, &hone::v1::TuningService::Stub::ListTunings, request);
}

absl::StatusOr<hone::v1::CancelTuningResponse> Client::CancelTuning(
    const hone::v1::CancelTuningRequest& request) {
  return Call<hone::v1::TuningService>(
      channel_, server_, &hone::v1::TuningService::Stub::CancelTuning, request);
}

absl::StatusOr<hone::v1::CompileResponse> Client::Compile(
    const hone::v1::CompileRequest& request) {
  return Call<hone::v1::CompileService>(
      channel_, server_, &hone::v1::CompileService::Stub::Compile, request,
      FromProtoDuration(request.patience()) + kCallTimeout);
}

absl::StatusOr<hone::v1::LookupResponse> Client::Lookup(
    const hone::v1::LookupRequest& request) {
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::Lookup, request);
}

absl::StatusOr<hone::v1::ExplainLookupResponse> Client::ExplainLookup(
    const hone::v1::LookupRequest& request) {
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::ExplainLookup, request);
}

absl::StatusOr<hone::v1::Record> Client::GetRecord(const std::string& name) {
  hone::v1::GetRecordRequest request;
  request.set_name(name);
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::GetRecord, request);
}

absl::Status Client::DeleteRecord(const std::string& name) {
  hone::v1::DeleteRecordRequest request;
  request.set_name(name);
  return Call<hone::v1::CacheService>(
             channel_, server_, &hone::v1::CacheService::Stub::DeleteRecord,
             request)
      .status();
}

absl::StatusOr<hone::v1::ListRecordsResponse> Client::ListRecords(
    const hone::v1::ListRecordsRequest& request) {
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::List, request);
}

absl::StatusOr<hone::v1::InvalidateResponse> Client::Invalidate(
    const hone::v1::InvalidateRequest& request) {
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::Invalidate, request);
}

absl::StatusOr<hone::v1::CacheStatsResponse> Client::Stats() {
  return Call<hone::v1::CacheService>(channel_, server_,
                                      &hone::v1::CacheService::Stub::Stats,
                                      hone::v1::CacheStatsRequest());
}

absl::StatusOr<hone::v1::CheckCacheResponse> Client::Check(
    const hone::v1::CheckCacheRequest& request) {
  return Call<hone::v1::CacheService>(
      channel_, server_, &hone::v1::CacheService::Stub::Check, request);
}

absl::StatusOr<hone::v1::ListQuarantinedModulesResponse>
Client::ListQuarantinedModules() {
  return Call<hone::v1::AdminService>(
      channel_, server_, &hone::v1::AdminService::Stub::ListQuarantinedModules,
      hone::v1::ListQuarantinedModulesRequest());
}

absl::Status Client::ReleaseModule(const std::string& digest) {
  hone::v1::ReleaseModuleRequest request;
  request.set_digest(digest);
  return Call<hone::v1::AdminService>(
             channel_, server_, &hone::v1::AdminService::Stub::ReleaseModule,
             request)
      .status();
}

absl::StatusOr<hone::v1::BackupResponse> Client::Backup(
    const hone::v1::BackupRequest& request) {
  return Call<hone::v1::AdminService>(channel_, server_,
                                      &hone::v1::AdminService::Stub::Backup,
                                      request, kBackupTimeout);
}

absl::StatusOr<hone::v1::ListWorkersResponse> Client::ListWorkers() {
  return Call<hone::v1::AdminService>(
      channel_, server_, &hone::v1::AdminService::Stub::ListWorkers,
      hone::v1::ListWorkersRequest());
}

absl::StatusOr<hone::v1::Worker> Client::DrainWorker(const std::string& id) {
  hone::v1::DrainWorkerRequest request;
  request.set_id(id);
  return Call<hone::v1::AdminService>(
      channel_, server_, &hone::v1::AdminService::Stub::DrainWorker, request);
}

absl::StatusOr<hone::v1::Worker> Client::ReleaseWorker(const std::string& id) {
  hone::v1::ReleaseWorkerRequest request;
  request.set_id(id);
  return Call<hone::v1::AdminService>(
      channel_, server_, &hone::v1::AdminService::Stub::ReleaseWorker, request);
}

}  // namespace hone::cli
