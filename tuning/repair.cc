#include "tuning/repair.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "space/measurement.h"

namespace hone::tuning {
namespace {

class Repairer {
 public:
  Repairer(const Task& task, const Subject& subject,
           const space::SequentialProblem& problem, double default_cost,
           const VerifyOptions& options)
      : task_(task),
        subject_(subject),
        problem_(problem),
        default_cost_(default_cost),
        options_(options),
        deadline_(SystemClock().Monotonic() + options.time_limit) {}

  absl::StatusOr<Winner> Run(space::Candidate candidate, absl::Status refusal) {
    std::string left_out;
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const size_t fault, FindFault(candidate, refusal));
      absl::StrAppend(&left_out, "; left out ", Remove(fault, candidate), ": ",
                      refusal.message());
      HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                            problem_.Measure(candidate));
      if (!(space::EffectiveCost(measurement) < default_cost_)) {
        return absl::FailedPreconditionError(
            absl::StrCat(refusal.message(),
                         ", and the decision is no better than the "
                         "default without what made it wrong",
                         left_out));
      }
      absl::StatusOr<Winner> winner = Judge(candidate);
      if (winner.ok()) {
        absl::StrAppend(&winner->verification.method, left_out);
        return winner;
      }
      if (!absl::IsFailedPrecondition(winner.status())) return winner.status();
      refusal = winner.status();
    }
  }

 private:
  absl::StatusOr<Winner> Judge(const space::Candidate& candidate) const {
    VerifyOptions options = options_;
    options.time_limit = deadline_ - SystemClock().Monotonic();
    if (options.time_limit <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError("no time to find what made it wrong");
    }
    return task_.Judge(subject_, problem_, candidate, options);
  }

  // Returns the index of a step up to which `candidate` is right and with which
  // it is wrong. `refusal` becomes the reason.
  absl::StatusOr<size_t> FindFault(const space::Candidate& candidate,
                                   absl::Status& refusal) const {
    size_t right = 0;
    size_t wrong = candidate.choices.size();
    while (wrong - right > 1) {
      const size_t middle = right + (wrong - right) / 2;
      space::Candidate prefix;
      prefix.choices.assign(
          candidate.choices.begin(),
          candidate.choices.begin() + static_cast<std::ptrdiff_t>(middle));
      const absl::Status status = Judge(prefix).status();
      if (status.ok()) {
        right = middle;
      } else if (absl::IsFailedPrecondition(status)) {
        wrong = middle;
        refusal = status;
      } else {
        return status;
      }
    }
    // Nothing was run, and it is wrong.
    if (wrong == 0) return refusal;
    return right;
  }

  // The name of the action at that step of a candidate.
  std::string NameOf(size_t step, const space::Candidate& candidate) const {
    space::StatePtr state = problem_.InitialState();
    for (size_t i = 0; i < step; ++i) {
      absl::StatusOr<space::StatePtr> next =
          problem_.Step(state, candidate.choices[i]);
      if (!next.ok()) return problem_.ActionName(candidate.choices[step]);
      state = *std::move(next);
    }
    return problem_.ActionNameIn(state, candidate.choices[step]);
  }

  // Removes that step and describes it. An action that is at fault for the
  // second time is removed everywhere.
  std::string Remove(size_t step, space::Candidate& candidate) {
    const int32_t action = candidate.choices[step];
    const std::string name = NameOf(step, candidate);
    if (!faulty_.insert(action).second) {
      std::erase(candidate.choices, action);
      return absl::StrCat("every ", name);
    }
    const size_t steps = candidate.choices.size();
    candidate.choices.erase(candidate.choices.begin() +
                            static_cast<std::ptrdiff_t>(step));
    return absl::StrCat(name, " (step ", step + 1, " of ", steps, ")");
  }

  const Task& task_;
  const Subject& subject_;
  const space::SequentialProblem& problem_;
  const double default_cost_;
  const VerifyOptions& options_;
  const absl::Duration deadline_;
  absl::flat_hash_set<int32_t> faulty_;
};

}  // namespace

absl::StatusOr<Winner> Repair(const Task& task, const Subject& subject,
                              const space::SequentialProblem& problem,
                              space::Candidate candidate, absl::Status refusal,
                              double default_cost,
                              const VerifyOptions& options) {
  return Repairer(task, subject, problem, default_cost, options)
      .Run(std::move(candidate), std::move(refusal));
}

}  // namespace hone::tuning
