#ifndef HONE_HLO_IR_LAPACK_CALL_H_
#define HONE_HLO_IR_LAPACK_CALL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/element_type.h"

namespace hone::hlo {

// A custom call to LAPACK or BLAS as JAX emits it: the target
// "lapack_spotrf_ffi" is potrf for f32.
struct LapackCall {
  std::string routine;  // without the letter of the type
  ElementType type = ElementType::kInvalid;

  // Returns nullopt for other targets.
  static std::optional<LapackCall> OfTarget(absl::string_view target);
};

// Returns the number `name` of backend_config={uplo = 76 : ui8, …}; nullopt if
// there is none.
std::optional<int64_t> BackendConfigNumber(const Attributes& attributes,
                                           absl::string_view name);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_LAPACK_CALL_H_
