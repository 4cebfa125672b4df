#include "cli/interrupt_note.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <unistd.h>

namespace hone::cli {
namespace {

// A handler may neither allocate nor lock.
std::array<char, 512> text;
size_t length = 0;

void WriteNote(int number) {
  // Nothing can be done if that fails.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), length);
  // The default by now (SA_RESETHAND).
  raise(number);
}

}  // namespace

InterruptNote::InterruptNote(const std::string& note) {
  length = std::min(note.size(), text.size());
  std::copy_n(note.begin(), length, text.begin());
  struct sigaction action = {};
  action.sa_handler = WriteNote;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &previous_);
}

InterruptNote::~InterruptNote() { sigaction(SIGINT, &previous_, nullptr); }

}  // namespace hone::cli
