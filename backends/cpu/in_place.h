#ifndef HONE_BACKENDS_CPU_IN_PLACE_H_
#define HONE_BACKENDS_CPU_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "loops/analysis/dependences.h"
#include "loops/ir/program.h"

namespace hone::backends {

// Which results of a program may be the memory of which arguments.
class InPlaceAnalysis {
 public:
  // `program` is not copied.
  explicit InPlaceAnalysis(const loops::Program& program);

  // Returns true if the program's code computes the same when the result is the
  // memory of the argument (conservative). Each element of the argument may
  // only be read by the iteration of the statement that writes it: emitted code
  // takes the two for different memory, and orders nothing else.
  bool MayRunInPlace(int32_t argument, int32_t result) const;

 private:
  const loops::Program& program_;
  // By buffer.
  std::vector<std::vector<loops::AccessSite>> reads_;
  std::vector<std::vector<loops::AccessSite>> writes_;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_IN_PLACE_H_
