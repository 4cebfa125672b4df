#ifndef HONE_BASE_OUT_OF_MEMORY_H_
#define HONE_BASE_OUT_OF_MEMORY_H_

namespace hone {

// Has `end`, which must not return, called when memory runs out: when operator
// new fails in any thread, or no thread can be started, which takes memory for
// its stack. `what` says which: "memory ran out". Nothing that `end` does may
// allocate. Replaces an earlier one.
//
// A handler and no exception: most threads have nobody to catch one, and what
// destructors and exit handlers need is as scarce.
void SetOutOfMemoryHandler(void (*end)(const char* what));

}  // namespace hone

#endif  // HONE_BASE_OUT_OF_MEMORY_H_
