#ifndef HONE_DAEMON_SERVICES_COMPILATION_H_
#define HONE_DAEMON_SERVICES_COMPILATION_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "daemon/services/call.h"
#include "hone/v1/compile_service.pb.h"
#include "storage/record.h"

namespace hone::daemon {

// One Compile: collects answers in the background, better ones later, until the
// caller's patience is over. Lives as long as the background needs it, which
// may be longer than the call: its tuning goes on.
// Threads: thread-safe.
class Compilation : public std::enable_shared_from_this<Compilation> {
 public:
  // Answers are needed after `patience`.
  Compilation(Runtime& runtime, const v1::CompileRequest& request,
              absl::Duration patience);

  // Checks the request. Returns the wait for an answer, which the background
  // then looks for; nothing if too many calls wait already.
  // Errors: those of the specification.
  absl::StatusOr<std::optional<Wait>> Begin();

  // Writes the best answer so far: the published or tuned module, else the
  // verified default, else the module as it was sent. Errors: of the request.
  absl::Status Finish(v1::CompileResponse& response);

 private:
  struct Answer {
    std::string module;
    v1::Decision decision;
  };

  // The background, in this order.
  void Work();
  absl::Status Tune();
  void ApplyDefault();
  void OnTuned(const storage::Record& record);

  absl::StatusOr<Answer> AnswerOf(v1::Decision::Source source,
                                  const storage::Record& record);
  // Has what there is sent now.
  void Wake() ABSL_LOCKS_EXCLUDED(mu_);
  void SetWake(std::function<void()> wake) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Duration TimeLeft() const;

  Runtime& runtime_;
  const v1::CompileRequest request_;
  const bool has_patience_;
  const absl::Duration answer_by_;
  tuning::TuningSpec spec_;
  // Used by the background tasks only, one at a time.
  ModuleLoader::Description module_;
  storage::CacheKey key_;
  TuningExecutor::Subscription subscription_;

  absl::Mutex mu_;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool is_done_ ABSL_GUARDED_BY(mu_) = false;  // Nothing better will come.
  std::function<void()> wake_ ABSL_GUARDED_BY(mu_);
  std::optional<Answer> published_ ABSL_GUARDED_BY(mu_);
  std::optional<Answer> default_ ABSL_GUARDED_BY(mu_);
  std::string tuning_id_ ABSL_GUARDED_BY(mu_);
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  // Why the module is sent as it came.
  std::string missing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_COMPILATION_H_
