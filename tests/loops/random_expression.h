#ifndef HONE_TESTS_LOOPS_RANDOM_EXPRESSION_H_
#define HONE_TESTS_LOOPS_RANDOM_EXPRESSION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "loops/ir/program.h"

namespace hone::testing {

// An affine expression whose values are 0 … size-1.
struct Axis {
  loops::Affine index;
  int64_t size = 1;
};

// Makes random expressions over the buffers of a program that have values, for
// places where `axes` are in scope.
class RandomExpressions {
 public:
  RandomExpressions(loops::Program& program, Rng& rng)
      : program_(program), rng_(rng) {}

  void AddReadable(loops::BufferId buffer) { readable_.push_back(buffer); }

  // Returns an expression of type f32, f64 or s32.
  loops::ExpressionPtr Value(hlo::ElementType type,
                             const std::vector<Axis>& axes, int depth);
  // Returns an expression of type pred, of values that are exact: arguments and
  // indices.
  loops::ExpressionPtr Condition(const std::vector<Axis>& axes);

 private:
  uint64_t Below(uint64_t bound) { return rng_.Below(bound); }
  bool Chance(double probability) { return rng_.Uniform() < probability; }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

  loops::ExpressionPtr FloatValue(hlo::ElementType type,
                                  const std::vector<Axis>& axes, int depth);
  loops::ExpressionPtr IntegerValue(const std::vector<Axis>& axes, int depth);
  loops::ExpressionPtr Leaf(hlo::ElementType type,
                            const std::vector<Axis>& axes);
  // An element of some buffer, or padding; converted to `type`.
  loops::ExpressionPtr Load(hlo::ElementType type,
                            const std::vector<Axis>& axes, bool exact);
  // One axis over two buffers, one behind the other.
  loops::ExpressionPtr Concatenation(hlo::ElementType type,
                                     const std::vector<Axis>& axes);
  // An index in 0 … size-1; adds to `ranges` what it needs for that.
  loops::Index PickIndex(int64_t size, const std::vector<Axis>& axes,
                         std::vector<loops::Range>& ranges);
  // An integer element of an argument, clamped to 0 … size-1; null if no
  // argument has any.
  loops::ExpressionPtr DataIndex(int64_t size, const std::vector<Axis>& axes);
  std::optional<loops::BufferId> PickBuffer(bool exact);
  static loops::ExpressionPtr Converted(hlo::ElementType type,
                                        loops::ExpressionPtr e);
  static loops::ExpressionPtr Number(hlo::ElementType type, double value);

  loops::Program& program_;
  Rng& rng_;
  std::vector<loops::BufferId> readable_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_LOOPS_RANDOM_EXPRESSION_H_
