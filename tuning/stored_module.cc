#include "tuning/stored_module.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/io.h"
#include "hlo/text/printer.h"

namespace hone::tuning {

absl::StatusOr<std::string> StoreModule(storage::Store& store,
                                        const hlo::Module& module) {
  return store.PutBlob(hlo::PrintModule(module));
}

absl::StatusOr<hlo::Module> ParseStoredModule(absl::string_view bytes,
                                              absl::string_view digest) {
  absl::StatusOr<hlo::Module> module =
      hlo::ParseHlo(bytes, absl::StrCat("blob ", digest));
  const absl::Status status =
      module.ok() ? hlo::VerifyModule(*module) : module.status();
  if (!status.ok()) {
    return absl::DataLossError(
        absl::StrCat("blob ", digest, " is no module: ", status.message()));
  }
  return module;
}

absl::StatusOr<hlo::Module> ReadStoredModule(storage::Store& store,
                                             absl::string_view digest) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, store.GetBlob(digest));
  return ParseStoredModule(bytes, digest);
}

absl::StatusOr<hlo::Module> ReadTunedModule(storage::Store& store,
                                            const storage::Record& record) {
  if (record.tuned_module_digest.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "task '", record.key.task, "' does not rewrite the module"));
  }
  return ReadStoredModule(store, record.tuned_module_digest);
}

}  // namespace hone::tuning
