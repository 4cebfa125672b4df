#include "tuning/stored_module.h"

#include <string>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tuning/tuner.h"

namespace hone::tuning {

absl::StatusOr<hlo::Module> LoadModule(storage::Store& store,
                                       absl::string_view digest) {
  HONE_ASSIGN_OR_RETURN(const std::string text, store.GetBlob(digest));
  absl::StatusOr<hlo::Module> module =
      hlo::ParseHloText(text, absl::StrCat("blob ", digest));
  const absl::Status status =
      module.ok() ? hlo::VerifyModule(*module) : module.status();
  if (!status.ok()) {
    return absl::DataLossError(
        absl::StrCat("blob ", digest, " is no module: ", status.message()));
  }
  return module;
}

absl::StatusOr<hlo::Module> TunedModule(const TunerContext& context,
                                        const storage::Record& record) {
  if (record.tuned_module_digest.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "task '", record.key.task, "' does not rewrite the module"));
  }
  return LoadModule(*context.store, record.tuned_module_digest);
}

}  // namespace hone::tuning
