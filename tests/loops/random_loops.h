#ifndef HONE_TESTS_LOOPS_RANDOM_LOOPS_H_
#define HONE_TESTS_LOOPS_RANDOM_LOOPS_H_

#include <cstdint>
#include <string>

namespace hone::testing {

// Returns the text of an HLO module of while loops, nested ones and
// conditionals among them, whose states are integer arrays that
// dynamic-update-slices and scatters change a few elements of. Values are read
// before and after they are updated, updated twice, exchanged between states
// and returned. Trip counts are 0 to 4. The same text for the same seed.
std::string RandomLoopsText(uint64_t seed);

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_RANDOM_LOOPS_H_
