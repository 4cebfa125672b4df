#ifndef HONE_CLI_CLIENT_H_
#define HONE_CLI_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cli/connection.h"
#include "grpcpp/channel.h"

#include "hone/v1/admin_service.pb.h"
#include "hone/v1/cache_service.pb.h"
#include "hone/v1/compile_service.pb.h"
#include "hone/v1/tuning_service.pb.h"

namespace hone::cli {

// A connection to honed. Large modules are uploaded in chunks; small ones are
// part of the request. Errors of all methods: the daemon's, with its message;
// Unavailable, naming the server, if it does not answer.
class Client {
 public:
  // Connects; waits a few seconds for a daemon that is just starting. The
  // credentials of `connection` have been read.
  explicit Client(const Connection& connection);

  // The server's address.
  const std::string& server() const { return server_; }

  // Returns true if a daemon answers within `timeout`.
  bool Answers(absl::Duration timeout);

  // Sets `source` to `bytes`, or uploads them and sets it to their digest.
  absl::Status SetModule(const std::string& bytes, const std::string& file_name,
                         hone::v1::ModuleSource* source);
  absl::StatusOr<std::string> Download(const std::string& digest);

  struct TuneResult {
    hone::v1::Record record;
    bool cached = false;
  };
  // Tunes and waits for the end. `progress` gets every message of the stream.
  // If the stream breaks because the daemon restarts, reconnects for up to a
  // minute.
  absl::StatusOr<TuneResult> Tune(
      const hone::v1::TuneRequest& request,
      const std::function<void(const hone::v1::WatchTuningResponse&)>&
          progress);
  absl::StatusOr<hone::v1::ListTuningsResponse> ListTunings(
      const hone::v1::ListTuningsRequest& request);
  absl::StatusOr<hone::v1::CancelTuningResponse> CancelTuning(
      const hone::v1::CancelTuningRequest& request);

  absl::StatusOr<hone::v1::CompileResponse> Compile(
      const hone::v1::CompileRequest& request);

  absl::StatusOr<hone::v1::LookupResponse> Lookup(
      const hone::v1::LookupRequest& request);
  absl::StatusOr<hone::v1::ExplainLookupResponse> ExplainLookup(
      const hone::v1::LookupRequest& request);
  absl::StatusOr<hone::v1::Record> GetRecord(const std::string& name);
  absl::Status DeleteRecord(const std::string& name);
  absl::StatusOr<hone::v1::ListRecordsResponse> ListRecords(
      const hone::v1::ListRecordsRequest& request);
  absl::StatusOr<hone::v1::InvalidateResponse> Invalidate(
      const hone::v1::InvalidateRequest& request);
  absl::StatusOr<hone::v1::CacheStatsResponse> Stats();
  absl::StatusOr<hone::v1::CheckCacheResponse> Check(
      const hone::v1::CheckCacheRequest& request);

  // Waits as long as the copy takes.
  absl::StatusOr<hone::v1::ListQuarantinedModulesResponse>
  ListQuarantinedModules();
  absl::Status ReleaseModule(const std::string& digest);
  absl::StatusOr<hone::v1::BackupResponse> Backup(
      const hone::v1::BackupRequest& request);

  absl::StatusOr<hone::v1::ListWorkersResponse> ListWorkers();
  absl::StatusOr<hone::v1::Worker> DrainWorker(const std::string& id);
  absl::StatusOr<hone::v1::Worker> ReleaseWorker(const std::string& id);

 private:
  std::string server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_CLIENT_H_
