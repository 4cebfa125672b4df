#ifndef HONE_TUNING_STORED_MODULE_H_
#define HONE_TUNING_STORED_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "storage/store.h"

namespace hone::tuning {

// Stores `module` as HLO text and returns the digest of the blob.
absl::StatusOr<std::string> StoreModule(storage::Store& store,
                                        const hlo::Module& module);

// Parses and verifies the bytes of a blob, HLO text or a proto.
// Errors: DataLoss if they are no valid module.
absl::StatusOr<hlo::Module> ParseStoredModule(absl::string_view bytes,
                                              absl::string_view digest);

// Reads and verifies the module in a blob.
// Errors: the store's; those of ParseStoredModule.
absl::StatusOr<hlo::Module> ReadStoredModule(storage::Store& store,
                                             absl::string_view digest);

// Reads the module that `record` publishes.
// Errors: also FailedPrecondition if its task does not rewrite modules.
absl::StatusOr<hlo::Module> ReadTunedModule(storage::Store& store,
                                            const storage::Record& record);

}  // namespace hone::tuning

#endif  // HONE_TUNING_STORED_MODULE_H_
