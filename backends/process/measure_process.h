#ifndef HONE_BACKENDS_PROCESS_MEASURE_PROCESS_H_
#define HONE_BACKENDS_PROCESS_MEASURE_PROCESS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "hone/v1/worker_service.pb.h"

namespace hone::backends {

// A process that does work (serve_measurements.h) beside this one, `hone
// measure` of this same program: it has no threads, so it can fork, and
// whatever becomes of it this process lives on. It is started when there is
// work, and stays until it is asked for fresh.
class MeasureProcess {
 public:
  MeasureProcess() = default;
  // Kills it.
  ~MeasureProcess();
  MeasureProcess(const MeasureProcess&) = delete;
  MeasureProcess& operator=(const MeasureProcess&) = delete;

  // Gives it work; it has none.
  // Errors: Internal when it cannot be started or has died.
  absl::Status Start(const v1::Work& work);

  // Waits for the result of the work; nullopt when the time is up. The lease
  // of the completion is not set.
  // Errors: Internal when the process has died.
  absl::StatusOr<std::optional<v1::Completion>> Await(absl::Duration timeout);

  // Ends the work, and the process with it.
  void Kill();

 private:
  absl::Status Spawn();

  int pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string received_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_PROCESS_MEASURE_PROCESS_H_
