#ifndef HONE_WORK_WORK_PROCESS_H_
#define HONE_WORK_WORK_PROCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include <sys/types.h>

#include "backends/kernel_measurer.h"
#include "hone/internal/work.pb.h"
#include "space/trial.h"
#include "tuning/search.h"

namespace hone::work {

struct WorkProcessOptions {
  // The path of the program `hone`.
  std::string program;
  // All that the process may allocate; 0: no limit.
  int64_t memory_bytes = 0;
  // A process that holds more after a job is replaced, so that one large module
  // does not keep its memory for ever.
  int64_t max_idle_bytes = int64_t{512} << 20;
  // The time that a process has to end its job by itself once it is to stop;
  // asked again and again, as it may become shorter.
  std::function<absl::Duration()> stop_grace = [] {
    return absl::Milliseconds(500);
  };
  // The time after which a process that says nothing hangs.
  absl::Duration silence = absl::Minutes(15);
};

// What a job hears and says on its way.
struct WorkEvents {
  tuning::SearchEvents search = {};
  // Answers the job's calls; null: it has no devices.
  backends::KernelMeasurer* kernels = nullptr;
};

// A child process that works (serve_work.h): `hone work`. Its crash, its hang
// and its hunger for memory are errors of the job that it had. It starts with
// the first job, or earlier by Start, and again after its end.
// Threads: one at a time.
class WorkProcess {
 public:
  explicit WorkProcess(WorkProcessOptions options)
      : options_(std::move(options)) {}
  // Kills the process.
  ~WorkProcess();
  WorkProcess(const WorkProcess&) = delete;
  WorkProcess& operator=(const WorkProcess&) = delete;

  // Starts the process unless it runs. Errors: Internal.
  absl::Status Start();
  bool running() const { return pid_ >= 0; }
  // The same, asking the system whether it has ended meanwhile.
  bool IsAlive();

  // Has `job` done; returns its result, which is no error.
  // Errors: those of the job; Cancelled after events.search.stop; those of
  // on_trial; and, marked by tuning::ProcessFailure, Internal if the process
  // crashed, ResourceExhausted if it ran out of memory, DeadlineExceeded after
  // `limit` and if it hangs.
  absl::StatusOr<internal::Result> Run(const internal::Job& job,
                                       const WorkEvents& events,
                                       absl::Duration limit);

  // Kills the process and abandons its work.
  void Kill();

 private:
  // Sends a message. Errors: DeadlineExceeded if the process does not take it
  // by `end`; Cancelled if not within stop_grace after `stop`, which may be
  // null; Unavailable if it is gone.
  absl::Status Send(const internal::ToProcess& message, absl::Duration end,
                    const std::function<bool()>& stop = nullptr);
  // Waits at most a moment for a message.
  absl::StatusOr<std::optional<internal::FromProcess>> Receive();
  // The error of a process that ended by itself, which is reaped.
  absl::Status DescribeEnd();
  absl::StatusOr<internal::Result> Converse(const WorkEvents& events,
                                            absl::Duration end,
                                            absl::Duration limit);

  const WorkProcessOptions options_;
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string received_;
};

}  // namespace hone::work

#endif  // HONE_WORK_WORK_PROCESS_H_
