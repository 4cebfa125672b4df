#ifndef HONE_BASE_MAY_BLOCK_H_
#define HONE_BASE_MAY_BLOCK_H_

namespace hone {

// Finds blocking calls on threads that must not block, such as those on which
// gRPC runs its callbacks: two of them blocked would stop a server on two
// cores. Checked in builds with tests, free of cost in others.

// While one lives, its thread must not block. Destroyed on the thread that
// made it.
class NonBlockingScope {
 public:
  NonBlockingScope();
  ~NonBlockingScope();
  NonBlockingScope(const NonBlockingScope&) = delete;
  NonBlockingScope& operator=(const NonBlockingScope&) = delete;
};

// Called where a thread may wait for a disk, a process or another thread, or
// computes for milliseconds. Ends the process if this thread must not.
// `what` names the place in the message.
void AssertMayBlock(const char* what);

}  // namespace hone

#endif  // HONE_BASE_MAY_BLOCK_H_
