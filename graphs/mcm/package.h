#ifndef HONE_GRAPHS_MCM_PACKAGE_H_
#define HONE_GRAPHS_MCM_PACKAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "graphs/cluster.h"

namespace hone::graphs {

// The most chips of a package: a set of chips is a word.
inline constexpr int32_t kMaxChips = 64;

// A multi-chip module: equal chips on a ring that carries data in one
// direction, from each chip to the next.
struct Package {
  int32_t chips = 0;
  // Figures of each chip, up to `op_seconds`.
  double flops_per_second = 0;
  double bytes_per_second = 0;  // to and from its SRAM
  double memory_bytes = 0;      // SRAM
  double op_seconds = 0;        // overhead of each operator
  // Between the package's memory and a chip.
  double spill_bytes_per_second = 0;
  Link link;  // from a chip to the next

  friend bool operator==(const Package&, const Package&) = default;
};

// Parses a description in TOML:
//
//   [chips]
//   count = 36
//   flops_per_second = 12e12
//   bytes_per_second = 1e12
//   memory_bytes = 32e6
//   op_seconds = 0.5e-6
//   spill_bytes_per_second = 4e9
//   [link]
//   bytes_per_second = 16e9
//   latency_seconds = 1e-6
//
// Errors: InvalidArgument, "FILE:LINE:COLUMN: which key, expected what", for
// text that is not TOML, unknown and missing keys, and values out of range (at
// most kMaxChips chips); for more than 8 KiB.
absl::StatusOr<Package> ParsePackage(absl::string_view text,
                                     absl::string_view file);

// Returns a description of two lines, the same for equal packages, without `;`
// and `|`. Parsing it gives an equal package.
std::string PrintPackage(const Package& package);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_MCM_PACKAGE_H_
