#ifndef HONE_BASE_STATE_DIRECTORY_H_
#define HONE_BASE_STATE_DIRECTORY_H_

#include <string>

namespace hone {

// Returns the folder in which honed keeps its store unless it is told another:
// $XDG_STATE_HOME/hone, else ~/.local/state/hone.
std::string DefaultStateDirectory();

// Returns the path of honed's socket in a state folder: where clients look for
// the daemon of their user.
std::string SocketPath(const std::string& state_directory);

}  // namespace hone

#endif  // HONE_BASE_STATE_DIRECTORY_H_
