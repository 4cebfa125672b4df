#ifndef HONE_TESTS_SUPPORT_NPZ_H_
#define HONE_TESTS_SUPPORT_NPZ_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"

#include "hlo/ir/literal.h"

namespace hone::testing {

// The arrays of a NumPy .npz file (stored or deflated, row-major,
// little-endian) by name, without `.npy`.
// Errors: NotFound, InvalidArgument.
absl::StatusOr<std::map<std::string, hlo::Literal>> ReadNpz(
    const std::string& path);

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_NPZ_H_
