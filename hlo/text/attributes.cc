#include "hlo/text/attributes.h"

#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace hone::hlo {
namespace {

constexpr absl::string_view kRoleNames[] = {
    "",
    "to_apply",
    "condition",
    "body",
    "select",
    "scatter",
    "true_computation",
    "false_computation",
    "branch_computations",
    "calls",
    "called_computations",
};

// Fills the fields of one instruction's Attributes.
class AttributeReader {
 public:
  AttributeReader(Opcode opcode, TextError* error)
      : opcode_(opcode), error_(error) {
    switch (opcode) {
      case Opcode::kDot:
      case Opcode::kRaggedDot:
      case Opcode::kScaledDot:
        dot_.emplace();
        break;
      case Opcode::kConvolution:
        convolution_.emplace();
        window_.emplace();
        break;
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        window_.emplace();
        break;
      case Opcode::kGather:
        gather_.emplace();
        break;
      case Opcode::kScatter:
        scatter_.emplace();
        break;
      default:
        break;
    }
  }

  bool Read(const AttributeText& text) {
    TextLexer lexer(text.value, error_);
    bool known = false;
    if (opcode_ != Opcode::kUnknown && !ReadField(text.name, lexer, known)) {
      return false;
    }
    if (!known) {
      result_.others.emplace_back(text.name, text.value);
      return true;
    }
    return lexer.AtEnd() || lexer.FailExpected("the end of the attribute");
  }

  std::shared_ptr<const Attributes> Finish() && {
    result_.dot = Share(std::move(dot_));
    result_.convolution = Share(std::move(convolution_));
    result_.window = Share(std::move(window_));
    result_.gather = Share(std::move(gather_));
    result_.scatter = Share(std::move(scatter_));
    return std::make_shared<const Attributes>(std::move(result_));
  }

 private:
  template <typename T>
  static std::shared_ptr<const T> Share(std::optional<T> value) {
    if (!value.has_value()) return nullptr;
    return std::make_shared<const T>(*std::move(value));
  }

  // Reads the value when there is a field for it in this opcode's attributes.
  bool ReadField(absl::string_view name, TextLexer& lexer, bool& known) {
    known = true;
    if (dot_.has_value()) {
      if (name == "lhs_contracting_dims") {
        return lexer.IntegerList(dot_->lhs_contracting);
      }
      if (name == "rhs_contracting_dims") {
        return lexer.IntegerList(dot_->rhs_contracting);
      }
      if (name == "lhs_batch_dims") return lexer.IntegerList(dot_->lhs_batch);
      if (name == "rhs_batch_dims") return lexer.IntegerList(dot_->rhs_batch);
    }
    if (window_.has_value() && name == "window") return ReadWindow(lexer);
    if (convolution_.has_value()) {
      if (name == "dim_labels") return ReadDimLabels(lexer);
      if (name == "feature_group_count") {
        return lexer.Integer(convolution_->feature_group_count);
      }
      if (name == "batch_group_count") {
        return lexer.Integer(convolution_->batch_group_count);
      }
    }
    if (gather_.has_value()) {
      if (name == "offset_dims") return lexer.IntegerList(gather_->offset_dims);
      if (name == "collapsed_slice_dims") {
        return lexer.IntegerList(gather_->collapsed_slice_dims);
      }
      if (name == "start_index_map") {
        return lexer.IntegerList(gather_->start_index_map);
      }
      if (name == "operand_batching_dims") {
        return lexer.IntegerList(gather_->operand_batching_dims);
      }
      if (name == "start_indices_batching_dims") {
        return lexer.IntegerList(gather_->start_indices_batching_dims);
      }
      if (name == "index_vector_dim") {
        return lexer.Integer(gather_->index_vector_dim);
      }
      if (name == "slice_sizes") return lexer.IntegerList(gather_->slice_sizes);
      if (name == "indices_are_sorted") {
        return lexer.Bool(result_.indices_are_sorted);
      }
    }
    if (scatter_.has_value()) {
      if (name == "update_window_dims") {
        return lexer.IntegerList(scatter_->update_window_dims);
      }
      if (name == "inserted_window_dims") {
        return lexer.IntegerList(scatter_->inserted_window_dims);
      }
      if (name == "scatter_dims_to_operand_dims") {
        return lexer.IntegerList(scatter_->scatter_dims_to_operand_dims);
      }
      if (name == "input_batching_dims") {
        return lexer.IntegerList(scatter_->input_batching_dims);
      }
      if (name == "scatter_indices_batching_dims") {
        return lexer.IntegerList(scatter_->scatter_indices_batching_dims);
      }
      if (name == "index_vector_dim") {
        return lexer.Integer(scatter_->index_vector_dim);
      }
      if (name == "indices_are_sorted") {
        return lexer.Bool(result_.indices_are_sorted);
      }
      if (name == "unique_indices") return lexer.Bool(result_.unique_indices);
    }
    switch (opcode_) {
      case Opcode::kIota:
        if (name == "iota_dimension") return ReadSingleDimension(lexer);
        break;
      case Opcode::kDynamicSlice:
        if (name == "dynamic_slice_sizes") {
          return lexer.IntegerList(result_.dimensions);
        }
        break;
      case Opcode::kFft:
        if (name == "fft_length") return lexer.IntegerList(result_.dimensions);
        break;
      case Opcode::kSlice:
        if (name == "slice") return ReadSlice(lexer);
        break;
      case Opcode::kPad:
        if (name == "padding") return ReadPadding(lexer);
        break;
      case Opcode::kCompare:
        if (name == "direction") return ReadDirection(lexer);
        if (name == "type") {
          result_.comparison_type = std::string(lexer.Word());
          return true;
        }
        break;
      case Opcode::kSort:
        if (name == "is_stable") return lexer.Bool(result_.is_stable);
        if (name == "dimensions") return lexer.IntegerList(result_.dimensions);
        break;
      case Opcode::kRngBitGenerator:
        if (name == "algorithm") return ReadRandomAlgorithm(lexer);
        break;
      case Opcode::kReducePrecision:
        if (name == "exponent_bits") {
          return lexer.Integer(result_.exponent_bits);
        }
        if (name == "mantissa_bits") {
          return lexer.Integer(result_.mantissa_bits);
        }
        break;
      case Opcode::kBatchNormGrad:
      case Opcode::kBatchNormInference:
      case Opcode::kBatchNormTraining:
        if (name == "epsilon") return ReadEpsilon(lexer);
        if (name == "feature_index") {
          return lexer.Integer(result_.feature_index);
        }
        break;
      case Opcode::kTopk:
        if (name == "k") return lexer.Integer(result_.k);
        if (name == "largest") return lexer.Bool(result_.largest);
        break;
      case Opcode::kCustomCall:
        if (name == "custom_call_target") {
          return lexer.String(result_.custom_call_target);
        }
        break;
      case Opcode::kFusion:
        if (name == "kind") return ReadFusionKind(lexer);
        break;
      default:
        if (name == "dimensions") return lexer.IntegerList(result_.dimensions);
        break;
    }
    known = false;
    return true;
  }

  bool ReadSingleDimension(TextLexer& lexer) {
    int64_t dimension = 0;
    if (!lexer.Integer(dimension)) return false;
    result_.dimensions = {dimension};
    return true;
  }

  // `{[0:8:1], [2:4]}`
  bool ReadSlice(TextLexer& lexer) {
    if (!lexer.Expect('{')) return false;
    if (lexer.Take('}')) return true;
    do {
      SliceDimension& d = result_.slice.emplace_back();
      if (!lexer.Expect('[') || !lexer.Integer(d.start) || !lexer.Expect(':') ||
          !lexer.Integer(d.limit)) {
        return false;
      }
      if (lexer.Take(':') && !lexer.Integer(d.stride)) return false;
      if (!lexer.Expect(']')) return false;
    } while (lexer.Take(','));
    return lexer.Expect('}');
  }

  // `0_1x1_2_0`: low, high and, where it is not 0, interior.
  bool ReadPadding(TextLexer& lexer) {
    if (lexer.AtEnd()) return true;
    do {
      PaddingDimension& d = result_.padding.emplace_back();
      if (!lexer.Integer(d.low) || !lexer.Expect('_') ||
          !lexer.Integer(d.high)) {
        return false;
      }
      if (lexer.Take('_') && !lexer.Integer(d.interior)) return false;
    } while (lexer.Take('x'));
    return true;
  }

  bool ReadDirection(TextLexer& lexer) {
    static constexpr absl::string_view kNames[] = {"EQ", "NE", "GE",
                                                   "GT", "LE", "LT"};
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (lexer.Take(kNames[i])) {
        result_.direction = static_cast<ComparisonDirection>(i);
        return true;
      }
    }
    return lexer.FailExpected("EQ, NE, GE, GT, LE or LT");
  }

  bool ReadRandomAlgorithm(TextLexer& lexer) {
    static constexpr absl::string_view kNames[] = {
        "rng_default", "rng_three_fry", "rng_philox"};
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (lexer.Take(kNames[i])) {
        result_.rng_algorithm = static_cast<RandomAlgorithm>(i);
        return true;
      }
    }
    return lexer.FailExpected("rng_default, rng_three_fry or rng_philox");
  }

  bool ReadFusionKind(TextLexer& lexer) {
    const char* start = lexer.Position();
    result_.fusion_kind = std::string(lexer.Word());
    if (IsFusionKind(result_.fusion_kind)) return true;
    lexer.set_position(start);
    return lexer.FailExpected("kLoop, kInput, kOutput or kCustom");
  }

  bool ReadEpsilon(TextLexer& lexer) {
    const char* start = lexer.Position();
    const char* end = start + lexer.remaining();
    const auto [stop, error] = std::from_chars(start, end, result_.epsilon);
    if (error != std::errc()) return lexer.FailExpected("a number");
    lexer.set_position(stop);
    return true;
  }

  // `{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=… rhs_dilate=… …}`
  bool ReadWindow(TextLexer& lexer) {
    if (!lexer.Expect('{')) return false;
    // The number of dimensions is that of the first field.
    while (!lexer.Take('}')) {
      const char* start = lexer.Position();
      const absl::string_view name = lexer.Word();
      if (!lexer.Expect('=')) return false;
      const bool first = window_->empty();
      size_t i = 0;
      do {
        if (first) window_->emplace_back();
        if (i == window_->size()) {
          return lexer.FailExpected(absl::StrCat(
              "no more than ", window_->size(), " dimensions, as before"));
        }
        bool known = false;
        if (!ReadWindowField(name, (*window_)[i++], lexer, known)) {
          return false;
        }
        if (!known) {
          lexer.set_position(start);
          return lexer.FailExpected(
              "size, stride, pad, lhs_dilate, rhs_dilate or rhs_reversal");
        }
      } while (lexer.Take('x'));
      if (i != window_->size()) {
        return lexer.FailExpected(
            absl::StrCat(window_->size(), " dimensions, as before"));
      }
    }
    return true;
  }

  static bool ReadWindowField(absl::string_view name, WindowDimension& d,
                              TextLexer& lexer, bool& known) {
    known = true;
    if (name == "size") return lexer.Integer(d.size);
    if (name == "stride") return lexer.Integer(d.stride);
    if (name == "lhs_dilate") return lexer.Integer(d.base_dilation);
    if (name == "rhs_dilate") return lexer.Integer(d.window_dilation);
    if (name == "pad") {
      return lexer.Integer(d.padding_low) && lexer.Expect('_') &&
             lexer.Integer(d.padding_high);
    }
    if (name == "rhs_reversal") {
      int64_t value = 0;
      if (!lexer.Integer(value)) return false;
      d.reversal = value != 0;
      return true;
    }
    known = false;
    return true;
  }

  // `b01f_01io->b01f`: what each dimension of input, kernel and output is.
  bool ReadDimLabels(TextLexer& lexer) {
    ConvolutionDimensions& d = *convolution_;
    return ReadLabels(lexer, 'b', 'f', '_', d.input_batch, d.input_feature,
                      d.input_spatial) &&
           lexer.Expect('_') &&
           ReadLabels(lexer, 'i', 'o', '-', d.kernel_input_feature,
                      d.kernel_output_feature, d.kernel_spatial) &&
           lexer.Expect("->") &&
           ReadLabels(lexer, 'b', 'f', '\0', d.output_batch, d.output_feature,
                      d.output_spatial);
  }

  static bool ReadLabels(TextLexer& lexer, char first, char second, char stop,
                         int64_t& first_dimension, int64_t& second_dimension,
                         DimensionVector& spatial) {
    first_dimension = second_dimension = -1;
    int64_t count = 0;
    for (char c = lexer.Peek(); c != '\0' && c != stop; c = lexer.PeekRaw()) {
      if (c == first && first_dimension < 0) {
        first_dimension = count;
      } else if (c == second && second_dimension < 0) {
        second_dimension = count;
      } else if (c >= '0' && c <= '9') {
        const size_t i = static_cast<size_t>(c - '0');
        if (spatial.size() <= i) spatial.resize(i + 1, -1);
        if (spatial[i] >= 0) return FailLabels(lexer);
        spatial[i] = count;
      } else {
        return FailLabels(lexer);
      }
      lexer.Take(c);
      ++count;
    }
    const bool complete = first_dimension >= 0 && second_dimension >= 0 &&
                          count == static_cast<int64_t>(spatial.size()) + 2;
    return complete || FailLabels(lexer);
  }

  static bool FailLabels(TextLexer& lexer) {
    return lexer.FailExpected("dimension labels such as b01f_01io->b01f");
  }

  const Opcode opcode_;
  TextError* error_;
  Attributes result_;
  std::optional<DotDimensions> dot_;
  std::optional<ConvolutionDimensions> convolution_;
  std::optional<Window> window_;
  std::optional<GatherDimensions> gather_;
  std::optional<ScatterDimensions> scatter_;
};

}  // namespace

std::shared_ptr<const Attributes> ReadAttributes(
    Opcode opcode, absl::Span<const AttributeText> texts, TextError* error) {
  AttributeReader reader(opcode, error);
  absl::flat_hash_set<absl::string_view> names;
  for (const AttributeText& text : texts) {
    if (!names.insert(text.name).second) {
      TextLexer(text.name, error)
          .Fail(text.name.data(), absl::StrCat("attribute ", text.name,
                                               " again, expected it once"));
      return nullptr;
    }
    if (!reader.Read(text)) return nullptr;
  }
  return std::move(reader).Finish();
}

bool IsFusionKind(absl::string_view kind) {
  return kind == "kLoop" || kind == "kInput" || kind == "kOutput" ||
         kind == "kCustom";
}

CallRole CallRoleOf(absl::string_view attribute_name) {
  // By first letter, since most names are no role.
  if (attribute_name.size() < 4) return CallRole::kNone;
  switch (attribute_name[0]) {
    case 't':
    case 'c':
    case 'b':
    case 's':
    case 'f':
      break;
    default:
      return CallRole::kNone;
  }
  for (size_t i = 1; i < std::size(kRoleNames); ++i) {
    if (attribute_name == kRoleNames[i]) return static_cast<CallRole>(i);
  }
  return CallRole::kNone;
}

absl::string_view CallRoleName(CallRole role) {
  return kRoleNames[static_cast<size_t>(role)];
}

bool IsUsualRole(Opcode opcode, CallRole role) {
  switch (opcode) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kCall:
    case Opcode::kCollectiveReduce:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceScatter:
    case Opcode::kReduceWindow:
    case Opcode::kScan:
    case Opcode::kScatter:
    case Opcode::kSort:
      return role == CallRole::kToApply;
    case Opcode::kWhile:
      return role == CallRole::kCondition || role == CallRole::kBody;
    case Opcode::kSelectAndScatter:
      return role == CallRole::kSelect || role == CallRole::kScatter;
    case Opcode::kConditional:
      return role == CallRole::kTrueComputation ||
             role == CallRole::kFalseComputation ||
             role == CallRole::kBranchComputations;
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kFusion:
      return role == CallRole::kCalls;
    case Opcode::kCustomCall:
      return role == CallRole::kCalledComputations;
    default:
      return false;
  }
}

}  // namespace hone::hlo
