#ifndef HONE_TESTS_LOOPS_RANDOM_SCRIPTS_H_
#define HONE_TESTS_LOOPS_RANDOM_SCRIPTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "hlo/ir/literal.h"
#include "loops/ir/program.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"

namespace hone::testing {

// So small that registers are full and blocks are worth it soon.
inline constexpr loops::Machine kTinyMachine = {
    .l1_bytes = 256, .l2_bytes = 1024, .vector_bytes = 16, .threads = 4};

// A step that a transformation proposes on `machine`, each transformation as
// likely as the others; nullopt where none proposes any.
std::optional<loops::Step> ProposedStep(const loops::Program& program,
                                        const loops::Machine& machine,
                                        Rng& rng);

// A step that nobody may have proposed but that is accepted, drawn blindly;
// nullopt where none of many is.
std::optional<loops::Step> GuessedStep(const loops::Program& program, Rng& rng);

// A proposed step on kTinyMachine, or every third time a guessed one.
std::optional<loops::Step> RandomStep(const loops::Program& program, Rng& rng);

// Ok where `program` verifies and gives `expected` in the interpreter, also
// with the iterations of parallel loops, or the lanes of vectors, in an order
// drawn from `seed`: they must not depend on each other.
absl::Status CheckInterpreted(const loops::Program& program,
                              absl::Span<const hlo::Literal> arguments,
                              absl::Span<const hlo::Literal> expected,
                              uint64_t seed);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_RANDOM_SCRIPTS_H_
