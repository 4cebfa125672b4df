#ifndef HONE_TESTS_HLO_PASSES_ALGSIMP_RULE_CHECK_H_
#define HONE_TESTS_HLO_PASSES_ALGSIMP_RULE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "hlo/rewrite/numerics.h"

namespace hone::hlo {

// An element type and the values that rules go wrong on, as HLO text: zeros,
// limits of the type, the smallest numbers, infinities and NaN. All of them are
// numbers of that type exactly.
struct TypeUnderTest {
  std::string name;
  std::vector<std::string> values;
};

// `f`loats, `i`ntegers, `p`red, `c`omplex, as many as `kinds` names; complex
// values are real parts.
std::vector<TypeUnderTest> TypesUnderTest(absl::string_view kinds);

// Arguments for the entry computation: arrays go through the special values of
// their types, two of them through every pair of values; a scalar is random.
std::vector<Literal> SpecialArguments(const Module& module, uint64_t seed);
// Integers in [-3, 4] (or [0, 7] where there is no sign) of any type, whose
// sums and products are exact.
std::vector<Literal> SmallArguments(const Module& module, uint64_t seed);

// Runs algsimp on the module, checking each rewrite, and expects the results on
// `arguments` to agree as far as `numerics` promises:
//
//   exact        equal up to the payload of a NaN and the sign of zero
//   reassociate  what was finite is finite, and within a few units in the last
//                place of what it was, or of what `text` gives in f64;
//                formats of 8 bits are too short to round otherwise
//
// Returns true if the pass changed the module.
bool ExpectSameValues(absl::string_view text, Numerics numerics,
                      absl::Span<const Literal> arguments);

// Returns true if the pass changes the module under `numerics`; expects that
// what it leaves verifies.
bool Changes(absl::string_view text, Numerics numerics);

}  // namespace hone::hlo

#endif  // HONE_TESTS_HLO_PASSES_ALGSIMP_RULE_CHECK_H_
