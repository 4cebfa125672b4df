#ifndef HONE_BENCH_PARSE_H_
#define HONE_BENCH_PARSE_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct ParseOptions {
  std::string corpus = "bench/data/corpus";
  // A Python with jaxlib; empty: XLA's own parser is left out.
  std::string python = ".venv/bin/python";
  int32_t rounds = 11;
};

// Measures the basic operations: parsing the largest corpus module, against
// XLA's own text parser (alternating, same file); printing, fingerprinting, dce
// and cse of it; and a search step (fork, one pass, count, fingerprint) on a
// module of about 1,000 instructions, over every pass. Reports medians and
// quartiles.
absl::StatusOr<nlohmann::ordered_json> RunParseBench(
    const ParseOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PARSE_H_
