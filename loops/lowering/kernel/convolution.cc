#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/window.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

constexpr double kManyPhases = 64;
constexpr double kMostPhases = 512;

// The operands of a convolution, and the indices of its three arrays under
// construction.
struct Convolution {
  ValueId value = 0;
  ValueId input = 0;
  ValueId kernel = 0;
  const hlo::ConvolutionDimensions* dims = nullptr;
  const hlo::Window* window = nullptr;
};

size_t At(int64_t dimension) { return static_cast<size_t>(dimension); }

// Writes the output positions of one phase per spatial dimension: loops over
// batch, spatial dimensions, groups and output features, then over taps and
// input features.
absl::Status WritePhase(KernelWriter& writer, Nest& nest, const Convolution& c,
                        const std::vector<WindowPhase>& phases) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& output_sizes = graph.dimensions(c.value);
  const hlo::DimensionVector& input_sizes = graph.dimensions(c.input);
  const hlo::DimensionVector& kernel_sizes = graph.dimensions(c.kernel);
  const hlo::ConvolutionDimensions& dims = *c.dims;
  const hlo::ElementType type = graph.type(c.value);
  Indices output(output_sizes.size());
  Indices input(input_sizes.size());
  Indices kernel(kernel_sizes.size());

  const int64_t batch = output_sizes[At(dims.output_batch)];
  const Affine n = nest.AddLoop(batch);
  output[At(dims.output_batch)] = n;
  std::vector<Affine> position(phases.size());
  for (size_t d = 0; d < phases.size(); ++d) {
    position[d] = nest.AddLoop(phases[d].output_count);
    output[At(dims.output_spatial[d])] =
        position[d] * phases[d].output_step + phases[d].output_start;
  }
  // Each group has its own slice of the output features, and of the input's
  // features or batch.
  const int64_t groups = dims.feature_group_count * dims.batch_group_count;
  const int64_t features = output_sizes[At(dims.output_feature)] / groups;
  const Affine group = nest.AddLoop(groups);
  const Affine feature = group * features + nest.AddLoop(features);
  output[At(dims.output_feature)] = feature;
  kernel[At(dims.kernel_output_feature)] = feature;
  input[At(dims.input_batch)] =
      dims.batch_group_count > 1 ? group * batch + n : n;

  const Access sum = writer.Target(nest, c.value, output);
  nest.Store(sum, IdentityOf(Opcode::kAdd, type));
  std::vector<Range> ranges;
  for (size_t d = 0; d < phases.size(); ++d) {
    const WindowPhase& phase = phases[d];
    const Affine j = nest.AddLoop(phase.tap_count);
    const Affine tap = j * phase.tap_step + phase.tap_start;
    const hlo::WindowDimension& window = (*c.window)[d];
    kernel[At(dims.kernel_spatial[d])] =
        window.reversal ? Affine(window.size - 1) - tap : tap;
    const Affine place = position[d] * phase.input_per_output +
                         j * phase.input_per_tap + phase.input_start;
    const size_t at = At(dims.input_spatial[d]);
    input[at] = place;
    ranges.push_back({place, 0, input_sizes[at]});
  }
  const int64_t inputs = kernel_sizes[At(dims.kernel_input_feature)];
  const Affine i = nest.AddLoop(inputs);
  kernel[At(dims.kernel_input_feature)] = i;
  input[At(dims.input_feature)] =
      dims.feature_group_count > 1 ? group * inputs + i : i;
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w, writer.Read(nest, c.kernel, kernel));
  // Padding is multiplied like other elements, so that an infinite weight gives
  // NaN there, as on XLA:CPU. If the base is dilated, padding and holes are
  // skipped, also as on XLA:CPU.
  const bool leaves_out = hlo::HasBaseDilation(*c.window);
  if (!leaves_out) {
    ExpressionPtr padding = IdentityOf(Opcode::kAdd, x->type());
    x = WhereInside(nest, ranges, std::move(x), std::move(padding));
  }
  ExpressionPtr product = Expression::Apply(
      Opcode::kMultiply, type,
      {Converted(type, std::move(x)), Converted(type, std::move(w))});
  if (leaves_out) {
    product = WhereInside(nest, std::move(ranges), std::move(product),
                          IdentityOf(Opcode::kAdd, type));
  }
  nest.Store(sum, std::move(product), Opcode::kAdd);
  nest.CloseTo(0);
  return absl::OkStatus();
}

double CountPhases(const hlo::Window& window) {
  double phases = 1;
  for (const hlo::WindowDimension& w : window) {
    phases *= static_cast<double>(w.base_dilation /
                                  std::gcd(w.stride, w.base_dilation));
  }
  return phases;
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
  const hlo::DimensionVector& output_sizes = graph.dimensions(c.value);
  const hlo::DimensionVector& input_sizes = graph.dimensions(c.input);
  const hlo::DimensionVector& kernel_sizes = graph.dimensions(c.kernel);
  const hlo::ConvolutionDimensions& dims = *c.dims;
  const hlo::ElementType type = graph.type(c.value);
  Indices output(output_sizes.size());
  Indices input(input_sizes.size());
  Indices kernel(kernel_sizes.size());

  const int64_t batch = output_sizes[At(dims.output_batch)];
  const Affine n = nest.AddLoop(batch);
  output[At(dims.output_batch)] = n;
  for (int64_t d : dims.input_spatial) {
    input[At(d)] = nest.AddLoop(input_sizes[At(d)]);
  }
  for (size_t d = 0; d < c.window->size(); ++d) {
    const hlo::WindowDimension& w = (*c.window)[d];
    const Affine tap = nest.AddLoop(w.size);
    kernel[At(dims.kernel_spatial[d])] =
        w.reversal ? Affine(w.size - 1) - tap : tap;
    output[At(dims.output_spatial[d])] =
        input[At(dims.input_spatial[d])].affine * w.base_dilation +
        w.padding_low - tap * w.window_dilation;
  }
  const int64_t groups = dims.feature_group_count * dims.batch_group_count;
  const int64_t features = output_sizes[At(dims.output_feature)] / groups;
  const Affine group = nest.AddLoop(groups);
  const Affine feature = group * features + nest.AddLoop(features);
  output[At(dims.output_feature)] = feature;
  kernel[At(dims.kernel_output_feature)] = feature;
  input[At(dims.input_batch)] =
      dims.batch_group_count > 1 ? group * batch + n : n;
  const int64_t inputs = kernel_sizes[At(dims.kernel_input_feature)];
  const Affine i = nest.AddLoop(inputs);
  kernel[At(dims.kernel_input_feature)] = i;
  input[At(dims.input_feature)] =
      dims.feature_group_count > 1 ? group * inputs + i : i;
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w, writer.Read(nest, c.kernel, kernel));
  ExpressionPtr product = Expression::Apply(
      Opcode::kMultiply, type,
      {Converted(type, std::move(x)), Converted(type, std::move(w))});
  nest.Store(writer.Target(nest, c.value, output), std::move(product),
             Opcode::kAdd);
  nest.CloseTo(0);
  return absl::OkStatus();
}

// Returns true if all taps of these output positions read holes.
bool ReadsHoles(const std::vector<WindowPhase>& phases) {
  return absl::c_any_of(
      phases, [](const WindowPhase& phase) { return phase.tap_count == 0; });
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

void WriteZeros(KernelWriter& writer, Nest& nest, ValueId value) {
  const ValueGraph& graph = writer.graph();
  const Indices indices = nest.AddLoops(graph.dimensions(value));
  nest.Store(writer.Target(nest, value, indices),
             IdentityOf(Opcode::kAdd, graph.type(value)));
  nest.CloseTo(0);
}

}  // namespace

absl::Status WriteConvolution(KernelWriter& writer, Nest& nest,
                              hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const hlo::Attributes& attributes = graph.computation()[id].attributes();
  Convolution c;
  c.value = graph.leaves(id)[0];
  c.input = graph.operands(id)[0];
  c.kernel = graph.operands(id)[1];
  c.dims = attributes.convolution.get();
  const hlo::Window none;
  c.window = attributes.window == nullptr ? &none : attributes.window.get();
  // A nest for each of many phases takes long to compile.
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
  const bool is_zero = IsMostlyZero(choices);
  if (is_zero) WriteZeros(writer, nest, c.value);
  for (const auto& phases : choices) {
    if (is_zero && ReadsHoles(phases)) continue;
    HONE_RETURN_IF_ERROR(WritePhase(writer, nest, c, phases));
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
