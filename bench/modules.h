#ifndef HONE_BENCH_MODULES_H_
#define HONE_BENCH_MODULES_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

namespace hone::bench {

struct ModulesOptions {
  // A regular expression that names must match; empty: all.
  std::string only;
  // 1 or 2.
  int32_t threads = 1;
  // Undisturbed samples of each module on either side; even, at least 6.
  int32_t rounds = 10;
  // Seconds after which a module counts as not equal.
  int32_t limit = 600;
  // Seconds after which XLA counts as not compiling a module.
  int32_t xla_limit = 240;
  // A folder of tuned shared objects, NAME.so, that are timed too; empty: none.
  std::string tuned;
  // A Python interpreter with jax, and with zstandard for the corpus.
  std::string python = ".venv/bin/python";
  // The most instructions of a module of the corpus.
  int64_t instructions = 3000;
};

// Compares and times the modules of the corpus, by default schedules, beside
// XLA:CPU: bench/kernels/time_modules.py. The caller must be the program
// `hone`.
absl::StatusOr<nlohmann::ordered_json> RunModulesBench(
    const ModulesOptions& options, std::ostream& out);

// The same of the programs of bench/data/user_programs.
absl::StatusOr<nlohmann::ordered_json> RunUserProgramsBench(
    const ModulesOptions& options, std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_MODULES_H_
