#ifndef HONE_HLO_IR_ATTRIBUTES_H_
#define HONE_HLO_IR_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"

namespace hone::hlo {

// The attributes of an instruction that Hone understands. Field names follow
// HLO text; defaults are XLA's.

struct DotDimensions {
  DimensionVector lhs_contracting;
  DimensionVector rhs_contracting;
  DimensionVector lhs_batch;
  DimensionVector rhs_batch;
  friend bool operator==(const DotDimensions&, const DotDimensions&) = default;
};

struct ConvolutionDimensions {
  int64_t input_batch = 0;
  int64_t input_feature = 0;
  DimensionVector input_spatial;
  int64_t kernel_input_feature = 0;
  int64_t kernel_output_feature = 0;
  DimensionVector kernel_spatial;
  int64_t output_batch = 0;
  int64_t output_feature = 0;
  DimensionVector output_spatial;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  friend bool operator==(const ConvolutionDimensions&,
                         const ConvolutionDimensions&) = default;
};

struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t window_dilation = 1;  // rhs_dilate
  int64_t base_dilation = 1;    // lhs_dilate
  bool reversal = false;
  friend bool operator==(const WindowDimension&,
                         const WindowDimension&) = default;
};
using Window = std::vector<WindowDimension>;

// Returns true if there are holes between the elements that the window goes
// over.
bool HasBaseDilation(const Window& window);

struct GatherDimensions {
  DimensionVector offset_dims;
  DimensionVector collapsed_slice_dims;
  DimensionVector start_index_map;
  DimensionVector operand_batching_dims;
  DimensionVector start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  DimensionVector slice_sizes;
  friend bool operator==(const GatherDimensions&,
                         const GatherDimensions&) = default;
};

struct ScatterDimensions {
  DimensionVector update_window_dims;
  DimensionVector inserted_window_dims;
  DimensionVector scatter_dims_to_operand_dims;
  DimensionVector input_batching_dims;
  DimensionVector scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  friend bool operator==(const ScatterDimensions&,
                         const ScatterDimensions&) = default;
};

// One dimension of a slice: [start, limit) in steps of stride ≥ 1.
struct SliceDimension {
  int64_t start = 0;
  int64_t limit = 0;
  int64_t stride = 1;
  friend bool operator==(const SliceDimension&,
                         const SliceDimension&) = default;
};

struct PaddingDimension {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;
  friend bool operator==(const PaddingDimension&,
                         const PaddingDimension&) = default;
};

enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class RandomAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };

// Everything of an instruction that its opcode, operands and shape do not say.
// Immutable once an instruction holds it; instructions share equal ones.
struct Attributes {
  // dimensions={...} of broadcast, transpose, reduce, reverse, concatenate,
  // map, sort, collectives; iota_dimension of iota; dynamic_slice_sizes of
  // dynamic-slice; fft_length of fft.
  DimensionVector dimensions;
  std::shared_ptr<const DotDimensions> dot;
  std::shared_ptr<const ConvolutionDimensions> convolution;
  // The window of convolution, reduce-window and select-and-scatter.
  std::shared_ptr<const Window> window;
  std::shared_ptr<const GatherDimensions> gather;
  std::shared_ptr<const ScatterDimensions> scatter;
  std::vector<SliceDimension> slice;
  std::vector<PaddingDimension> padding;

  // compare
  ComparisonDirection direction = ComparisonDirection::kEq;
  // type=TOTALORDER and the like; empty for the element type's default.
  std::string comparison_type;

  bool indices_are_sorted = false;  // gather, scatter
  bool unique_indices = false;      // scatter
  bool is_stable = false;           // sort
  RandomAlgorithm rng_algorithm = RandomAlgorithm::kDefault;
  int64_t exponent_bits = 0;  // reduce-precision
  int64_t mantissa_bits = 0;  // reduce-precision
  float epsilon = 0;          // batch-norm-*
  int64_t feature_index = 0;  // batch-norm-*
  int64_t k = 0;              // topk
  bool largest = true;        // topk
  std::string custom_call_target;
  std::string fusion_kind;

  // Every other attribute, in order: name and value text verbatim, whatever it
  // means (operand_precision, sharding, replica_groups, …). Part of the
  // instruction's meaning: instructions that differ here are not equal.
  // An attribute that names computations where its opcode usually has none (as
  // unknown opcodes do) is here with a `%` in place of each callee, which is in
  // Instruction::called(): {"to_apply", "%"}, {"calls", "{%, %}"}.
  std::vector<std::pair<std::string, std::string>> others;
  // The text of the one with that name; null if there is none.
  const std::string* FindOther(absl::string_view name) const;

  friend bool operator==(const Attributes&, const Attributes&);
};

// The shared empty Attributes.
const std::shared_ptr<const Attributes>& NoAttributes();

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_ATTRIBUTES_H_
