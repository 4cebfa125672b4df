#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"
#include "loops/lowering/kernel/window.h"
#include "loops/lowering/kernel/winograd.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

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

// The loops that all nests of a convolution have, and the indices of its arrays
// in them.
class Subscripts {
 public:
  Subscripts(const Convolution& c, const ValueGraph& graph, Nest& nest)
      : output(graph.dimensions(c.value).size()),
        input(graph.dimensions(c.input).size()),
        kernel(graph.dimensions(c.kernel).size()),
        c_(c),
        graph_(graph),
        nest_(nest) {}

  void AddBatch() {
    const int64_t at = c_.dims->output_batch;
    n_ = nest_.AddLoop(graph_.dimensions(c_.value)[At(at)]);
    output[At(at)] = n_;
  }
  // Each group has its own slice of the output features, and of the input's
  // features or batch.
  void AddOutputFeatures() {
    const hlo::ConvolutionDimensions& dims = *c_.dims;
    const hlo::DimensionVector& sizes = graph_.dimensions(c_.value);
    const int64_t groups = dims.feature_group_count * dims.batch_group_count;
    group_ = nest_.AddLoop(groups);
    const int64_t features = sizes[At(dims.output_feature)] / groups;
    const Affine feature = group_ * features + nest_.AddLoop(features);
    output[At(dims.output_feature)] = feature;
    kernel[At(dims.kernel_output_feature)] = feature;
    input[At(dims.input_batch)] =
        dims.batch_group_count > 1 ? group_ * sizes[At(dims.output_batch)] + n_
                                   : n_;
  }
  void AddInputFeatures() {
    const hlo::ConvolutionDimensions& dims = *c_.dims;
    const int64_t inputs =
        graph_.dimensions(c_.kernel)[At(dims.kernel_input_feature)];
    const Affine i = nest_.AddLoop(inputs);
    kernel[At(dims.kernel_input_feature)] = i;
    input[At(dims.input_feature)] =
        dims.feature_group_count > 1 ? group_ * inputs + i : i;
  }
  void SetTap(size_t d, const Affine& tap) {
    const hlo::WindowDimension& window = (*c_.window)[d];
    kernel[At(c_.dims->kernel_spatial[d])] =
        window.reversal ? Affine(window.size - 1) - tap : tap;
  }

  Indices output;
  Indices input;
  Indices kernel;

 private:
  const Convolution& c_;
  const ValueGraph& graph_;
  Nest& nest_;
  Affine n_;
  Affine group_;
};

ExpressionPtr ProductOf(hlo::ElementType type, ExpressionPtr x,
                        ExpressionPtr w) {
  return Expression::Apply(
      Opcode::kMultiply, type,
      {Converted(type, std::move(x)), Converted(type, std::move(w))});
}

// Writes the output positions of one phase per spatial dimension: loops over
// batch, spatial dimensions, groups and output features, then over taps and
// input features.
absl::Status WritePhase(KernelWriter& writer, Nest& nest, const Convolution& c,
                        const std::vector<WindowPhase>& phases) {
  const ValueGraph& graph = writer.graph();
  const hlo::DimensionVector& input_sizes = graph.dimensions(c.input);
  const hlo::ConvolutionDimensions& dims = *c.dims;
  const hlo::ElementType type = graph.type(c.value);
  Subscripts at(c, graph, nest);
  at.AddBatch();
  std::vector<Affine> position(phases.size());
  for (size_t d = 0; d < phases.size(); ++d) {
    position[d] = nest.AddLoop(phases[d].output_count);
    at.output[At(dims.output_spatial[d])] =
        position[d] * phases[d].output_step + phases[d].output_start;
  }
  at.AddOutputFeatures();

  const Access sum = writer.Target(nest, c.value, at.output);
  nest.Store(sum, IdentityOf(Opcode::kAdd, type));
  std::vector<Range> ranges;
  for (size_t d = 0; d < phases.size(); ++d) {
    const WindowPhase& phase = phases[d];
    const Affine j = nest.AddLoop(phase.tap_count);
    at.SetTap(d, j * phase.tap_step + phase.tap_start);
    const Affine place = position[d] * phase.input_per_output +
                         j * phase.input_per_tap + phase.input_start;
    const size_t spatial = At(dims.input_spatial[d]);
    at.input[spatial] = place;
    ranges.push_back({place, 0, input_sizes[spatial]});
  }
  at.AddInputFeatures();
  HONE_ASSIGN_OR_RETURN(ExpressionPtr x, writer.Read(nest, c.input, at.input));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr w,
                        writer.Read(nest, c.kernel, at.kernel));
  // Padding is multiplied like other elements, so that an infinite weight gives
  // NaN there, as on XLA:CPU. If the base is dilated, padding and holes are
  // skipped, also as on XLA:CPU.
  const bool leaves_out = hlo::HasBaseDilation(*c.window);
  if (!leaves_out) {
    ExpressionPtr padding = IdentityOf(Opcode::kAdd, x->type());
    x = WhereInside(nest, ranges, std::move(x), std::move(padding));
  }
  ExpressionPtr product = ProductOf(type, std::move(x), std::move(w));
  if (leaves_out) {
    product = WhereInside(nest, std::move(ranges), std::move(product),
                          IdentityOf(Opcode::kAdd, type));
  }
  nest.Store(sum, std::move(product), Opcode::kAdd);
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
  const bool is_zero = IsMostlyZero(choices);
  if (is_zero) WriteZeros(writer, nest, c.value);
  for (const auto& phases : choices) {
    if (is_zero && ReadsHoles(phases)) continue;
    HONE_RETURN_IF_ERROR(WritePhase(writer, nest, c, phases));
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
