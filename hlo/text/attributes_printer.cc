#include <charconv>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "hlo/text/attributes.h"

namespace hone::hlo {
namespace {

void AppendList(absl::string_view name, const DimensionVector& values,
                std::string& out) {
  absl::StrAppend(&out, ", ", name, "={");
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    absl::StrAppend(&out, values[i]);
  }
  out += '}';
}

void AppendListUnlessEmpty(absl::string_view name,
                           const DimensionVector& values, std::string& out) {
  if (!values.empty()) AppendList(name, values, out);
}

void AppendDot(const DotDimensions& dot, std::string& out) {
  AppendListUnlessEmpty("lhs_batch_dims", dot.lhs_batch, out);
  AppendList("lhs_contracting_dims", dot.lhs_contracting, out);
  AppendListUnlessEmpty("rhs_batch_dims", dot.rhs_batch, out);
  AppendList("rhs_contracting_dims", dot.rhs_contracting, out);
}

// Appends ` name=AxBxC` unless `value` is `omitted` in every dimension.
template <typename Value>
void AppendWindowField(absl::string_view name, const Window& window,
                       const Value& value, absl::string_view omitted,
                       std::string& out) {
  std::string text;
  bool differs = false;
  for (size_t i = 0; i < window.size(); ++i) {
    const std::string field = value(window[i]);
    differs |= field != omitted;
    absl::StrAppend(&text, i > 0 ? "x" : "", field);
  }
  if (differs) absl::StrAppend(&out, " ", name, "=", text);
}

void AppendWindow(const Window& window, std::string& out) {
  if (window.empty()) return;
  out += ", window={size=";
  for (size_t i = 0; i < window.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? "x" : "", window[i].size);
  }
  AppendWindowField(
      "stride", window,
      [](const WindowDimension& d) { return absl::StrCat(d.stride); }, "1",
      out);
  AppendWindowField(
      "pad", window,
      [](const WindowDimension& d) {
        return absl::StrCat(d.padding_low, "_", d.padding_high);
      },
      "0_0", out);
  AppendWindowField(
      "lhs_dilate", window,
      [](const WindowDimension& d) { return absl::StrCat(d.base_dilation); },
      "1", out);
  AppendWindowField(
      "rhs_dilate", window,
      [](const WindowDimension& d) { return absl::StrCat(d.window_dilation); },
      "1", out);
  AppendWindowField(
      "rhs_reversal", window,
      [](const WindowDimension& d) { return d.reversal ? "1" : "0"; }, "0",
      out);
  out += '}';
}

// One part of `b01f_01io->b01f`.
std::string Labels(char first, int64_t first_dimension, char second,
                   int64_t second_dimension, const DimensionVector& spatial) {
  std::string labels(spatial.size() + 2, '?');
  const auto set = [&labels](int64_t dimension, char label) {
    if (dimension >= 0 && dimension < static_cast<int64_t>(labels.size())) {
      labels[static_cast<size_t>(dimension)] = label;
    }
  };
  for (size_t i = 0; i < spatial.size(); ++i) {
    set(spatial[i], static_cast<char>('0' + i));
  }
  set(first_dimension, first);
  set(second_dimension, second);
  return labels;
}

void AppendConvolution(const ConvolutionDimensions& d, std::string& out) {
  absl::StrAppend(
      &out, ", dim_labels=",
      Labels('b', d.input_batch, 'f', d.input_feature, d.input_spatial), "_",
      Labels('i', d.kernel_input_feature, 'o', d.kernel_output_feature,
             d.kernel_spatial),
      "->",
      Labels('b', d.output_batch, 'f', d.output_feature, d.output_spatial));
  if (d.feature_group_count != 1) {
    absl::StrAppend(&out, ", feature_group_count=", d.feature_group_count);
  }
  if (d.batch_group_count != 1) {
    absl::StrAppend(&out, ", batch_group_count=", d.batch_group_count);
  }
}

void AppendGather(const GatherDimensions& d, std::string& out) {
  AppendList("offset_dims", d.offset_dims, out);
  AppendList("collapsed_slice_dims", d.collapsed_slice_dims, out);
  AppendList("start_index_map", d.start_index_map, out);
  AppendListUnlessEmpty("operand_batching_dims", d.operand_batching_dims, out);
  AppendListUnlessEmpty("start_indices_batching_dims",
                        d.start_indices_batching_dims, out);
  absl::StrAppend(&out, ", index_vector_dim=", d.index_vector_dim);
  AppendList("slice_sizes", d.slice_sizes, out);
}

void AppendScatter(const ScatterDimensions& d, std::string& out) {
  AppendList("update_window_dims", d.update_window_dims, out);
  AppendList("inserted_window_dims", d.inserted_window_dims, out);
  AppendList("scatter_dims_to_operand_dims", d.scatter_dims_to_operand_dims,
             out);
  AppendListUnlessEmpty("input_batching_dims", d.input_batching_dims, out);
  AppendListUnlessEmpty("scatter_indices_batching_dims",
                        d.scatter_indices_batching_dims, out);
  absl::StrAppend(&out, ", index_vector_dim=", d.index_vector_dim);
}

void AppendSlice(const std::vector<SliceDimension>& slice, std::string& out) {
  out += ", slice={";
  for (size_t i = 0; i < slice.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? ", [" : "[", slice[i].start, ":",
                    slice[i].limit);
    if (slice[i].stride != 1) absl::StrAppend(&out, ":", slice[i].stride);
    out += ']';
  }
  out += '}';
}

void AppendPadding(const std::vector<PaddingDimension>& padding,
                   std::string& out) {
  if (padding.empty()) return;
  out += ", padding=";
  for (size_t i = 0; i < padding.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? "x" : "", padding[i].low, "_",
                    padding[i].high);
    if (padding[i].interior != 0) {
      absl::StrAppend(&out, "_", padding[i].interior);
    }
  }
}

void AppendBatchNorm(const Attributes& a, std::string& out) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), a.epsilon);
  absl::StrAppend(
      &out, ", epsilon=",
      absl::string_view(buffer, static_cast<size_t>(result.ptr - buffer)),
      ", feature_index=", a.feature_index);
}

// The part that only instructions of this opcode have.
void AppendOwnAttributes(const Instruction& instruction, std::string& out) {
  static constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE",
                                                      "GT", "LE", "LT"};
  static constexpr absl::string_view kAlgorithms[] = {
      "rng_default", "rng_three_fry", "rng_philox"};
  const Attributes& a = instruction.attributes();
  switch (instruction.opcode()) {
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return AppendBatchNorm(a, out);
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kTranspose:
      return AppendList("dimensions", a.dimensions, out);
    case Opcode::kCompare:
      absl::StrAppend(
          &out, ", direction=", kDirections[static_cast<size_t>(a.direction)]);
      if (!a.comparison_type.empty()) {
        absl::StrAppend(&out, ", type=", a.comparison_type);
      }
      return;
    case Opcode::kCustomCall:
      absl::StrAppend(&out, ", custom_call_target=\"",
                      absl::CEscape(a.custom_call_target), "\"");
      return;
    case Opcode::kDynamicSlice:
      return AppendList("dynamic_slice_sizes", a.dimensions, out);
    case Opcode::kFft:
      return AppendList("fft_length", a.dimensions, out);
    case Opcode::kFusion:
      if (!a.fusion_kind.empty()) {
        absl::StrAppend(&out, ", kind=", a.fusion_kind);
      }
      return;
    case Opcode::kGetTupleElement:
      absl::StrAppend(&out, ", index=", instruction.index());
      return;
    case Opcode::kIota:
      if (!a.dimensions.empty()) {
        absl::StrAppend(&out, ", iota_dimension=", a.dimensions[0]);
      }
      return;
    case Opcode::kPad:
      return AppendPadding(a.padding, out);
    case Opcode::kReducePrecision:
      absl::StrAppend(&out, ", exponent_bits=", a.exponent_bits,
                      ", mantissa_bits=", a.mantissa_bits);
      return;
    case Opcode::kRngBitGenerator:
      absl::StrAppend(&out, ", algorithm=",
                      kAlgorithms[static_cast<size_t>(a.rng_algorithm)]);
      return;
    case Opcode::kSlice:
      return AppendSlice(a.slice, out);
    case Opcode::kSort:
      AppendList("dimensions", a.dimensions, out);
      if (a.is_stable) out += ", is_stable=true";
      return;
    case Opcode::kTopk:
      absl::StrAppend(&out, ", k=", a.k,
                      ", largest=", a.largest ? "true" : "false");
      return;
    default:
      return AppendListUnlessEmpty("dimensions", a.dimensions, out);
  }
}

}  // namespace

void AppendAttributes(const Instruction& instruction, std::string& out) {
  const Attributes& a = instruction.attributes();
  if (instruction.opcode() != Opcode::kUnknown) {
    if (a.window != nullptr) AppendWindow(*a.window, out);
    if (a.dot != nullptr) AppendDot(*a.dot, out);
    if (a.convolution != nullptr) AppendConvolution(*a.convolution, out);
    if (a.gather != nullptr) AppendGather(*a.gather, out);
    if (a.scatter != nullptr) AppendScatter(*a.scatter, out);
    AppendOwnAttributes(instruction, out);
    if (a.indices_are_sorted) out += ", indices_are_sorted=true";
    if (a.unique_indices) out += ", unique_indices=true";
  }
  for (const auto& [name, value] : a.others) {
    if (CallRoleOf(name) != CallRole::kNone) continue;
    absl::StrAppend(&out, ", ", name, "=", value);
  }
}

}  // namespace hone::hlo
