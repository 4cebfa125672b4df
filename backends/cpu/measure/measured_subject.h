#ifndef HONE_BACKENDS_CPU_MEASURE_MEASURED_SUBJECT_H_
#define HONE_BACKENDS_CPU_MEASURE_MEASURED_SUBJECT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::backends {

// A kernel or module that is measured, in one of the forms of KernelRequest.
class MeasuredSubject {
 public:
  virtual ~MeasuredSubject() = default;

  // Parses and verifies `text`. Errors: those of parsing and lowering.
  static absl::StatusOr<std::unique_ptr<MeasuredSubject>> Create(
      const std::string& text, KernelForm form);

  // A module with the same parameters, for their values; those of
  // updated_results() follow.
  virtual const hlo::Module& module() const = 0;
  // Returns true if the evaluator gives the expected results.
  virtual bool has_reference() const = 0;
  // The kinds of arguments to check results on; the first is random.
  virtual std::vector<hlo::ArgumentKind> argument_kinds() const {
    return {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kAdversarial};
  }
  // The shapes of the result's arrays, in order.
  virtual std::vector<hlo::ShapePtr> result_shapes() const = 0;
  // The arrays of the result that have values before a call, by number.
  virtual std::vector<size_t> updated_results() const { return {}; }

  // Code to compile: what a schedule makes of the subject.
  class Code {
   public:
    virtual ~Code() = default;
    // Compiles to an object that defines the entry `symbol`. Errors: those of
    // the compiler.
    virtual absl::StatusOr<std::string> Compile(
        const std::string& symbol) const = 0;
  };
  // Errors: InvalidArgument for a schedule that does not apply.
  virtual absl::StatusOr<std::unique_ptr<Code>> Schedule(
      const std::string& script) const = 0;
};

}  // namespace hone::backends

#endif  // HONE_BACKENDS_CPU_MEASURE_MEASURED_SUBJECT_H_
