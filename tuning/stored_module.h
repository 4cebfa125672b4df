#ifndef HONE_TUNING_STORED_MODULE_H_
#define HONE_TUNING_STORED_MODULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "storage/store.h"
#include "tuning/subject.h"

namespace hone::tuning {

// Stores `subject` as text and returns the digest of the blob.
absl::StatusOr<std::string> StoreSubject(storage::Store& store,
                                         const Subject& subject);

// Parses and verifies the bytes of a blob (ParseSubject). A graph is named
// `name`. Errors: DataLoss if they are no valid subject.
absl::StatusOr<Subject> ParseStoredSubject(absl::string_view bytes,
                                           absl::string_view digest,
                                           absl::string_view name);

// Reads and verifies the module in a blob.
// Errors: the store's; DataLoss if it is no valid module.
absl::StatusOr<hlo::Module> ReadStoredModule(storage::Store& store,
                                             absl::string_view digest);

// Reads the module that `record` publishes.
// Errors: also FailedPrecondition if its task makes no module.
absl::StatusOr<hlo::Module> ReadTunedModule(storage::Store& store,
                                            const storage::Record& record);

}  // namespace hone::tuning

#endif  // HONE_TUNING_STORED_MODULE_H_
