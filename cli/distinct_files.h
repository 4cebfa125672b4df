#ifndef HONE_CLI_DISTINCT_FILES_H_
#define HONE_CLI_DISTINCT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace hone::cli {

// A path and the option or argument that gives it, for messages.
struct NamedPath {
  std::string name;
  std::string path;
};

// Checks that no two of `outputs` are the same file, and none is one of
// `inputs`, however their paths lead there, so that a command overwrites
// nothing that it reads or has written. Empty paths, "-" and devices are left
// out. Errors: InvalidArgument, which names both.
absl::Status CheckDistinctFiles(const std::vector<NamedPath>& outputs,
                                const std::vector<NamedPath>& inputs);

}  // namespace hone::cli

#endif  // HONE_CLI_DISTINCT_FILES_H_
