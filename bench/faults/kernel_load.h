#ifndef HONE_BENCH_FAULTS_KERNEL_LOAD_H_
#define HONE_BENCH_FAULTS_KERNEL_LOAD_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include <nlohmann/json.hpp>

#include "bench/service/daemon_process.h"

namespace hone::bench {

// Clients that tune one kernel after the other.
class KernelLoad {
 public:
  static constexpr int kClients = 2;

  // `daemon` outlives the load.
  KernelLoad(const DaemonProcess& daemon, int64_t trials)
      : daemon_(daemon), trials_wanted_(trials) {}

  // Tunes until so many trials are stored, or a tuning does not end.
  void Run();
  // Tunings.
  int64_t succeeded() const { return succeeded_; }
  int64_t failed() const { return failed_; }
  // Adds the figures to a row of the bench, and what went wrong.
  void Report(nlohmann::ordered_json& row) const;

 private:
  // Tunes one kernel to its end. Errors: those of the calls; DeadlineExceeded
  // if the tuning does not end.
  absl::Status Tune();

  const DaemonProcess& daemon_;
  const int64_t trials_wanted_;
  std::atomic<int64_t> next_kernel_ = 0;
  std::atomic<int64_t> trials_ = 0;
  std::atomic<int64_t> succeeded_ = 0;
  std::atomic<int64_t> failed_ = 0;
  absl::Status errors_[kClients];
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_KERNEL_LOAD_H_
