#ifndef HONE_BACKENDS_PROCESS_MEASURE_PROCESS_H_
#define HONE_BACKENDS_PROCESS_MEASURE_PROCESS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "hone/v1/worker_service.pb.h"

namespace hone::backends {

// A child process that measures (serve_measurements.h): `hone measure` of this
// same program. It has no threads, so it can fork, and its crash does not
// affect this process. It starts with the first work and is kept until a
// request asks for a fresh process.
class MeasureProcess {
 public:
  MeasureProcess() = default;
  // Kills the process.
  ~MeasureProcess();
  MeasureProcess(const MeasureProcess&) = delete;
  MeasureProcess& operator=(const MeasureProcess&) = delete;

  // Sends work to the process, which must be idle. Returns Internal if it
  // cannot be started or has died, and DeadlineExceeded if it hangs. After an
  // error the next work starts another process.
  absl::Status Start(const v1::Work& work);

  // Waits for the result of the work; nullopt on timeout. The lease of the
  // completion is not set. Returns Internal if the process has died.
  absl::StatusOr<std::optional<v1::Completion>> Await(absl::Duration timeout);

  // Kills the process and abandons its work.
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
