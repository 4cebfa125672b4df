#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/convolution_loops.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/interleaved_phases.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/window.h"
#include "loops/lowering/kernel/winograd.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

constexpr double kMostPhases = 512;

size_t At(int64_t dimension) { return static_cast<size_t>(dimension); }

// Writes the outputs of one phase per spatial dimension. Those that are
// narrower than their sums are converted from an array of the phase alone,
// which shrinks, unlike one that several phases share.
absl::Status WritePhase(KernelWriter& writer, Nest& nest, const Convolution& c,
                        const std::vector<WindowPhase>& phases) {
  const ValueGraph& graph = writer.graph();
  const hlo::ConvolutionDimensions& dims = *c.dims;
  const hlo::ElementType type = graph.type(c.value);
  const hlo::ElementType sum_type = SumTypeOf(type);
  if (sum_type == type) {
    Subscripts at(c, graph, nest);
    const std::vector<Affine> position = OpenOutputs(nest, phases, at);
    const Access sum = writer.Target(nest, c.value, at.output);
    HONE_RETURN_IF_ERROR(
        WriteSum(writer, nest, c, phases, position, type, sum, at));
    nest.CloseTo(0);
    return absl::OkStatus();
  }
  hlo::DimensionVector sizes = graph.dimensions(c.value);
  for (size_t d = 0; d < phases.size(); ++d) {
    sizes[At(dims.output_spatial[d])] = phases[d].output_count;
  }
  const BufferId sums = nest.Temporary("sums", sum_type, sizes);
  const auto sum_at = [&](const Subscripts& at,
                          const std::vector<Affine>& position) -> Access {
    Indices indices = at.output;
    for (size_t d = 0; d < phases.size(); ++d) {
      indices[At(dims.output_spatial[d])] = position[d];
    }
    return {sums, std::move(indices)};
  };
  {
    Subscripts at(c, graph, nest);
    const std::vector<Affine> position = OpenOutputs(nest, phases, at);
    HONE_RETURN_IF_ERROR(WriteSum(writer, nest, c, phases, position, sum_type,
                                  sum_at(at, position), at));
    nest.CloseTo(0);
  }
  Subscripts at(c, graph, nest);
  const std::vector<Affine> position = OpenOutputs(nest, phases, at);
  nest.Store(writer.Target(nest, c.value, at.output),
             Converted(type, writer.Load(sum_at(at, position))));
  nest.CloseTo(0);
  return absl::OkStatus();
}

// Returns true if each tap of each input element has an output position.
bool AllTapsAreSeen(const Convolution& c, const ValueGraph& graph) {
  for (size_t d = 0; d < c.window->size(); ++d) {
    const hlo::WindowDimension& w = (*c.window)[d];
    const int64_t inputs =
        graph.dimensions(c.input)[At(c.dims->input_spatial[d])];
    const int64_t outputs =
        graph.dimensions(c.value)[At(c.dims->output_spatial[d])];
    if (w.stride != 1 || w.padding_low < (w.size - 1) * w.window_dilation ||
        (inputs - 1) * w.base_dilation + w.padding_low >= outputs) {
      return false;
    }
  }
  return true;
}

// Adds the products of all input elements and taps to the output positions that
// see them; AllTapsAreSeen. Results are zero before.
absl::Status WriteInputs(KernelWriter& writer, Nest& nest,
                         const Convolution& c) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& input_sizes = graph.dimensions(c.input);
  const hlo::ConvolutionDimensions& dims = *c.dims;
  const hlo::ElementType type = graph.type(c.value);
  Subscripts at(c, graph, nest);
  at.AddBatch();
  for (int64_t d : dims.input_spatial) {
    at.input[At(d)] = nest.AddLoop(input_sizes[At(d)]);
  }
  for (size_t d = 0; d < c.window->size(); ++d) {
    const hlo::WindowDimension& w = (*c.window)[d];
    const Affine tap = nest.AddLoop(w.size);
    at.SetTap(d, tap);
    at.output[At(dims.output_spatial[d])] =
        at.input[At(dims.input_spatial[d])].affine * w.base_dilation +
        w.padding_low - tap * w.window_dilation;
  }
  at.AddOutputFeatures();
  at.AddInputFeatures();
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, at.input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w,
                        writer.Read(nest, c.kernel, at.kernel));
  ExpressionPtr product = ProductOf(type, std::move(x), std::move(w));
  nest.Store(writer.Target(nest, c.value, at.output), std::move(product),
             Opcode::kAdd);
  nest.CloseTo(0);
  return absl::OkStatus();
}

// Returns true if most output positions are zero. They are too scattered to be
// written one phase after the other.
bool IsMostlyZero(const std::vector<std::vector<WindowPhase>>& choices) {
  double zeros = 0;
  double all = 0;
  for (const std::vector<WindowPhase>& phases : choices) {
    double positions = 1;
    for (const WindowPhase& phase : phases) {
      positions *= static_cast<double>(phase.output_count);
    }
    all += positions;
    if (ReadsHoles(phases)) zeros += positions;
  }
  return 2 * zeros > all;
}

}  // namespace

absl::Status WriteConvolution(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  if (ShouldUseWinograd(graph, id)) return WriteWinograd(writer, nest, id);
  const hlo::Attributes& attributes = graph.computation()[id].attributes();
  Convolution c;
  c.value = graph.leaves(id)[0];
  c.input = graph.operands(id)[0];
  c.kernel = graph.operands(id)[1];
  c.dims = attributes.convolution.get();
  const hlo::Window none;
  c.window = attributes.window == nullptr ? &none : attributes.window.get();
  const double count = CountPhases(*c.window);
  if (count > kManyPhases && AllTapsAreSeen(c, graph)) {
    WriteZeros(writer, nest, c.value);
    return WriteInputs(writer, nest, c);
  }
  if (count > kMostPhases) {
    return Unsupported(graph.computation()[id],
                       absl::StrCat("its base dilation has ", count,
                                    " phases, expected at most ", kMostPhases));
  }
  hlo::DimensionVector sizes;
  for (int64_t d : c.dims->output_spatial) {
    sizes.push_back(graph.dimensions(c.value)[At(d)]);
  }
  const auto choices = PhaseChoices(*c.window, sizes);
  // XLA:CPU skips the padding and the holes of a dilated base, but multiplies
  // the padding of other bases. Phases skip holes; padding is multiplied by
  // zero, and if a weight is not finite, WriteWithoutPadding computes the
  // phases that see padding again.
  if (hlo::HasBaseDilation(*c.window)) {
    const auto readers = choices.size() - static_cast<size_t>(absl::c_count_if(
                                              choices, ReadsHoles));
    if (readers > 1) HONE_RETURN_IF_ERROR(RearrangeKernel(writer, nest, c));
    if (absl::c_any_of(choices, [&](const std::vector<WindowPhase>& phases) {
          return SeesPadding(graph, c, phases);
        })) {
      HONE_RETURN_IF_ERROR(CheckKernel(writer, nest, c));
    }
  }
  if (ShouldInterleavePhases(graph, c)) {
    HONE_RETURN_IF_ERROR(WriteInterleavedPhases(writer, nest, c));
  } else {
    const bool is_zero = IsMostlyZero(choices);
    if (is_zero) WriteZeros(writer, nest, c.value);
    for (const auto& phases : choices) {
      if (is_zero && ReadsHoles(phases)) continue;
      HONE_RETURN_IF_ERROR(WritePhase(writer, nest, c, phases));
    }
  }
  for (const auto& phases : choices) {
    HONE_RETURN_IF_ERROR(WriteWithoutPadding(writer, nest, c, phases));
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
