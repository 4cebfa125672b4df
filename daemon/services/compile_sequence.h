#ifndef HONE_DAEMON_SERVICES_COMPILE_SEQUENCE_H_
#define HONE_DAEMON_SERVICES_COMPILE_SEQUENCE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <grpcpp/alarm.h>

#include "daemon/services/call.h"
#include "daemon/services/compilation.h"
#include "hone/v1/compile_service.pb.h"

namespace hone::daemon {

// One Compile: its tasks one after the other, each on the module that those
// before have left. Each task may use an equal share of the time that is left.
// Threads: thread-safe.
class CompileSequence : public std::enable_shared_from_this<CompileSequence> {
 public:
  // Answers are needed after `patience`. caller: the owner of the shares of
  // tunings.
  CompileSequence(Runtime& runtime, const v1::CompileRequest& request,
                  std::string caller, absl::Duration patience);

  // Checks the request. Returns the wait for the answer, for which the
  // background then works; nothing if too many calls wait already.
  // Errors: those of the specifications.
  absl::StatusOr<std::optional<Wait>> Begin();

  // Writes the best answer so far: the decisions of the tasks that were
  // applied, and of each other one why it is missing. Errors: of the request;
  // those of storing the module if it is to be named by its digest.
  absl::Status Finish(v1::CompileResponse& response);

 private:
  void BeginTask() ABSL_LOCKS_EXCLUDED(mu_);
  // Goes on to the next task if `task` is the current one.
  void EndTask(int task) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes the answer of the current task, if there is one.
  absl::Status TakeAnswer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetWake(std::function<void()> wake) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Duration TimeLeft() const;

  Runtime& runtime_;
  const v1::CompileRequest request_;
  const Share share_;
  const bool has_patience_;
  const absl::Duration answer_by_;

  absl::Mutex mu_;
  std::function<void()> wake_ ABSL_GUARDED_BY(mu_);
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  // The module that the tasks so far have left.
  v1::ModuleSource module_ ABSL_GUARDED_BY(mu_);
  // The decisions of the tasks so far.
  v1::CompileResponse decided_ ABSL_GUARDED_BY(mu_);
  // Why the tasks that were not begun are missing.
  std::string missing_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<Compilation> task_ ABSL_GUARDED_BY(mu_);
  // Ends the current task's time.
  std::unique_ptr<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_COMPILE_SEQUENCE_H_
