#ifndef HONE_BENCH_FAULTS_HEALTH_WATCH_H_
#define HONE_BENCH_FAULTS_HEALTH_WATCH_H_

#include <atomic>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/service/daemon_process.h"

namespace hone::bench {

// Calls a control method again and again, and keeps the times of its answers.
class HealthWatch {
 public:
  // `daemon` outlives the watch.
  explicit HealthWatch(const DaemonProcess& daemon);
  ~HealthWatch();
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  // Ends the watch and adds its figures to a row of the bench; returns the 99th
  // percentile in milliseconds. Called once.
  double Report(nlohmann::ordered_json& row);

 private:
  void Watch();

  const DaemonProcess& daemon_;
  std::atomic<bool> end_ = false;
  std::vector<double> milliseconds_;  // the thread's until its end
  std::thread thread_;                // last: it uses the others
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_HEALTH_WATCH_H_
