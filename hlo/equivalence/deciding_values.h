#ifndef HONE_HLO_EQUIVALENCE_DECIDING_VALUES_H_
#define HONE_HLO_EQUIVALENCE_DECIDING_VALUES_H_

#include <set>
#include <vector>

#include "hlo/equivalence/influence.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// Values that scalar parameters get, so that what they decide comes out in all
// ways: 0, ±1, large ones, extremes, and the constants that the module holds
// against what scalar parameters have a say in, with their neighbours.
class DecidingValues {
 public:
  DecidingValues(const Module& module, const Influence& influence);

  // The values of a parameter of that type; those near zero first.
  std::vector<double> For(ElementType type) const;
  // Those of all types.
  std::vector<double> All() const;

 private:
  void AddConstants(const Module& module, const Influence& influence,
                    ComputationId id);
  void AddConstant(const Literal& constant);
  void AddInteger(double value);

  std::set<double> integers_;
  std::set<double> floats_;
};

// `value` as an argument of that shape, which has one element; for integers the
// nearest that there is.
Literal ScalarArgument(const ShapePtr& shape, double value);

// The scalar constant that `id` repeats or converts; null if it is none.
const Literal* ScalarConstant(const Computation& computation, InstructionId id);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_DECIDING_VALUES_H_
