#include "hlo/proto/attributes.h"

#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "base/status_macros.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/text/attributes.h"

namespace hone::hlo {
namespace {

using Int64s = google::protobuf::RepeatedField<int64_t>;

DimensionVector ToVector(const Int64s& values) {
  return DimensionVector(values.begin(), values.end());
}

void Assign(absl::Span<const int64_t> values, Int64s& field) {
  field.Assign(values.begin(), values.end());
}

// Returns true if Attributes::dimensions is the field of that name. fft and
// dynamic-slice keep another list there; reshape's is an attribute kept as
// text, as are all of an unknown opcode.
bool HasDimensions(Opcode opcode) {
  return opcode != Opcode::kDynamicSlice && opcode != Opcode::kFft &&
         opcode != Opcode::kReshape && opcode != Opcode::kUnknown;
}

constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE",
                                             "GT", "LE", "LT"};

// The comparison that HLO text leaves out.
absl::string_view DefaultComparison(ElementType type) {
  switch (KindOf(type)) {
    case ElementKind::kSigned:
      return "SIGNED";
    case ElementKind::kUnsigned:
    case ElementKind::kPred:
      return "UNSIGNED";
    default:
      return "FLOAT";
  }
}

absl::Status ReadDirection(absl::string_view name,
                           ComparisonDirection& direction) {
  for (size_t i = 0; i < std::size(kDirections); ++i) {
    if (name == kDirections[i]) {
      direction = static_cast<ComparisonDirection>(i);
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("comparison direction \"", absl::CHexEscape(name),
                   "\", expected EQ, NE, GE, GT, LE or LT"));
}

DotDimensions ReadDot(const xla::DotDimensionNumbers& proto) {
  return {ToVector(proto.lhs_contracting_dimensions()),
          ToVector(proto.rhs_contracting_dimensions()),
          ToVector(proto.lhs_batch_dimensions()),
          ToVector(proto.rhs_batch_dimensions())};
}

void WriteDot(const DotDimensions& dot, xla::DotDimensionNumbers& proto) {
  Assign(dot.lhs_contracting, *proto.mutable_lhs_contracting_dimensions());
  Assign(dot.rhs_contracting, *proto.mutable_rhs_contracting_dimensions());
  Assign(dot.lhs_batch, *proto.mutable_lhs_batch_dimensions());
  Assign(dot.rhs_batch, *proto.mutable_rhs_batch_dimensions());
}

ConvolutionDimensions ReadConvolution(const xla::HloInstructionProto& proto) {
  const xla::ConvolutionDimensionNumbers& d =
      proto.convolution_dimension_numbers();
  ConvolutionDimensions c;
  c.input_batch = d.input_batch_dimension();
  c.input_feature = d.input_feature_dimension();
  c.input_spatial = ToVector(d.input_spatial_dimensions());
  c.kernel_input_feature = d.kernel_input_feature_dimension();
  c.kernel_output_feature = d.kernel_output_feature_dimension();
  c.kernel_spatial = ToVector(d.kernel_spatial_dimensions());
  c.output_batch = d.output_batch_dimension();
  c.output_feature = d.output_feature_dimension();
  c.output_spatial = ToVector(d.output_spatial_dimensions());
  // Old writers leave the counts out.
  if (proto.feature_group_count() != 0) {
    c.feature_group_count = proto.feature_group_count();
  }
  if (proto.batch_group_count() != 0) {
    c.batch_group_count = proto.batch_group_count();
  }
  return c;
}

void WriteConvolution(const ConvolutionDimensions& c,
                      xla::HloInstructionProto& proto) {
  xla::ConvolutionDimensionNumbers& d =
      *proto.mutable_convolution_dimension_numbers();
  d.set_input_batch_dimension(c.input_batch);
  d.set_input_feature_dimension(c.input_feature);
  Assign(c.input_spatial, *d.mutable_input_spatial_dimensions());
  d.set_kernel_input_feature_dimension(c.kernel_input_feature);
  d.set_kernel_output_feature_dimension(c.kernel_output_feature);
  Assign(c.kernel_spatial, *d.mutable_kernel_spatial_dimensions());
  d.set_output_batch_dimension(c.output_batch);
  d.set_output_feature_dimension(c.output_feature);
  Assign(c.output_spatial, *d.mutable_output_spatial_dimensions());
  proto.set_feature_group_count(c.feature_group_count);
  proto.set_batch_group_count(c.batch_group_count);
}

Window ReadWindow(const xla::Window& proto) {
  Window window;
  for (const xla::WindowDimension& d : proto.dimensions()) {
    window.push_back({d.size(), d.stride(), d.padding_low(), d.padding_high(),
                      d.window_dilation(), d.base_dilation(),
                      d.window_reversal()});
  }
  return window;
}

void WriteWindow(const Window& window, xla::Window& proto) {
  for (const WindowDimension& w : window) {
    xla::WindowDimension& d = *proto.add_dimensions();
    d.set_size(w.size);
    d.set_stride(w.stride);
    d.set_padding_low(w.padding_low);
    d.set_padding_high(w.padding_high);
    d.set_window_dilation(w.window_dilation);
    d.set_base_dilation(w.base_dilation);
    d.set_window_reversal(w.reversal);
  }
}

GatherDimensions ReadGather(const xla::HloInstructionProto& proto) {
  const xla::GatherDimensionNumbers& g = proto.gather_dimension_numbers();
  return {ToVector(g.offset_dims()),
          ToVector(g.collapsed_slice_dims()),
          ToVector(g.start_index_map()),
          ToVector(g.operand_batching_dims()),
          ToVector(g.start_indices_batching_dims()),
          g.index_vector_dim(),
          ToVector(proto.gather_slice_sizes())};
}

void WriteGather(const GatherDimensions& g, xla::HloInstructionProto& proto) {
  xla::GatherDimensionNumbers& d = *proto.mutable_gather_dimension_numbers();
  Assign(g.offset_dims, *d.mutable_offset_dims());
  Assign(g.collapsed_slice_dims, *d.mutable_collapsed_slice_dims());
  Assign(g.start_index_map, *d.mutable_start_index_map());
  Assign(g.operand_batching_dims, *d.mutable_operand_batching_dims());
  Assign(g.start_indices_batching_dims,
         *d.mutable_start_indices_batching_dims());
  d.set_index_vector_dim(g.index_vector_dim);
  Assign(g.slice_sizes, *proto.mutable_gather_slice_sizes());
}

ScatterDimensions ReadScatter(const xla::ScatterDimensionNumbers& s) {
  return {ToVector(s.update_window_dims()),
          ToVector(s.inserted_window_dims()),
          ToVector(s.scatter_dims_to_operand_dims()),
          ToVector(s.input_batching_dims()),
          ToVector(s.scatter_indices_batching_dims()),
          s.index_vector_dim()};
}

void WriteScatter(const ScatterDimensions& s, xla::ScatterDimensionNumbers& d) {
  Assign(s.update_window_dims, *d.mutable_update_window_dims());
  Assign(s.inserted_window_dims, *d.mutable_inserted_window_dims());
  Assign(s.scatter_dims_to_operand_dims,
         *d.mutable_scatter_dims_to_operand_dims());
  Assign(s.input_batching_dims, *d.mutable_input_batching_dims());
  Assign(s.scatter_indices_batching_dims,
         *d.mutable_scatter_indices_batching_dims());
  d.set_index_vector_dim(s.index_vector_dim);
}

}  // namespace

absl::Status TakeAttributes(Opcode opcode, ElementType operand_type,
                            xla::HloInstructionProto& proto, Attributes& a) {
  if (HasDimensions(opcode)) {
    a.dimensions = ToVector(proto.dimensions());
    proto.clear_dimensions();
  }
  switch (opcode) {
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      a.epsilon = proto.epsilon();
      a.feature_index = proto.feature_index();
      proto.clear_epsilon();
      proto.clear_feature_index();
      break;
    case Opcode::kCompare:
      HONE_RETURN_IF_ERROR(
          ReadDirection(proto.comparison_direction(), a.direction));
      if (proto.comparison_type() != DefaultComparison(operand_type)) {
        a.comparison_type = proto.comparison_type();
      }
      proto.clear_comparison_direction();
      proto.clear_comparison_type();
      break;
    case Opcode::kConvolution:
      a.convolution =
          std::make_shared<const ConvolutionDimensions>(ReadConvolution(proto));
      a.window = std::make_shared<const Window>(ReadWindow(proto.window()));
      proto.clear_convolution_dimension_numbers();
      proto.clear_feature_group_count();
      proto.clear_batch_group_count();
      proto.clear_window();
      break;
    case Opcode::kCustomCall:
      a.custom_call_target = proto.custom_call_target();
      proto.clear_custom_call_target();
      break;
    case Opcode::kDot:
    case Opcode::kScaledDot:
      a.dot = std::make_shared<const DotDimensions>(
          ReadDot(proto.dot_dimension_numbers()));
      proto.clear_dot_dimension_numbers();
      break;
    case Opcode::kDynamicSlice:
      a.dimensions = ToVector(proto.dynamic_slice_sizes());
      proto.clear_dynamic_slice_sizes();
      break;
    case Opcode::kFft:
      a.dimensions = ToVector(proto.fft_length());
      proto.clear_fft_length();
      break;
    case Opcode::kFusion:
      if (!IsFusionKind(proto.fusion_kind())) {
        return absl::InvalidArgumentError(absl::StrCat(
            "fusion kind \"", absl::CHexEscape(proto.fusion_kind()),
            "\", expected kLoop, kInput, kOutput or kCustom"));
      }
      a.fusion_kind = proto.fusion_kind();
      proto.clear_fusion_kind();
      break;
    case Opcode::kGather:
      a.gather = std::make_shared<const GatherDimensions>(ReadGather(proto));
      a.indices_are_sorted = proto.indices_are_sorted();
      proto.clear_gather_dimension_numbers();
      proto.clear_gather_slice_sizes();
      proto.clear_indices_are_sorted();
      break;
    case Opcode::kPad:
      for (const auto& d : proto.padding_config().dimensions()) {
        a.padding.push_back({d.edge_padding_low(), d.edge_padding_high(),
                             d.interior_padding()});
      }
      proto.clear_padding_config();
      break;
    case Opcode::kRaggedDot:
      a.dot = std::make_shared<const DotDimensions>(ReadDot(
          proto.ragged_dot_dimension_numbers().dot_dimension_numbers()));
      // The ragged dimensions stay: they have text only.
      proto.mutable_ragged_dot_dimension_numbers()
          ->clear_dot_dimension_numbers();
      break;
    case Opcode::kReducePrecision:
      a.exponent_bits = proto.exponent_bits();
      a.mantissa_bits = proto.mantissa_bits();
      proto.clear_exponent_bits();
      proto.clear_mantissa_bits();
      break;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      a.window = std::make_shared<const Window>(ReadWindow(proto.window()));
      proto.clear_window();
      break;
    case Opcode::kRngBitGenerator:
      if (proto.rng_algorithm() < 0 ||
          proto.rng_algorithm() > static_cast<int>(RandomAlgorithm::kPhilox)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "random algorithm ", proto.rng_algorithm(), ", expected 0 to 2"));
      }
      a.rng_algorithm = static_cast<RandomAlgorithm>(proto.rng_algorithm());
      proto.clear_rng_algorithm();
      break;
    case Opcode::kScatter:
      a.scatter = std::make_shared<const ScatterDimensions>(
          ReadScatter(proto.scatter_dimension_numbers()));
      a.indices_are_sorted = proto.indices_are_sorted();
      a.unique_indices = proto.unique_indices();
      proto.clear_scatter_dimension_numbers();
      proto.clear_indices_are_sorted();
      proto.clear_unique_indices();
      break;
    case Opcode::kSlice:
      for (const auto& d : proto.slice_dimensions()) {
        a.slice.push_back({d.start(), d.limit(), d.stride()});
      }
      proto.clear_slice_dimensions();
      break;
    case Opcode::kSort:
      a.is_stable = proto.is_stable();
      proto.clear_is_stable();
      break;
    case Opcode::kTopk:
      a.k = proto.k();
      a.largest = proto.largest();
      proto.clear_k();
      proto.clear_largest();
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

void WriteAttributes(Opcode opcode, ElementType operand_type,
                     const Attributes& a, xla::HloInstructionProto& proto) {
  if (HasDimensions(opcode)) Assign(a.dimensions, *proto.mutable_dimensions());
  if (a.window != nullptr) WriteWindow(*a.window, *proto.mutable_window());
  switch (opcode) {
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      proto.set_epsilon(a.epsilon);
      proto.set_feature_index(a.feature_index);
      break;
    case Opcode::kCompare:
      proto.set_comparison_direction(
          std::string(kDirections[static_cast<size_t>(a.direction)]));
      proto.set_comparison_type(
          a.comparison_type.empty()
              ? std::string(DefaultComparison(operand_type))
              : a.comparison_type);
      break;
    case Opcode::kConvolution:
      if (a.convolution != nullptr) WriteConvolution(*a.convolution, proto);
      break;
    case Opcode::kCustomCall:
      proto.set_custom_call_target(a.custom_call_target);
      break;
    case Opcode::kDot:
    case Opcode::kScaledDot:
      if (a.dot != nullptr) {
        WriteDot(*a.dot, *proto.mutable_dot_dimension_numbers());
      }
      break;
    case Opcode::kDynamicSlice:
      Assign(a.dimensions, *proto.mutable_dynamic_slice_sizes());
      break;
    case Opcode::kFft:
      Assign(a.dimensions, *proto.mutable_fft_length());
      break;
    case Opcode::kFusion:
      proto.set_fusion_kind(a.fusion_kind);
      break;
    case Opcode::kGather:
      if (a.gather != nullptr) WriteGather(*a.gather, proto);
      proto.set_indices_are_sorted(a.indices_are_sorted);
      break;
    case Opcode::kPad:
      proto.mutable_padding_config();
      for (const PaddingDimension& p : a.padding) {
        auto& d = *proto.mutable_padding_config()->add_dimensions();
        d.set_edge_padding_low(p.low);
        d.set_edge_padding_high(p.high);
        d.set_interior_padding(p.interior);
      }
      break;
    case Opcode::kRaggedDot:
      if (a.dot != nullptr) {
        WriteDot(*a.dot, *proto.mutable_ragged_dot_dimension_numbers()
                              ->mutable_dot_dimension_numbers());
      }
      break;
    case Opcode::kReducePrecision:
      proto.set_exponent_bits(static_cast<int32_t>(a.exponent_bits));
      proto.set_mantissa_bits(static_cast<int32_t>(a.mantissa_bits));
      break;
    case Opcode::kRngBitGenerator:
      proto.set_rng_algorithm(static_cast<int32_t>(a.rng_algorithm));
      break;
    case Opcode::kScatter:
      if (a.scatter != nullptr) {
        WriteScatter(*a.scatter, *proto.mutable_scatter_dimension_numbers());
      }
      proto.set_indices_are_sorted(a.indices_are_sorted);
      proto.set_unique_indices(a.unique_indices);
      break;
    case Opcode::kSlice:
      for (const SliceDimension& s : a.slice) {
        auto& d = *proto.add_slice_dimensions();
        d.set_start(s.start);
        d.set_limit(s.limit);
        d.set_stride(s.stride);
      }
      break;
    case Opcode::kSort:
      proto.set_is_stable(a.is_stable);
      break;
    case Opcode::kTopk:
      proto.set_k(a.k);
      proto.set_largest(a.largest);
      break;
    default:
      break;
  }
}

}  // namespace hone::hlo
