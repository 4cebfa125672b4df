#ifndef HONE_TESTS_SUPPORT_RANDOM_MODULE_H_
#define HONE_TESTS_SUPPORT_RANDOM_MODULE_H_

#include <cstdint>
#include <string>

namespace hone::testing {

// The text of a random valid module for judging rewrites by evaluation: small
// arrays (at most a few hundred elements), every opcode that the evaluator
// runs, and much for passes to do: shared and repeated subexpressions, neutral
// operands, inverse pairs, scalars that are broadcast, dimensions of size 1,
// calls, loops that count, constants, dead code.
//
// Floats stay of moderate size on arguments as RandomArguments makes them, and
// functions are kept away from their poles, so that rounding in another order
// changes little. Functions with jumps (floor, compare, sort, …) see only
// values that no legal rewrite rounds differently: parameters, constants and
// what moves, selects or negates them.
//
// Determinism: the text depends on the seed only.
std::string RandomModuleText(uint64_t seed);

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_RANDOM_MODULE_H_
