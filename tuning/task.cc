#include "tuning/task.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "space/measurement.h"

namespace hone::tuning {

SubjectKind Task::graph_kind(const TaskOptions& options) const {
  return absl::c_linear_search(subject_kinds(options), SubjectKind::kOperators)
             ? SubjectKind::kOperators
             : SubjectKind::kGraph;
}

absl::Status Task::CheckSubject(SubjectKind kind, absl::string_view name,
                                const TaskOptions& options) const {
  const std::vector<SubjectKind> expected = subject_kinds(options);
  if (absl::c_linear_search(expected, kind)) return absl::OkStatus();
  const absl::string_view others = OptionsForKind(kind);
  const std::string names =
      absl::StrJoin(expected, " or ", [](std::string* out, SubjectKind of) {
        absl::StrAppend(out, SubjectKindName(of));
      });
  return absl::InvalidArgumentError(absl::StrCat(
      name, " is ", SubjectKindName(kind), ", expected ", names, " for task '",
      this->name(), "'", others.empty() ? "" : ", or ", others));
}

absl::StatusOr<std::unique_ptr<space::Problem>> Task::MakeProblem(
    const Subject& subject, const TaskOptions& options,
    const TaskContext& context) const {
  HONE_RETURN_IF_ERROR(CheckSubject(subject.kind(), subject.name(), options));
  return CreateProblem(subject, options, context);
}

absl::StatusOr<Winner> Task::Judge(const Subject& subject,
                                   const space::Problem& problem,
                                   const space::Candidate& candidate,
                                   const VerifyOptions& options) const {
  HONE_ASSIGN_OR_RETURN(const space::Measurement measurement,
                        problem.Measure(candidate));
  if (measurement.outcome != space::Outcome::kOk) {
    return absl::InternalError(
        absl::StrCat("candidate is ", space::OutcomeName(measurement.outcome),
                     ": ", measurement.message));
  }
  HONE_ASSIGN_OR_RETURN(AppliedDecision applied,
                        Apply(subject, problem, candidate));
  if (!applied.module.has_value()) {
    return absl::InternalError(
        absl::StrCat("task '", name(),
                     "' makes no module, expected it to verify by itself"));
  }
  HONE_ASSIGN_OR_RETURN(
      storage::Verification verification,
      VerifyRewrite(subject.module(), *applied.module, options));
  return Winner{measurement.cost, std::move(applied), std::move(verification)};
}

}  // namespace hone::tuning
