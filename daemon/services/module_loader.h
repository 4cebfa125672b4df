#ifndef HONE_DAEMON_SERVICES_MODULE_LOADER_H_
#define HONE_DAEMON_SERVICES_MODULE_LOADER_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "daemon/lru_map.h"
#include "daemon/quarantine.h"
#include "hlo/analysis/evaluation_cost.h"
#include "hone/v1/module.pb.h"
#include "storage/store.h"
#include "tuning/subject.h"
#include "work/work_pool.h"

namespace hone::daemon {

// Reads the modules and graphs that requests name, in other processes: the
// daemon itself looks at none.
// Threads: thread-safe.
class ModuleLoader {
 public:
  // Returns true if the caller needs no result any more.
  using StopPredicate = std::function<bool()>;

  ModuleLoader(storage::Store& store, work::WorkPool& pool,
               Quarantine& quarantine)
      : store_(store), pool_(pool), quarantine_(quarantine) {}

  // The identity of a module, without its content.
  struct Description {
    std::string digest;  // of its bytes
    std::string fingerprint;
    std::string name;
    tuning::SubjectKind kind = tuning::SubjectKind::kModule;
    // The estimated cost of one evaluation; 0 for a graph.
    hlo::EvaluationCost cost;
  };
  // Parses and verifies the module, unless it is remembered. Errors about JSON
  // are those of a graph of kind `expected` (tuning::ParseSubject).
  // Errors: InvalidArgument (MALFORMED_MODULE, with file:line:column; or no
  // module given); NotFound (MODULE_UNKNOWN) for a digest that is not stored;
  // FailedPrecondition (MODULE_QUARANTINED); those of WorkPool::Run.
  absl::StatusOr<Description> Describe(const v1::ModuleSource& source,
                                       tuning::SubjectKind expected,
                                       const StopPredicate& stop = nullptr);
  // The same for a stored module.
  absl::StatusOr<Description> DescribeStored(absl::string_view digest);

  // Returns the description of a module that was read recently, without
  // blocking.
  std::optional<Description> Remembered(absl::string_view digest);

  // Returns the digest of the bytes that `source` names; hashes its content.
  static std::string DigestOf(const v1::ModuleSource& source);
  // Returns the bytes. Errors: InvalidArgument, NotFound, as Describe.
  absl::StatusOr<std::string> Bytes(const v1::ModuleSource& source);

  // The name of the module in messages.
  static absl::string_view FileNameOf(const v1::ModuleSource& source);

 private:
  absl::StatusOr<std::string> ReadBlob(absl::string_view digest);
  absl::StatusOr<Description> Read(std::string bytes, std::string digest,
                                   absl::string_view file_name,
                                   tuning::SubjectKind expected,
                                   const StopPredicate& stop);

  storage::Store& store_;
  work::WorkPool& pool_;
  Quarantine& quarantine_;
  LruMap<Description> known_{1 << 16};  // by digest
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_MODULE_LOADER_H_
