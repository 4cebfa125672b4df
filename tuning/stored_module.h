#ifndef HONE_TUNING_STORED_MODULE_H_
#define HONE_TUNING_STORED_MODULE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "storage/store.h"

namespace hone::tuning {

// The module that a blob holds as HLO text, verified.
// Errors: the store's; DataLoss when it is no module.
absl::StatusOr<hlo::Module> LoadModule(storage::Store& store,
                                       absl::string_view digest);

}  // namespace hone::tuning

#endif  // HONE_TUNING_STORED_MODULE_H_
