#ifndef HONE_DAEMON_SERVICES_MODULE_LOADER_H_
#define HONE_DAEMON_SERVICES_MODULE_LOADER_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "daemon/lru_map.h"
#include "hlo/ir/module.h"
#include "hone/v1/module.pb.h"
#include "storage/store.h"

namespace hone::daemon {

// Loads the modules that requests name, and their fingerprints.
// Threads: thread-safe.
class ModuleLoader {
 public:
  explicit ModuleLoader(storage::Store& store) : store_(store) {}

  struct Loaded {
    hlo::Module module;
    std::string fingerprint;
  };
  // Parses and verifies.
  // Errors: InvalidArgument (MALFORMED_MODULE, with file:line:column; or no
  // module given); NotFound (MODULE_UNKNOWN) for a digest that is not stored.
  absl::StatusOr<Loaded> Load(const v1::ModuleSource& source);

  // Returns the fingerprint only. Errors: as Load.
  absl::StatusOr<std::string> FingerprintOfDigest(absl::string_view digest);
  // Returns the fingerprint of a recently loaded module without blocking.
  std::optional<std::string> RememberedFingerprint(absl::string_view digest);
  // The same by source. Hashes the content.
  std::optional<std::string> RememberedFingerprint(
      const v1::ModuleSource& source);

 private:
  absl::StatusOr<Loaded> Parse(absl::string_view bytes,
                               absl::string_view digest,
                               absl::string_view file_name);
  absl::StatusOr<std::string> ReadBlob(absl::string_view digest);

  storage::Store& store_;
  LruMap<std::string> fingerprints_{1 << 16};  // by digest
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_MODULE_LOADER_H_
