#ifndef HONE_BENCH_FAULTS_HEALTH_WATCH_H_
#define HONE_BENCH_FAULTS_HEALTH_WATCH_H_

#include <atomic>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include <nlohmann/json.hpp>

#include "bench/service/daemon_process.h"

namespace hone::bench {

// Asks for the standard health and for the workers, which is a control method,
// again and again, and keeps the times of the answers.
class HealthWatch {
 public:
  // `daemon` outlives the watch.
  explicit HealthWatch(const DaemonProcess& daemon);
  ~HealthWatch();
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  // Ends the watch and adds its figures to a row of the bench; calls that
  // failed are broken promises, and so are more than 50 ms (p99) in a run that
  // is long enough to tell. Called once.
  void Report(nlohmann::ordered_json& row);

 private:
  void Watch();

  const DaemonProcess& daemon_;
  const absl::Duration start_;
  std::atomic<bool> end_ = false;
  // The thread's until its end.
  std::vector<double> milliseconds_;
  int64_t failed_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_HEALTH_WATCH_H_
