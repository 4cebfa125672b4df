#ifndef HONE_BASE_CHECK_H_
#define HONE_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

// Ends the process if a condition that only a programming error can break is
// false. Never for input, disk or network: those return absl::Status.
#define HONE_CHECK(condition)                                               \
  do {                                                                      \
    if (__builtin_expect(!(condition), 0)) {                                \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, \
                   #condition);                                             \
      std::abort();                                                         \
    }                                                                       \
  } while (false)

#endif  // HONE_BASE_CHECK_H_
