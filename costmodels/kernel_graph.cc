#include "costmodels/kernel_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "costmodels/log_scale.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/ir/id_map.h"
#include "hlo/tiles/box.h"
#include "hlo/tiles/register_layout.h"

namespace hone::costmodels {
namespace {

using hlo::Computation;
using hlo::DimensionVector;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

enum Feature : size_t {
  kIsRoot,
  kIsParameter,
  kIsScalar,
  kOperands,
  kUsers,
  // Its element type.
  kElementBytes,
  kIsFloat,
  kIsPredicate,
  // Its shape, from the minor dimension on: the first three sizes, the product
  // of the others, and the share of registers of 8 by 128 elements that is
  // filled.
  kRank,
  kElements,
  kMinor,
  kSecond,
  kThird,
  kMajor,
  kMinorFill,
  kSecondFill,
  kRowMajor,
  // Its work.
  kFlops,
  kTranscendentals,
  kBytesRead,
  // Its registers over those of the largest instruction of the kernel.
  kShare,
  // The dimensions of its attributes, by how they lie in memory: those that are
  // reduced, broadcast, moved, joined, sliced, padded.
  kTouchesMinor,
  kTouchesSecond,
  kTouchesMajor,
  kTouchedElements,
  // Products.
  kContracted,
  kBatch,
  kLeftContractsMinor,
  kRightContractsMinor,
  kLeftRows,
  kRightColumns,
  // Windows.
  kWindow,
  kWindowStride,
  kWindowPadding,
  kWindowDilation,
  kBaseDilation,
  kGroups,
  kFeatureIsMinor,
  kFeatureCount,
};
constexpr const char* kFeatureNames[] = {"is_root",
                                         "is_parameter",
                                         "is_scalar",
                                         "operands",
                                         "users",
                                         "element_bytes",
                                         "is_float",
                                         "is_predicate",
                                         "rank",
                                         "elements",
                                         "minor",
                                         "second",
                                         "third",
                                         "major",
                                         "minor_fill",
                                         "second_fill",
                                         "row_major",
                                         "flops",
                                         "transcendentals",
                                         "bytes_read",
                                         "share",
                                         "touches_minor",
                                         "touches_second",
                                         "touches_major",
                                         "touched_elements",
                                         "contracted",
                                         "batch",
                                         "left_contracts_minor",
                                         "right_contracts_minor",
                                         "left_rows",
                                         "right_columns",
                                         "window",
                                         "window_stride",
                                         "window_padding",
                                         "window_dilation",
                                         "base_dilation",
                                         "groups",
                                         "feature_is_minor"};
static_assert(std::size(kFeatureNames) == kFeatureCount);

// The operand number of an edge.
enum EdgeFeature : size_t { kFirst, kSecondOperand, kLater, kEdgeFeatureCount };
constexpr const char* kEdgeFeatureNames[] = {"first", "second", "later"};
static_assert(std::size(kEdgeFeatureNames) == kEdgeFeatureCount);

// Doublings that scale sizes, counts of elements and counts of operations to 1.
constexpr float kSizeDoublings = 16;
constexpr float kElementDoublings = 32;
constexpr float kWorkDoublings = 48;

float Size(double value) { return LogScale(value, kSizeDoublings); }
float Elements(double value) { return LogScale(value, kElementDoublings); }
float Work(double value) { return LogScale(value, kWorkDoublings); }

// The first array of a shape; null if there is none.
const Shape* FirstArray(const Shape& shape) {
  if (shape.IsArray()) return &shape;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    if (const Shape* const array = FirstArray(*element)) return array;
  }
  return nullptr;
}

// The dimensions of an array from the minor one on.
DimensionVector MinorToMajor(const Shape& shape) {
  if (shape.layout() != nullptr) return shape.layout()->minor_to_major;
  DimensionVector order;
  for (int64_t i = shape.rank(); i-- > 0;) order.push_back(i);
  return order;
}

// The share that `size` fills of a multiple of `unit`.
float Fill(int64_t size, double unit) {
  if (size <= 0) return 0;
  const double blocks = std::ceil(static_cast<double>(size) / unit);
  return static_cast<float>(static_cast<double>(size) / (blocks * unit));
}

// The vector registers that the result of an instruction fills.
double RegistersOf(const Instruction& instruction) {
  const Shape* const shape = FirstArray(instruction.shape());
  if (shape == nullptr || shape->is_dynamic()) return 0;
  return static_cast<double>(hlo::RegisterCount(
      *shape, hlo::WholeBox(shape->dimensions()), /*packed=*/false));
}

// The features of one node.
class Node {
 public:
  Node(const Computation& computation, const hlo::CostAnalysis& costs,
       const Instruction& instruction, absl::Span<float> features)
      : computation_(computation),
        costs_(costs),
        instruction_(instruction),
        features_(features) {}

  void Describe() {
    Set(kIsRoot, instruction_.id() == computation_.root() ? 1 : 0);
    Set(kIsParameter, instruction_.opcode() == Opcode::kParameter ? 1 : 0);
    Set(kOperands, LogScale(static_cast<double>(instruction_.operand_count()),
                            kOperandDoublings));
    Set(kUsers, LogScale(static_cast<double>(instruction_.users().size()),
                         kOperandDoublings));
    const hlo::Costs costs =
        costs_.InstructionCosts(computation_, instruction_.id());
    Set(kFlops, Work(costs.flops));
    Set(kTranscendentals, Work(costs.transcendentals));
    Set(kBytesRead, Work(costs.bytes_read));
    if (const Shape* const shape = FirstArray(instruction_.shape())) {
      DescribeShape(*shape);
      DescribeDimensions(*shape);
    }
    if (instruction_.attributes().dot != nullptr) DescribeDot();
    if (instruction_.attributes().window != nullptr) DescribeWindow();
    if (instruction_.attributes().convolution != nullptr) {
      DescribeConvolution();
    }
  }

 private:
  static constexpr float kOperandDoublings = 4;
  static constexpr float kByteDoublings = 4;

  void Set(size_t feature, float value) { features_[feature] = value; }

  const Shape& OperandShape(size_t i) const {
    return computation_[instruction_.operand(i)].shape();
  }

  void DescribeShape(const Shape& shape) {
    const hlo::ElementType type = shape.element_type();
    Set(kElementBytes,
        LogScale(static_cast<double>(hlo::ByteWidth(type)), kByteDoublings));
    Set(kIsFloat, hlo::IsFloat(type) ? 1 : 0);
    Set(kIsPredicate, hlo::KindOf(type) == hlo::ElementKind::kPred ? 1 : 0);
    Set(kIsScalar, shape.IsScalar() ? 1 : 0);
    constexpr float kManyDimensions = 6;
    Set(kRank, static_cast<float>(shape.rank()) / kManyDimensions);
    Set(kElements, Elements(static_cast<double>(shape.num_elements())));
    Set(kRowMajor, shape.layout() == nullptr ? 1 : 0);
    const DimensionVector order = MinorToMajor(shape);
    double major = 1;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto size = static_cast<double>(shape.dimension(order[i]));
      switch (i) {
        case 0:
          Set(kMinor, Size(size));
          break;
        case 1:
          Set(kSecond, Size(size));
          break;
        case 2:
          Set(kThird, Size(size));
          break;
        default:
          major *= size;
      }
    }
    Set(kMajor, Size(major));
    if (!order.empty()) {
      Set(kMinorFill,
          Fill(shape.dimension(order[0]), static_cast<double>(hlo::kLanes)));
    }
    if (order.size() > 1) {
      Set(kSecondFill,
          Fill(shape.dimension(order[1]), static_cast<double>(hlo::kSublanes)));
    }
  }

  // Notes that dimension `d` of `shape` takes part in what the attributes say.
  void Touch(const Shape& shape, int64_t d) {
    const DimensionVector order = MinorToMajor(shape);
    const auto at = std::find(order.begin(), order.end(), d) - order.begin();
    if (at >= static_cast<std::ptrdiff_t>(order.size())) return;
    Set(at == 0 ? kTouchesMinor : at == 1 ? kTouchesSecond : kTouchesMajor, 1);
    touched_ *= static_cast<double>(shape.dimension(d));
    Set(kTouchedElements, Elements(touched_));
  }

  void DescribeDimensions(const Shape& shape) {
    const hlo::Attributes& attributes = instruction_.attributes();
    const bool has_operand = instruction_.operand_count() > 0;
    switch (instruction_.opcode()) {
      case Opcode::kBroadcast:
        // What is new.
        for (int64_t d = 0; d < shape.rank(); ++d) {
          const auto& kept = attributes.dimensions;
          if (std::find(kept.begin(), kept.end(), d) == kept.end()) {
            Touch(shape, d);
          }
        }
        return;
      case Opcode::kTranspose:
        DescribeTranspose(shape);
        return;
      case Opcode::kReduce:
        if (!has_operand || !OperandShape(0).IsArray()) return;
        for (const int64_t d : attributes.dimensions) Touch(OperandShape(0), d);
        return;
      case Opcode::kSlice:
      case Opcode::kDynamicSlice:
      case Opcode::kPad:
      case Opcode::kDynamicUpdateSlice: {
        const size_t other =
            instruction_.opcode() == Opcode::kDynamicUpdateSlice ? 1 : 0;
        if (instruction_.operand_count() <= other) return;
        const Shape& from = OperandShape(other);
        if (!from.IsArray() || from.rank() != shape.rank()) return;
        for (int64_t d = 0; d < shape.rank(); ++d) {
          if (from.dimension(d) != shape.dimension(d)) Touch(shape, d);
        }
        return;
      }
      case Opcode::kFft: {
        // The minor ones, of which the attribute has the lengths.
        const auto count = static_cast<int64_t>(attributes.dimensions.size());
        for (int64_t d = std::max<int64_t>(shape.rank() - count, 0);
             d < shape.rank(); ++d) {
          Touch(shape, d);
        }
        return;
      }
      default:
        for (const int64_t d : attributes.dimensions) Touch(shape, d);
    }
  }

  // The places in memory whose dimension is another one than the operand's.
  void DescribeTranspose(const Shape& shape) {
    if (instruction_.operand_count() != 1 || !OperandShape(0).IsArray()) return;
    const DimensionVector from = MinorToMajor(OperandShape(0));
    const DimensionVector to = MinorToMajor(shape);
    const DimensionVector& permutation = instruction_.dimensions();
    for (size_t i = 0; i < to.size() && i < from.size(); ++i) {
      const auto d = static_cast<size_t>(to[i]);
      if (d < permutation.size() && permutation[d] != from[i]) {
        Touch(shape, to[i]);
      }
    }
  }

  void DescribeDot() {
    if (instruction_.operand_count() < 2) return;
    const hlo::DotDimensions& dot = *instruction_.attributes().dot;
    const Shape& left = OperandShape(0);
    const Shape& right = OperandShape(1);
    const auto product = [](const Shape& shape, const DimensionVector& of) {
      double result = 1;
      for (const int64_t d : of) {
        result *= static_cast<double>(shape.dimension(d));
      }
      return result;
    };
    const auto contracts_minor = [](const Shape& shape,
                                    const DimensionVector& contracted) {
      const DimensionVector order = MinorToMajor(shape);
      return !order.empty() && std::find(contracted.begin(), contracted.end(),
                                         order[0]) != contracted.end();
    };
    const double contracted = product(left, dot.lhs_contracting);
    const double batch = product(left, dot.lhs_batch);
    const double shared = std::max(contracted * batch, 1.0);
    Set(kContracted, Size(contracted));
    Set(kBatch, Size(batch));
    Set(kLeftContractsMinor,
        contracts_minor(left, dot.lhs_contracting) ? 1 : 0);
    Set(kRightContractsMinor,
        contracts_minor(right, dot.rhs_contracting) ? 1 : 0);
    Set(kLeftRows, Size(static_cast<double>(left.num_elements()) / shared));
    Set(kRightColumns,
        Size(static_cast<double>(right.num_elements()) / shared));
  }

  void DescribeWindow() {
    double size = 1;
    double stride = 1;
    double padding = 0;
    double window_dilation = 1;
    double base_dilation = 1;
    for (const hlo::WindowDimension& d : *instruction_.attributes().window) {
      size *= static_cast<double>(d.size);
      stride *= static_cast<double>(d.stride);
      padding += std::abs(static_cast<double>(d.padding_low)) +
                 std::abs(static_cast<double>(d.padding_high));
      window_dilation *= static_cast<double>(d.window_dilation);
      base_dilation *= static_cast<double>(d.base_dilation);
    }
    Set(kWindow, Size(size));
    Set(kWindowStride, Size(stride));
    Set(kWindowPadding, Size(padding));
    Set(kWindowDilation, Size(window_dilation));
    Set(kBaseDilation, Size(base_dilation));
  }

  void DescribeConvolution() {
    if (instruction_.operand_count() < 2) return;
    const hlo::ConvolutionDimensions& dims =
        *instruction_.attributes().convolution;
    const Shape& input = OperandShape(0);
    const Shape& kernel = OperandShape(1);
    Set(kContracted,
        Size(static_cast<double>(kernel.dimension(dims.kernel_input_feature))));
    Set(kRightColumns, Size(static_cast<double>(
                           kernel.dimension(dims.kernel_output_feature))));
    Set(kBatch, Size(static_cast<double>(input.dimension(dims.input_batch))));
    Set(kGroups, Size(static_cast<double>(dims.feature_group_count) *
                      static_cast<double>(dims.batch_group_count)));
    const DimensionVector order = MinorToMajor(input);
    Set(kFeatureIsMinor,
        !order.empty() && order[0] == dims.input_feature ? 1 : 0);
  }

  const Computation& computation_;
  const hlo::CostAnalysis& costs_;
  const Instruction& instruction_;
  const absl::Span<float> features_;
  double touched_ = 1;
};

}  // namespace

const space::ObservationSpec& KernelGraphSpec() {
  static const auto* const spec = [] {
    auto* const made = new space::ObservationSpec;
    made->node_kinds = hlo::kOpcodeCount;
    made->node_features = kFeatureCount;
    made->edge_features = kEdgeFeatureCount;
    for (int i = 0; i < hlo::kOpcodeCount; ++i) {
      made->node_kind_names.emplace_back(
          hlo::OpcodeName(static_cast<Opcode>(i)));
    }
    made->node_feature_names.assign(std::begin(kFeatureNames),
                                    std::end(kFeatureNames));
    made->edge_feature_names.assign(std::begin(kEdgeFeatureNames),
                                    std::end(kEdgeFeatureNames));
    return made;
  }();
  return *spec;
}

space::Observation ObserveKernelGraph(const hlo::Module& kernel) {
  const Computation& computation = kernel.entry_computation();
  const hlo::CostAnalysis costs(kernel);
  space::Observation graph;
  hlo::IdMap<int32_t> nodes;
  const std::vector<hlo::InstructionId> order = computation.PostOrder();
  double largest = 1;
  for (const hlo::InstructionId id : order) {
    largest = std::max(largest, RegistersOf(computation[id]));
  }
  for (const hlo::InstructionId id : order) {
    const Instruction& instruction = computation[id];
    nodes[id] = static_cast<int32_t>(graph.node_kinds.size());
    graph.node_kinds.push_back(static_cast<int32_t>(instruction.opcode()));
    const size_t first = graph.node_features.size();
    graph.node_features.resize(first + kFeatureCount, 0);
    Node(computation, costs, instruction,
         absl::MakeSpan(graph.node_features).subspan(first))
        .Describe();
    graph.node_features[first + kShare] =
        static_cast<float>(RegistersOf(instruction) / largest);
  }
  for (const hlo::InstructionId id : order) {
    const Instruction& instruction = computation[id];
    for (size_t i = 0; i < instruction.operand_count(); ++i) {
      graph.edge_sources.push_back(nodes.at(instruction.operand(i)));
      graph.edge_targets.push_back(nodes.at(instruction.id()));
      std::array<float, kEdgeFeatureCount> features = {};
      features[std::min<size_t>(i, kLater)] = 1;
      graph.edge_features.insert(graph.edge_features.end(), features.begin(),
                                 features.end());
    }
  }
  return graph;
}

}  // namespace hone::costmodels
