#ifndef HONE_GRAPHS_MCM_BUNDLED_PACKAGES_H_
#define HONE_GRAPHS_MCM_BUNDLED_PACKAGES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "graphs/mcm/package.h"

namespace hone::graphs {

// One line of packages.def: a file of packages/, which is part of the program.
struct BundledPackage {
  absl::string_view id;
  absl::string_view text;  // TOML
};

const Registry<BundledPackage>& BundledPackages();

// Returns the package that `name_or_text` says: the name of a bundled one, or,
// if it has a `=`, a description (ParsePackage).
// Errors: NotFound for an unknown name, listing the known ones; those of
// ParsePackage.
absl::StatusOr<Package> FindPackage(absl::string_view name_or_text);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_BUNDLED_PACKAGES_H_
