#ifndef HONE_LOOPS_LOWERING_KERNEL_CONVOLUTION_LOOPS_H_
#define HONE_LOOPS_LOWERING_KERNEL_CONVOLUTION_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"
#include "loops/lowering/kernel/window.h"

namespace hone::loops {

// The arrays of a convolution and what relates their dimensions.
struct Convolution {
  ValueId value = 0;
  ValueId input = 0;
  ValueId kernel = 0;
  const hlo::ConvolutionDimensions* dims = nullptr;
  const hlo::Window* window = nullptr;
  // A copy of the kernel with the window first and output features last, if
  // there is one.
  std::optional<BufferId> rearranged;
  // A scalar that is zero if all weights are finite, and NaN otherwise; none if
  // no phase sees padding.
  std::optional<BufferId> nonfinite;
};

// The indices of the arrays of a convolution in the nest under construction.
class Subscripts {
 public:
  Subscripts(const Convolution& c, const ValueGraph& graph, Nest& nest);

  void SetBatch(const Affine& n);
  void AddBatch();
  // Each group has its own slice of the output features, and of the input's
  // features or batch.
  void AddOutputFeatures();
  void AddInputFeatures();
  void SetTap(size_t d, const Affine& tap);
  void SetPosition(const WindowPhase& phase, size_t d, const Affine& position);

  const Affine& feature() const { return feature_; }

  Indices output;
  Indices input;
  Indices kernel;

 private:
  const Convolution& c_;
  const ValueGraph& graph_;
  Nest& nest_;
  Affine n_;
  Affine group_;
  Affine feature_;
};

ExpressionPtr ProductOf(hlo::ElementType type, ExpressionPtr x,
                        ExpressionPtr w);

// Returns the type in which results of `type` are added up.
hlo::ElementType SumTypeOf(hlo::ElementType type);

// Returns true if all taps of these output positions read holes.
bool ReadsHoles(const std::vector<WindowPhase>& phases);

// Returns true if some of the taps see padding.
bool SeesPadding(const ValueGraph& graph, const Convolution& c,
                 const std::vector<WindowPhase>& phases);

// The following functions write nests of their own: `nest` must have no open
// loops.

// Sets all elements to zero.
void WriteZeros(KernelWriter& writer, Nest& nest, ValueId value);

// Writes `rearranged`, if the kernel is in another order: each of several
// phases reads a part of it.
absl::Status RearrangeKernel(KernelWriter& writer, Nest& nest, Convolution& c);

// Writes `nonfinite`, if results are floats.
absl::Status CheckKernel(KernelWriter& writer, Nest& nest, Convolution& c);

// Opens the loops over the outputs of one phase per spatial dimension: batch,
// spatial dimensions, groups and output features. Returns the positions.
std::vector<Affine> OpenOutputs(Nest& nest,
                                const std::vector<WindowPhase>& phases,
                                Subscripts& at);

// Writes, in the open loops, the sum of one output element, of type `type`, to
// `sum`: its initialization, and loops over taps and input features. `at` has
// batch and output features, `position` counts the outputs of each phase.
// Padding is multiplied like other elements.
absl::Status WriteSum(KernelWriter& writer, Nest& nest, const Convolution& c,
                      const std::vector<WindowPhase>& phases,
                      const std::vector<Affine>& position,
                      hlo::ElementType type, const Access& sum, Subscripts& at);

// Writes the outputs of a phase of a convolution of a dilated base once more,
// without the products of padding, where weights are not finite.
absl::Status WriteWithoutPadding(KernelWriter& writer, Nest& nest,
                                 const Convolution& c,
                                 const std::vector<WindowPhase>& phases);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_CONVOLUTION_LOOPS_H_
