#ifndef HONE_LOOPS_TRANSFORMS_TRANSFORM_H_
#define HONE_LOOPS_TRANSFORMS_TRANSFORM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/transforms/machine.h"

namespace hone::loops {

// One application of a transformation. As text "split 0.1 16": name, path with
// dots ("-" for the root), parameters.
struct Step {
  std::string transform;
  Path path;
  std::vector<int64_t> parameters;

  friend bool operator==(const Step&, const Step&) = default;
};

// A rewrite of programs that preserves their meaning: Apply refuses steps that
// would change it. Stateless.
class Transform {
 public:
  virtual ~Transform() = default;

  // The name in scripts; stable, lower_snake, since scripts are stored.
  virtual absl::string_view name() const = 0;

  // Returns true if results may differ in rounding, because reductions are
  // reassociated or formulas replaced.
  virtual bool changes_rounding() const { return false; }

  // The number of parameters that name buffers (BufferId); they come first.
  virtual int32_t buffer_parameters() const { return 0; }

  // Appends the steps that are legal in `program` and may pay off on `machine`,
  // in a fixed order. Apply accepts every one of them.
  virtual void Enumerate(const Program& program, const Machine& machine,
                         std::vector<Step>& steps) const = 0;

  // Returns the program after `step`, which must name this transformation, or
  // InvalidArgument with the reason why the step is not legal.
  virtual absl::StatusOr<Program> Apply(const Program& program,
                                        const Step& step) const = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_TRANSFORM_H_
