#ifndef HONE_CLI_INTERRUPT_NOTE_H_
#define HONE_CLI_INTERRUPT_NOTE_H_

#include <csignal>
#include <string>

namespace hone::cli {

// Has SIGINT (Ctrl-C), while this object is there, write a note to stderr
// before it ends the process. At most one at a time.
class InterruptNote {
 public:
  explicit InterruptNote(const std::string& note);
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

 private:
  struct sigaction previous_ = {};
};

}  // namespace hone::cli

#endif  // HONE_CLI_INTERRUPT_NOTE_H_
