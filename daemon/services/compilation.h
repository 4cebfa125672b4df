#ifndef HONE_DAEMON_SERVICES_COMPILATION_H_
#define HONE_DAEMON_SERVICES_COMPILATION_H_

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
#include "hone/v1/module.pb.h"
#include "hone/v1/tuning.pb.h"
#include "storage/record.h"

namespace hone::daemon {

// A task to apply to a module.
struct CompileTask {
  v1::ModuleSource module;
  v1::TuningSpec spec;
  // The form of the rewritten module.
  v1::ModuleFormat format;
  // The caller's share of the tuning.
  Share share;
};

// Returns the name of a specification's task.
std::string TaskNameOf(const v1::TuningSpec& spec);

// One task of a Compile: collects answers in the background, better ones later,
// until its time is over. Lives as long as the background needs it, which may
// be longer than the call: its tuning goes on. Threads: thread-safe.
class Compilation : public std::enable_shared_from_this<Compilation> {
 public:
  // A module and the decision by which it was made; no module if none was, or
  // if the task makes none.
  struct Answer {
    std::optional<std::string> module;
    v1::Decision decision;
  };

  // The answer is needed at `answer_by`, by SystemClock().Monotonic(). Without
  // patience, it waits for no tuning. The specification has been checked.
  Compilation(Runtime& runtime, CompileTask task, bool has_patience,
              absl::Duration answer_by);

  // Looks for answers in the background. Calls `end`, which must not block,
  // once there is no better one to come.
  void Start(std::function<void()> end);

  // Returns the best answer so far: the published or tuned module, else the
  // verified default, else none. Called once. Errors: of the request.
  absl::StatusOr<Answer> Finish();

 private:
  // The background, in this order.
  void Work();
  absl::Status Tune();
  void ApplyDefault();
  void OnTuned(const storage::Record& record);

  // Returns the module of a record that has one, in the format of the task.
  absl::StatusOr<std::string> TunedModule(const storage::Record& record);
  absl::StatusOr<Answer> AnswerOf(v1::Decision::Source source,
                                  const storage::Record& record);
  // Has what there is taken now.
  void End() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Duration TimeLeft() const;

  Runtime& runtime_;
  const CompileTask task_;
  const bool has_patience_;
  const absl::Duration answer_by_;
  // Used by the background tasks only, one at a time.
  ModuleLoader::Description module_;
  storage::CacheKey key_;
  TuningExecutor::Subscription subscription_;

  absl::Mutex mu_;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> end_ ABSL_GUARDED_BY(mu_);
  std::optional<Answer> published_ ABSL_GUARDED_BY(mu_);
  std::optional<Answer> default_ ABSL_GUARDED_BY(mu_);
  std::string tuning_id_ ABSL_GUARDED_BY(mu_);
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  // Why there is no answer.
  std::string missing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_COMPILATION_H_
