#ifndef HONE_DAEMON_NAMES_H_
#define HONE_DAEMON_NAMES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

// Names of resources, "projects/PROJECT/COLLECTION/ID", made and parsed.
//
// PROJECT and ID are 1 to 128 letters, digits, '.', '_' and '-', not beginning
// with '.'. A project is a namespace of names only: the store knows none. The
// only one yet is "default"; others are reserved for tenants.
namespace hone::daemon {

// The names of resources of the default project: "projects/default/tunings/ID".
std::string EnvironmentName(absl::string_view id);
std::string OperationName(absl::string_view id);
std::string RecordName(absl::string_view digest);
std::string TuningName(absl::string_view id);

// Return the id in a name. Errors: InvalidArgument (INVALID_FIELD) for a name
// of another form; NotFound for another project.
absl::StatusOr<std::string> EnvironmentId(absl::string_view name);
absl::StatusOr<std::string> OperationId(absl::string_view name);
absl::StatusOr<std::string> RecordDigest(absl::string_view name);
absl::StatusOr<std::string> TuningId(absl::string_view name);

// Checks "projects/PROJECT"; empty stands for the default project. field: of
// the request, for messages. Errors: as above.
absl::Status CheckParent(absl::string_view parent,
                         absl::string_view field = "parent");

}  // namespace hone::daemon

#endif  // HONE_DAEMON_NAMES_H_
