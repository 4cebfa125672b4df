#include "graphs/mcm/bundled_packages.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/embedded_file.h"
#include "base/status_macros.h"

// HONE_PACKAGE_FILES is the folder packages/.
#define HONE_PACKAGE(symbol, name) \
  HONE_EMBED_FILE(symbol, HONE_PACKAGE_FILES "/" name ".toml");
#include "graphs/mcm/packages.def"
#undef HONE_PACKAGE

namespace hone::graphs {

const Registry<BundledPackage>& BundledPackages() {
  static const auto* const packages =
      new Registry<BundledPackage>("package", {
#define HONE_PACKAGE(symbol, name) {name, HONE_EMBEDDED_FILE(symbol)},
#include "graphs/mcm/packages.def"
#undef HONE_PACKAGE
                                              });
  return *packages;
}

absl::StatusOr<Package> FindPackage(absl::string_view name_or_text) {
  if (absl::StrContains(name_or_text, '=')) {
    return ParsePackage(name_or_text, "<package>");
  }
  HONE_ASSIGN_OR_RETURN(const BundledPackage* const package,
                        BundledPackages().Find(name_or_text));
  return ParsePackage(package->text, absl::StrCat(package->id, ".toml"));
}

}  // namespace hone::graphs
