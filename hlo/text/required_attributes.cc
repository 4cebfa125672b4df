#include "hlo/text/attributes.h"

namespace hone::hlo {

absl::Span<const absl::string_view> RequiredAttributes(Opcode opcode) {
  static constexpr absl::string_view kBatchNorm[] = {"epsilon",
                                                     "feature_index"};
  static constexpr absl::string_view kCompare[] = {"direction"};
  static constexpr absl::string_view kConvolution[] = {"dim_labels"};
  static constexpr absl::string_view kCustomCall[] = {"custom_call_target"};
  static constexpr absl::string_view kDimensions[] = {"dimensions"};
  static constexpr absl::string_view kDynamicSlice[] = {"dynamic_slice_sizes"};
  static constexpr absl::string_view kFft[] = {"fft_type", "fft_length"};
  static constexpr absl::string_view kFusion[] = {"kind"};
  static constexpr absl::string_view kGather[] = {
      "offset_dims", "collapsed_slice_dims", "start_index_map",
      "index_vector_dim", "slice_sizes"};
  static constexpr absl::string_view kIota[] = {"iota_dimension"};
  static constexpr absl::string_view kPermute[] = {"source_target_pairs"};
  static constexpr absl::string_view kReducePrecision[] = {"exponent_bits",
                                                           "mantissa_bits"};
  static constexpr absl::string_view kRng[] = {"distribution"};
  static constexpr absl::string_view kRngBits[] = {"algorithm"};
  static constexpr absl::string_view kRngState[] = {"delta"};
  static constexpr absl::string_view kScatter[] = {
      "update_window_dims", "inserted_window_dims",
      "scatter_dims_to_operand_dims", "index_vector_dim"};
  static constexpr absl::string_view kSlice[] = {"slice"};
  static constexpr absl::string_view kTopk[] = {"k"};
  static constexpr absl::string_view kTupleElement[] = {"index"};
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kConcatenate:
    case Opcode::kGetDimensionSize:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReverse:
    case Opcode::kSetDimensionSize:
    case Opcode::kSort:
    case Opcode::kTranspose:
      return kDimensions;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return kBatchNorm;
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return kPermute;
    case Opcode::kCompare:
      return kCompare;
    case Opcode::kConvolution:
      return kConvolution;
    case Opcode::kCustomCall:
      return kCustomCall;
    case Opcode::kDynamicSlice:
      return kDynamicSlice;
    case Opcode::kFft:
      return kFft;
    case Opcode::kFusion:
      return kFusion;
    case Opcode::kGather:
      return kGather;
    case Opcode::kGetTupleElement:
      return kTupleElement;
    case Opcode::kIota:
      return kIota;
    case Opcode::kReducePrecision:
      return kReducePrecision;
    case Opcode::kRng:
      return kRng;
    case Opcode::kRngBitGenerator:
      return kRngBits;
    case Opcode::kRngGetAndUpdateState:
      return kRngState;
    case Opcode::kScatter:
      return kScatter;
    case Opcode::kSlice:
      return kSlice;
    case Opcode::kTopk:
      return kTopk;
    default:
      return {};
  }
}

}  // namespace hone::hlo
