#ifndef HONE_CLI_MEASURE_PROCESS_H_
#define HONE_CLI_MEASURE_PROCESS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "hone/v1/worker_service.pb.h"

namespace hone::cli {

// A process that does work (hone measure, of this same program), beside this
// one: it has no threads, so it can fork, and whatever becomes of it this
// process lives on. It is started when there is work, and stays.
class MeasureProcess {
 public:
  MeasureProcess();
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

// The other side: does work that comes on stdin, until it ends, and writes
// completions to stdout.
absl::Status ServeMeasurements(int from, int to);

}  // namespace hone::cli

#endif  // HONE_CLI_MEASURE_PROCESS_H_
