#include "work/read_module.h"

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"
#include "tuning/subject.h"

namespace hone::work {

absl::StatusOr<hlo::Module> ReadModule(absl::string_view bytes,
                                       absl::string_view file_name) {
  HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                        tuning::ParseSubject(bytes, file_name));
  if (subject.kind() != tuning::SubjectKind::kModule) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, " is ", tuning::SubjectKindName(subject.kind()),
                     ", expected an HLO module"));
  }
  return subject.module();
}

absl::StatusOr<std::string> WriteModule(const hlo::Module& module,
                                        v1::ModuleFormat format) {
  if (format == v1::MODULE_FORMAT_PROTO) return hlo::SerializeHloProto(module);
  return hlo::PrintModule(module);
}

}  // namespace hone::work
