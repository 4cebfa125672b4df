#include "tuning/stored_module.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::tuning {

absl::StatusOr<std::string> StoreSubject(storage::Store& store,
                                         const Subject& subject) {
  return store.PutBlob(subject.Print());
}

absl::StatusOr<Subject> ParseStoredSubject(absl::string_view bytes,
                                           absl::string_view digest,
                                           absl::string_view name) {
  absl::StatusOr<Subject> subject = ParseSubject(bytes, name);
  if (!subject.ok()) {
    return absl::DataLossError(absl::StrCat(
        "blob ", digest,
        " is neither a module nor a graph: ", subject.status().message()));
  }
  return subject;
}

absl::StatusOr<hlo::Module> ReadStoredModule(storage::Store& store,
                                             absl::string_view digest) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, store.GetBlob(digest));
  HONE_ASSIGN_OR_RETURN(const Subject subject,
                        ParseStoredSubject(bytes, digest, "graph"));
  if (subject.kind() != SubjectKind::kModule) {
    return absl::DataLossError(absl::StrCat("blob ", digest, " is ",
                                            SubjectKindName(subject.kind()),
                                            ", expected an HLO module"));
  }
  return subject.module();
}

absl::StatusOr<hlo::Module> ReadTunedModule(storage::Store& store,
                                            const storage::Record& record) {
  if (record.tuned_module_digest.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("task '", record.key.task, "' makes no module"));
  }
  return ReadStoredModule(store, record.tuned_module_digest);
}

}  // namespace hone::tuning
