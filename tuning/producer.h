#ifndef HONE_TUNING_PRODUCER_H_
#define HONE_TUNING_PRODUCER_H_

#include <string>

namespace hone::tuning {

// The producer of this process's results: "hone 0.1.0 on HOST".
const std::string& Producer();

}  // namespace hone::tuning

#endif  // HONE_TUNING_PRODUCER_H_
