#include "base/out_of_memory.h"

#include <exception>
#include <new>
#include <system_error>

namespace hone {
namespace {

void (*end_process)(const char* what) = nullptr;
std::terminate_handler former_terminate = nullptr;

void EndOfAllocation() { end_process("memory ran out"); }

// Knows the exceptions of the standard library that nobody has caught; any
// other is a defect and ends the process as before.
void Terminate() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      EndOfAllocation();
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again) {
        end_process("memory or threads ran out");
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
  former_terminate();
}

}  // namespace

void SetOutOfMemoryHandler(void (*end)(const char* what)) {
  end_process = end;
  std::set_new_handler(EndOfAllocation);
  const std::terminate_handler former = std::set_terminate(Terminate);
  if (former != Terminate) former_terminate = former;
}

}  // namespace hone
