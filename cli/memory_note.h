#ifndef HONE_CLI_MEMORY_NOTE_H_
#define HONE_CLI_MEMORY_NOTE_H_

#include "absl/strings/string_view.h"

namespace hone::cli {

// Has a command whose memory runs out end with one line on stderr and the
// status kFailed.
void EndWhenMemoryRunsOut();

// Sets the work that the line names, from now on: "tuning placement of g.json".
// AddCommand does, with the name of each command.
// Threads: that of the command only.
void NoteWork(absl::string_view work);

}  // namespace hone::cli

#endif  // HONE_CLI_MEMORY_NOTE_H_
