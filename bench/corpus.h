#ifndef HONE_BENCH_CORPUS_H_
#define HONE_BENCH_CORPUS_H_

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::bench {

// One module of the bundled corpus (bench/data/README.md).
struct CorpusEntry {
  std::string name;
  int64_t ops = 0;      // as lowered by JAX
  int64_t xla_ops = 0;  // after XLA's own target-independent pipeline
  std::string path;
};

// Reads the entries of DIRECTORY/manifest.json whose name contains a match of
// the regular expression `only` (empty: all), in the manifest's order. Errors:
// NotFound without a manifest; InvalidArgument for a broken one, a bad
// expression, or if nothing matches.
absl::StatusOr<std::vector<CorpusEntry>> ReadCorpus(
    const std::string& directory, const std::string& only);

// Parses the value of `--only`. Errors: InvalidArgument for a bad expression.
absl::StatusOr<std::regex> ParseOnly(const std::string& only);

// Describes this machine for published figures: "AMD EPYC, 2 threads, Linux
// 6.1.0, g++ 12.2.0".
std::string DescribeMachine();

}  // namespace hone::bench

#endif  // HONE_BENCH_CORPUS_H_
