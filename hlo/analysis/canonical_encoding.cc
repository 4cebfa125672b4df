#include "hlo/analysis/canonical_encoding.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace hone::hlo {
namespace {

void AppendList(absl::Span<const int64_t> values, std::string& out) {
  AppendSize(values.size(), out);
  for (int64_t value : values) AppendInteger(value, out);
}

void AppendDot(const DotDimensions& d, std::string& out) {
  AppendList(d.lhs_contracting, out);
  AppendList(d.rhs_contracting, out);
  AppendList(d.lhs_batch, out);
  AppendList(d.rhs_batch, out);
}

void AppendConvolution(const ConvolutionDimensions& d, std::string& out) {
  for (int64_t value :
       {d.input_batch, d.input_feature, d.kernel_input_feature,
        d.kernel_output_feature, d.output_batch, d.output_feature,
        d.feature_group_count, d.batch_group_count}) {
    AppendInteger(value, out);
  }
  AppendList(d.input_spatial, out);
  AppendList(d.kernel_spatial, out);
  AppendList(d.output_spatial, out);
}

void AppendWindow(const Window& window, std::string& out) {
  AppendSize(window.size(), out);
  for (const WindowDimension& d : window) {
    for (int64_t value :
         {d.size, d.stride, d.padding_low, d.padding_high, d.window_dilation,
          d.base_dilation, int64_t{d.reversal}}) {
      AppendInteger(value, out);
    }
  }
}

void AppendGather(const GatherDimensions& d, std::string& out) {
  AppendList(d.offset_dims, out);
  AppendList(d.collapsed_slice_dims, out);
  AppendList(d.start_index_map, out);
  AppendList(d.operand_batching_dims, out);
  AppendList(d.start_indices_batching_dims, out);
  AppendInteger(d.index_vector_dim, out);
  AppendList(d.slice_sizes, out);
}

void AppendScatter(const ScatterDimensions& d, std::string& out) {
  AppendList(d.update_window_dims, out);
  AppendList(d.inserted_window_dims, out);
  AppendList(d.scatter_dims_to_operand_dims, out);
  AppendList(d.input_batching_dims, out);
  AppendList(d.scatter_indices_batching_dims, out);
  AppendInteger(d.index_vector_dim, out);
}

void AppendOthers(
    const std::vector<std::pair<std::string, std::string>>& others,
    std::string& out) {
  std::vector<const std::pair<std::string, std::string>*> sorted;
  sorted.reserve(others.size());
  for (const auto& other : others) sorted.push_back(&other);
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto* a, const auto* b) { return a->first < b->first; });
  AppendSize(sorted.size(), out);
  for (const auto* other : sorted) {
    AppendBytes(other->first, out);
    AppendText(other->second, out);
  }
}

}  // namespace

void AppendBytes(absl::string_view bytes, std::string& out) {
  AppendSize(bytes.size(), out);
  out.append(bytes.data(), bytes.size());
}

void AppendText(absl::string_view text, std::string& out) {
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '%') continue;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
      const size_t close = text.find("*/", i + 2);
      i = close == absl::string_view::npos ? text.size() : close + 1;
      continue;
    }
    if (c != '"' && c != '\'') {
      kept += c;
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && text[end] != c) {
      end += text[end] == '\\' ? size_t{2} : size_t{1};
    }
    end = std::min(end, text.size() - 1);
    kept.append(text.data() + i, end - i + 1);
    i = end;
  }
  AppendBytes(kept, out);
}

void AppendShape(const Shape& shape, std::string& out) {
  out.push_back(static_cast<char>(shape.element_type()));
  AppendList(shape.dimensions(), out);
  if (!shape.tuple_elements().empty() || !shape.IsArray()) {
    AppendSize(shape.tuple_elements().size(), out);
    for (const ShapePtr& element : shape.tuple_elements()) {
      AppendShape(*element, out);
    }
  }
  const Layout* layout = shape.layout().get();
  out.push_back(static_cast<char>((shape.is_dynamic() ? 1 : 0) |
                                  (layout != nullptr ? 2 : 0)));
  if (shape.is_dynamic()) {
    for (int64_t i = 0; i < shape.rank(); ++i) {
      out.push_back(shape.is_dynamic_dimension(i) ? 1 : 0);
    }
  }
  if (layout != nullptr) {
    AppendList(layout->minor_to_major, out);
    AppendText(layout->suffix, out);
  }
}

void AppendAttributeValues(const Attributes& a, std::string& out) {
  // A bit for each of the larger fields that are present, so that the usual
  // instruction, which has one or none, takes a few bytes.
  uint32_t fields = 0;
  const auto has = [&fields](uint32_t bit, bool present) {
    if (present) fields |= 1u << bit;
    return present;
  };
  has(0, a.dot != nullptr);
  has(1, a.convolution != nullptr);
  has(2, a.window != nullptr);
  has(3, a.gather != nullptr);
  has(4, a.scatter != nullptr);
  has(5, !a.slice.empty());
  has(6, !a.padding.empty());
  has(7, !a.custom_call_target.empty() || !a.fusion_kind.empty() ||
             !a.comparison_type.empty());
  has(8, a.exponent_bits != 0 || a.mantissa_bits != 0 || a.epsilon != 0 ||
             a.feature_index != 0 || a.k != 0);
  has(9, !a.others.empty());
  has(10, a.indices_are_sorted);
  has(11, a.unique_indices);
  has(12, a.is_stable);
  has(13, a.largest);
  AppendInteger(fields, out);
  out.push_back(static_cast<char>(a.direction));
  out.push_back(static_cast<char>(a.rng_algorithm));
  AppendList(a.dimensions, out);
  if (a.dot != nullptr) AppendDot(*a.dot, out);
  if (a.convolution != nullptr) AppendConvolution(*a.convolution, out);
  if (a.window != nullptr) AppendWindow(*a.window, out);
  if (a.gather != nullptr) AppendGather(*a.gather, out);
  if (a.scatter != nullptr) AppendScatter(*a.scatter, out);
  if (!a.slice.empty()) {
    AppendSize(a.slice.size(), out);
    for (const SliceDimension& d : a.slice) {
      for (int64_t value : {d.start, d.limit, d.stride}) {
        AppendInteger(value, out);
      }
    }
  }
  if (!a.padding.empty()) {
    AppendSize(a.padding.size(), out);
    for (const PaddingDimension& d : a.padding) {
      for (int64_t value : {d.low, d.high, d.interior}) {
        AppendInteger(value, out);
      }
    }
  }
  if ((fields & (1u << 7)) != 0) {
    AppendBytes(a.custom_call_target, out);
    AppendBytes(a.fusion_kind, out);
    AppendBytes(a.comparison_type, out);
  }
  if ((fields & (1u << 8)) != 0) {
    for (int64_t value : {a.exponent_bits, a.mantissa_bits, a.feature_index,
                          a.k, int64_t{std::bit_cast<int32_t>(a.epsilon)}}) {
      AppendInteger(value, out);
    }
  }
  if ((fields & (1u << 9)) != 0) {
    AppendOthers(a.others, out);
  }
}

}  // namespace hone::hlo
