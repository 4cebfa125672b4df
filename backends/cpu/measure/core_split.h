#ifndef HONE_BACKENDS_CPU_MEASURE_CORE_SPLIT_H_
#define HONE_BACKENDS_CPU_MEASURE_CORE_SPLIT_H_

#include <cstdint>

#include <sched.h>

namespace hone::backends {

// Divides the cores that this process may run on between a child that times
// code and one that compiles meanwhile. They are only divided if code of one
// thread is timed and another core remains, whose processor shares nothing with
// the timing one but the last cache: threads of one core disturb each other.
class CoreSplit {
 public:
  // Times on the core that this process is running on.
  static CoreSplit Here(int32_t threads);

  bool is_split() const { return is_split_; }
  // In a child: runs on the timing core, or on the others, from now on; does
  // nothing unless split.
  void Time() const;
  void Compile() const;
  // Lets a child that compiles use the timing core, too, while nothing is
  // timed.
  void UseAll(int64_t child) const;

 private:
  bool is_split_ = false;
  cpu_set_t timing_;
  cpu_set_t compiling_;
};

// Keeps this process on the core that it is running on.
void PinToThisCore();

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_CORE_SPLIT_H_
