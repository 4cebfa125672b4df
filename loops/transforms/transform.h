#ifndef HONE_LOOPS_TRANSFORMS_TRANSFORM_H_
#define HONE_LOOPS_TRANSFORMS_TRANSFORM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/machine.h"
#include "loops/program.h"

namespace hone::loops {

// One application of a transformation: which, where, how. As text
// "split 0.1 16": name, path with dots ("-" for the root), parameters.
struct Step {
  std::string transform;
  Path path;
  std::vector<int64_t> parameters;

  friend bool operator==(const Step&, const Step&) = default;
};

// A rewrite of a program that cannot change its meaning: Apply refuses where it
// would. Stateless.
class Transform {
 public:
  virtual ~Transform() = default;

  // Stable, lower_snake: it is stored in scripts.
  virtual absl::string_view name() const = 0;

  // Whether results may differ in rounding, as reductions are reassociated or
  // formulas replaced.
  virtual bool changes_rounding() const { return false; }

  // Adds the steps that are legal in `program` and may pay on `machine`, in a
  // fixed order: every one of them is accepted by Apply.
  virtual void Enumerate(const Program& program, const Machine& machine,
                         std::vector<Step>& steps) const = 0;

  // The program after `step`, whose transform is this one.
  // Errors: InvalidArgument, saying why the step is not legal.
  virtual absl::StatusOr<Program> Apply(const Program& program,
                                        const Step& step) const = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_TRANSFORM_H_
