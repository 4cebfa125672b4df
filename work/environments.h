#ifndef HONE_WORK_ENVIRONMENTS_H_
#define HONE_WORK_ENVIRONMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/thread_pool.h"
#include "hlo/ir/module.h"
#include "hone/internal/work.pb.h"
#include "space/episode.h"
#include "space/problem.h"
#include "work/parent.h"

namespace hone::work {

// Longest episode of an environment.
inline constexpr int32_t kMaxEpisodeSteps = 10'000;
// Observations in one answer, all together.
inline constexpr int64_t kMaxObservationBytes = int64_t{64} << 20;

// The environments of a process. Threads: not thread-safe; one call at a time.
class Environments {
 public:
  // Takes the steps of batches on `pool`; asks `parent` whether to stop.
  Environments(Parent& parent, ThreadPool& pool)
      : parent_(parent), pool_(pool) {}

  // Errors of opening: InvalidArgument for a malformed module, with
  // file:line:column; those of Task::MakeProblem. Errors of a step, which stand
  // in its result: InvalidArgument for a bad action; FailedPrecondition if the
  // episode ends before the last one; ResourceExhausted if the observations
  // take more than kMaxObservationBytes.
  absl::StatusOr<internal::EnvironmentAnswer> Do(
      const internal::EnvironmentCall& call);

 private:
  // A problem with its module and its cached steps.
  struct Problem {
    std::string key;
    hlo::Module module;
    int64_t constant_bytes = 0;
    std::string task;
    std::unique_ptr<space::Problem> problem;  // sequential
    double default_score = 0;
  };
  struct Environment {
    std::shared_ptr<Problem> problem;
    space::Episode episode;
    int32_t max_steps = 0;
    v1::ObservationParts parts;
    // The last step request with an id, and the episode before it, so that the
    // request can be repeated.
    std::string last_request_id = "";
    std::optional<space::Episode> before_last_request = std::nullopt;
  };
  class ResponseRoom;

  absl::Status Open(const internal::EnvironmentCall::Open& asked,
                    internal::EnvironmentAnswer& answer);
  absl::Status Fork(const internal::EnvironmentCall::Fork& asked,
                    internal::EnvironmentAnswer& answer);
  void StepAll(const v1::StepBatchRequest& asked,
               internal::EnvironmentAnswer& answer);
  absl::Status Step(const v1::StepRequest& asked, ResponseRoom& room,
                    v1::StepResponse& taken);
  absl::StatusOr<std::shared_ptr<Problem>> ProblemOf(
      const internal::EnvironmentCall::Open& asked);
  absl::Status Add(const std::string& name, Environment environment,
                   internal::EnvironmentAnswer& answer);
  void ShareMemory();

  Parent& parent_;
  ThreadPool& pool_;
  int64_t memory_bytes_ = int64_t{1} << 30;
  absl::flat_hash_map<std::string, std::unique_ptr<Environment>> environments_;
  absl::flat_hash_map<std::string, std::weak_ptr<Problem>> problems_;
};

}  // namespace hone::work

#endif  // HONE_WORK_ENVIRONMENTS_H_
