#ifndef HONE_CLI_KERNEL_SCHEDULES_H_
#define HONE_CLI_KERNEL_SCHEDULES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/connection.h"

#include "backends/cpu/native_module.h"
#include "tuning/tasks/module.h"

namespace hone::cli {

// Returns the schedules of a decision. `scripts` must outlive them.
backends::ScheduleSource SchedulesOf(const tuning::KernelScripts& scripts);

// The tuned schedules of kernels for this machine, as published.
class PublishedSchedules {
 public:
  virtual ~PublishedSchedules() = default;

  // Opens the store in the folder `state`; if that is empty, the daemon's, or
  // nothing if no daemon answers. Errors: those of the store.
  static absl::StatusOr<std::unique_ptr<PublishedSchedules>> Open(
      const Connection& connection, const std::string& state, int32_t threads);

  // Returns a source without any: all kernels keep their default schedules.
  static std::unique_ptr<PublishedSchedules> None();

  // Refers to this object. What cannot be read is left out.
  backends::ScheduleSource Source();

  // The kernels asked for so far, and those of them that have a schedule.
  int64_t asked() const { return asked_; }
  int64_t found() const { return found_; }

 private:
  // Returns the decision about a kernel. Errors: NotFound, and others.
  virtual absl::StatusOr<std::string> Decision(
      const std::string& fingerprint) = 0;

  int64_t asked_ = 0;
  int64_t found_ = 0;
};

}  // namespace hone::cli

#endif  // HONE_CLI_KERNEL_SCHEDULES_H_
