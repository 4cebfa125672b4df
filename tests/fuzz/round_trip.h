#ifndef HONE_TESTS_FUZZ_ROUND_TRIP_H_
#define HONE_TESTS_FUZZ_ROUND_TRIP_H_

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// Aborts unless a module that parsed and verifies prints to text, and (where it
// has no elided constants) to a proto, that read back to the same fingerprint.
void CheckRoundTrips(const absl::StatusOr<Module>& module);

}  // namespace hone::hlo

#endif  // HONE_TESTS_FUZZ_ROUND_TRIP_H_
