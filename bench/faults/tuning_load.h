#ifndef HONE_BENCH_FAULTS_TUNING_LOAD_H_
#define HONE_BENCH_FAULTS_TUNING_LOAD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include <grpcpp/grpcpp.h>
#include <nlohmann/json.hpp>

#include "bench/service/daemon_process.h"
#include "hone/v1/record.pb.h"

namespace hone::bench {

// Clients that tune one module after the other, and what the daemon has told
// them.
// Threads: thread-safe, but for Stop.
class TuningLoad {
 public:
  // Starts the clients. `daemon` outlives the load.
  explicit TuningLoad(const DaemonProcess& daemon);
  ~TuningLoad() { Stop(); }
  TuningLoad(const TuningLoad&) = delete;
  TuningLoad& operator=(const TuningLoad&) = delete;

  // Returns once all clients have ended.
  void Stop();

  // The names of the tunings that the daemon has accepted.
  std::set<std::string> accepted();
  // The acknowledged results, by the fingerprint of their module.
  std::map<std::string, v1::Record> published();
  // Tunings that clients wait for now.
  int64_t running() const { return running_; }
  // How often calls and tunings ended with each status code but OK.
  std::map<std::string, int64_t> codes();

  // Looks up every acknowledged result. Returns how many the daemon does not
  // serve, and the last error among them.
  struct Lost {
    int64_t count = 0;
    std::string error;
  };
  Lost FindLost();
  // Counts what the daemon does not have any more, or has done twice, and adds
  // that to a row of the bench. Errors: those of listings.
  absl::Status Compare(nlohmann::ordered_json& row);

 private:
  void Tune();
  // Tunes one module, starting again what a fault broke off.
  void TuneModule(const std::shared_ptr<grpc::Channel>& channel);
  void Count(int code);
  // Of the acknowledged results, those whose rewritten module is not stored.
  absl::StatusOr<int64_t> CountMissingModules();
  // Tunings that succeeded beside another one of the same key.
  absl::StatusOr<int64_t> CountTunedTwice();

  const DaemonProcess& daemon_;
  std::atomic<int64_t> next_module_ = 0;
  std::atomic<int64_t> running_ = 0;
  std::atomic<bool> end_ = false;
  absl::Mutex mu_;
  std::set<std::string> accepted_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::Record> published_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, int64_t> codes_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> clients_;  // last: they use the others
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_TUNING_LOAD_H_
