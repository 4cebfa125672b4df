#include "cli/read_subject.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "graphs/device_graph_json.h"
#include "hlo/read_module.h"

namespace hone::cli {

absl::StatusOr<tuning::Subject> ReadSubject(
    const std::string& bytes, const std::string& path, const tuning::Task& task,
    const tuning::TaskOptions& options) {
  absl::StatusOr<tuning::Subject> subject =
      tuning::ParseSubject(bytes, path, task.graph_kind(options));
  if (!subject.ok() &&
      task.subject_kinds(options).front() == tuning::SubjectKind::kGraph) {
    // What is no module either is told what is wrong with it as a graph.
    return graphs::ParseDeviceGraph(bytes, path);
  }
  HONE_RETURN_IF_ERROR(subject.status());
  HONE_RETURN_IF_ERROR(task.CheckSubject(subject->kind(), path, options));
  return subject;
}

absl::StatusOr<hlo::Module> ReadModule(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(path));
  if (tuning::IsJson(bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is JSON, expected an HLO module"));
  }
  HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                        tuning::ParseSubject(bytes, path));
  return subject.module();
}

}  // namespace hone::cli
