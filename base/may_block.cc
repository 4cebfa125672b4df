#include "base/may_block.h"

#ifdef HONE_CHECK_BLOCKING
#include <cstdio>
#include <cstdlib>
#endif

namespace hone {

#ifdef HONE_CHECK_BLOCKING
namespace {

// Scopes that live on this thread.
thread_local int scopes = 0;

}  // namespace

NonBlockingScope::NonBlockingScope() { ++scopes; }
NonBlockingScope::~NonBlockingScope() { --scopes; }

void AssertMayBlock(const char* what) {
  if (scopes == 0) return;
  std::fprintf(stderr, "check failed: %s blocks a thread that must not\n",
               what);
  std::abort();
}
#else
NonBlockingScope::NonBlockingScope() = default;
NonBlockingScope::~NonBlockingScope() = default;

void AssertMayBlock(const char*) {}
#endif

}  // namespace hone
