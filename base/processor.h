#ifndef HONE_BASE_PROCESSOR_H_
#define HONE_BASE_PROCESSOR_H_

#include <string>

namespace hone {

// Returns the model of this machine's processor as the system prints it; empty
// if it prints none.
std::string ProcessorModel();

}  // namespace hone

#endif  // HONE_BASE_PROCESSOR_H_
