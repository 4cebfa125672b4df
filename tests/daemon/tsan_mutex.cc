// Tells the thread sanitizer of absl::Mutex and absl::BlockingCounter, whose
// shared library was built without it: preloaded, each function here stands in
// front of the library's (tools/run_slow_checks.sh).

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <dlfcn.h>
#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateNewMemory(const char* file, int line,
                                  const volatile void* address, size_t size);

namespace absl {
ABSL_NAMESPACE_BEGIN

namespace {

// Conditions are evaluated by whoever unlocks, on behalf of waiting threads.
struct Ignored {
  Ignored() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~Ignored() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

template <typename Function>
Function Library(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

}  // namespace

void Mutex::Lock() {
  static const auto lock =
      Library<void (*)(Mutex*)>("_ZN4absl7debian35Mutex4LockEv");
  {
    Ignored ignored;
    lock(this);
  }
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  static const auto unlock =
      Library<void (*)(Mutex*)>("_ZN4absl7debian35Mutex6UnlockEv");
  __tsan_release(this);
  {
    Ignored ignored;
    unlock(this);
  }
}

void Mutex::ReaderLock() {
  static const auto lock =
      Library<void (*)(Mutex*)>("_ZN4absl7debian35Mutex10ReaderLockEv");
  {
    Ignored ignored;
    lock(this);
  }
  __tsan_acquire(this);
}

void Mutex::ReaderUnlock() {
  static const auto unlock =
      Library<void (*)(Mutex*)>("_ZN4absl7debian35Mutex12ReaderUnlockEv");
  __tsan_release(this);
  {
    Ignored ignored;
    unlock(this);
  }
}

void Mutex::LockWhen(const Condition& condition) {
  static const auto lock = Library<void (*)(Mutex*, const Condition&)>(
      "_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE");
  __tsan_release(this);
  {
    Ignored ignored;
    lock(this, condition);
  }
  __tsan_acquire(this);
}

void Mutex::Await(const Condition& condition) {
  static const auto await = Library<void (*)(Mutex*, const Condition&)>(
      "_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE");
  __tsan_release(this);
  {
    Ignored ignored;
    await(this, condition);
  }
  __tsan_acquire(this);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static const auto await =
      Library<bool (*)(Mutex*, const Condition&, Duration)>(
          "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_"
          "8DurationE");
  __tsan_release(this);
  bool holds;
  {
    Ignored ignored;
    holds = await(this, condition, timeout);
  }
  __tsan_acquire(this);
  return holds;
}

// Only the last decrement takes the counter's mutex. It may be gone then.
bool BlockingCounter::DecrementCount() {
  static const auto decrement = Library<bool (*)(BlockingCounter*)>(
      "_ZN4absl7debian315BlockingCounter14DecrementCountEv");
  __tsan_release(this);
  return decrement(this);
}

void BlockingCounter::Wait() {
  static const auto wait = Library<void (*)(BlockingCounter*)>(
      "_ZN4absl7debian315BlockingCounter4WaitEv");
  wait(this);
  __tsan_acquire(this);
}

ABSL_NAMESPACE_END
}  // namespace absl

// The bytes of a message come from a thread of gRPC, which hands them over
// unseen. A suppression would do, but each report it drops takes milliseconds.
extern "C" int grpc_byte_buffer_reader_peek(grpc_byte_buffer_reader* reader,
                                            grpc_slice** slice) {
  static const auto peek =
      absl::Library<int (*)(grpc_byte_buffer_reader*, grpc_slice**)>(
          "grpc_byte_buffer_reader_peek");
  const int found = peek(reader, slice);
  if (found != 0) {
    AnnotateNewMemory(__FILE__, __LINE__, *slice, sizeof(grpc_slice));
    AnnotateNewMemory(__FILE__, __LINE__, GRPC_SLICE_START_PTR(**slice),
                      GRPC_SLICE_LENGTH(**slice));
  }
  return found;
}
