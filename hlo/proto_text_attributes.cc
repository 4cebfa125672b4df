#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/hlo.pb.h"
#include "hlo/proto_attributes.h"
#include "hlo/proto_shape.h"
#include "hlo/proto_sharding.h"
#include "hlo/text_lexer.h"
#include "hlo/text_shape.h"

namespace hone::hlo {
namespace {

using Proto = xla::HloInstructionProto;

// How one attribute's text and the proto's fields for it correspond.
struct Codec {
  absl::string_view name;
  // The only opcode that has it; kUnknown for any.
  Opcode opcode;
  // Fills the fields from the value; false when it cannot.
  bool (*write)(TextLexer& lexer, Proto& proto);
  // Appends the value and clears the fields; false when they say nothing, or
  // nothing that text can say.
  bool (*take)(Proto& proto, std::string& value);
};

// The names of an enum's numbers, from 0 on.
using Names = absl::Span<const absl::string_view>;

bool ReadName(TextLexer& lexer, Names names, int32_t& number) {
  const absl::string_view word = lexer.Word();
  const auto it = std::find(names.begin(), names.end(), word);
  number = static_cast<int32_t>(it - names.begin());
  return it != names.end() && !word.empty();
}

bool HasName(int32_t number, Names names) {
  return number >= 0 && static_cast<size_t>(number) < names.size() &&
         !names[static_cast<size_t>(number)].empty();
}

template <typename Field>
bool ReadInt64s(TextLexer& lexer, Field& field) {
  DimensionVector values;
  if (!lexer.IntegerList(values)) return false;
  field.Assign(values.begin(), values.end());
  return true;
}

template <typename Field>
std::string ListText(const Field& values, absl::string_view separator = ",") {
  return absl::StrCat("{", absl::StrJoin(values, separator), "}");
}

constexpr absl::string_view kPrecisions[] = {"default", "high", "highest",
                                             "packed_nibble"};
constexpr absl::string_view kAlgorithms[] = {"",
                                             "dot_any_f8_any_f8_f32",
                                             "dot_any_f8_any_f8_f32_fast_accum",
                                             "dot_f16_f16_f16",
                                             "dot_f16_f16_f32",
                                             "dot_bf16_bf16_bf16",
                                             "dot_bf16_bf16_f32",
                                             "dot_bf16_bf16_f32_x3",
                                             "dot_bf16_bf16_f32_x6",
                                             "dot_tf32_tf32_f32",
                                             "dot_tf32_tf32_f32_x3",
                                             "dot_f32_f32_f32",
                                             "dot_f64_f64_f64",
                                             "dot_bf16_bf16_f32_x9"};
constexpr absl::string_view kDistributions[] = {"", "rng_uniform",
                                                "rng_normal"};
constexpr absl::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr absl::string_view kTransposes[] = {"", "NO_TRANSPOSE", "TRANSPOSE",
                                             "ADJOINT"};
constexpr absl::string_view kSchedules[] = {"", "SCHEDULE_LATEST",
                                            "SCHEDULE_EARLIEST"};
constexpr absl::string_view kPaddings[] = {"", "PADDING_VALID", "PADDING_SAME"};
constexpr absl::string_view kApiVersions[] = {
    "", "", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr absl::string_view kAccuracyModes[] = {"default", "highest"};

bool WriteOperandPrecision(TextLexer& lexer, Proto& proto) {
  if (!lexer.Expect('{')) return false;
  do {
    int32_t precision = 0;
    if (!ReadName(lexer, kPrecisions, precision)) return false;
    proto.mutable_precision_config()->add_operand_precision(precision);
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

bool TakeOperandPrecision(Proto& proto, std::string& value) {
  const auto& precisions = proto.precision_config().operand_precision();
  bool says_something = false;
  std::vector<absl::string_view> names;
  for (int32_t precision : precisions) {
    if (!HasName(precision, kPrecisions)) return false;
    names.push_back(kPrecisions[precision]);
    says_something = says_something || precision != 0;
  }
  if (proto.has_precision_config()) {
    proto.mutable_precision_config()->clear_operand_precision();
    if (proto.precision_config().ByteSizeLong() == 0) {
      proto.clear_precision_config();
    }
  }
  value = ListText(names);
  return says_something;
}

bool WriteReplicaGroups(TextLexer& lexer, Proto& proto) {
  if (lexer.Peek() == '[') {
    auto& iota = *proto.mutable_iota_collective_device_list();
    int64_t number = 0;
    if (!lexer.Expect('[') || !lexer.Integer(number)) return false;
    iota.set_num_replica_groups(number);
    if (!lexer.Expect(',') || !lexer.Integer(number)) return false;
    iota.set_num_devices_per_group(number);
    if (!lexer.Expect(']') || !lexer.Take("<=[")) return false;
    do {
      if (!lexer.Integer(number)) return false;
      iota.add_iota_reshape_dims(number);
    } while (lexer.Take(','));
    if (!lexer.Expect(']')) return false;
    if (!lexer.Take("T(")) {
      for (int i = 0; i < iota.iota_reshape_dims_size(); ++i) {
        iota.add_iota_transpose_perm(i);
      }
      return true;
    }
    do {
      if (!lexer.Integer(number)) return false;
      iota.add_iota_transpose_perm(static_cast<int32_t>(number));
    } while (lexer.Take(','));
    return lexer.Expect(')');
  }
  auto& list = *proto.mutable_collective_device_list();
  if (!lexer.Expect('{')) return false;
  if (lexer.Take('}')) return true;
  do {
    if (!ReadInt64s(lexer, *list.add_replica_groups()->mutable_replica_ids())) {
      return false;
    }
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

std::string IotaText(const xla::IotaReplicaGroupListProto& iota) {
  std::string text = absl::StrCat(
      "[", iota.num_replica_groups(), ",", iota.num_devices_per_group(), "]<=[",
      absl::StrJoin(iota.iota_reshape_dims(), ","), "]");
  const auto& permutation = iota.iota_transpose_perm();
  if (!std::is_sorted(permutation.begin(), permutation.end())) {
    absl::StrAppend(&text, "T(", absl::StrJoin(permutation, ","), ")");
  }
  return text;
}

template <typename Groups>
std::string GroupsText(const Groups& groups) {
  return absl::StrCat(
      "{",
      absl::StrJoin(groups, ",",
                    [](std::string* out, const xla::ReplicaGroup& group) {
                      absl::StrAppend(out, ListText(group.replica_ids()));
                    }),
      "}");
}

// Three generations of fields for the same thing.
bool TakeReplicaGroups(Proto& proto, std::string& value) {
  if (proto.has_iota_collective_device_list()) {
    value = IotaText(proto.iota_collective_device_list());
    proto.clear_iota_collective_device_list();
    return true;
  }
  if (proto.has_collective_device_list()) {
    const auto& list = proto.collective_device_list();
    value = list.has_iota_replica_group_list()
                ? IotaText(list.iota_replica_group_list())
                : GroupsText(list.replica_groups());
    proto.clear_collective_device_list();
    proto.clear_replica_groups();
    return true;
  }
  if (proto.replica_groups().empty()) return false;
  value = GroupsText(proto.replica_groups());
  proto.clear_replica_groups();
  return true;
}

bool WriteSourceTargetPairs(TextLexer& lexer, Proto& proto) {
  if (!lexer.Expect('{')) return false;
  if (lexer.Take('}')) return true;
  do {
    DimensionVector pair;
    if (!lexer.IntegerList(pair) || pair.size() != 2) return false;
    auto& edge = *proto.add_source_target_pairs();
    edge.set_source(pair[0]);
    edge.set_target(pair[1]);
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

bool TakeSourceTargetPairs(Proto& proto, std::string& value) {
  if (proto.source_target_pairs().empty()) return false;
  value = absl::StrCat(
      "{",
      absl::StrJoin(proto.source_target_pairs(), ",",
                    [](std::string* out, const xla::SourceTarget& edge) {
                      absl::StrAppend(out, "{", edge.source(), ",",
                                      edge.target(), "}");
                    }),
      "}");
  proto.clear_source_target_pairs();
  return true;
}

bool ReadTextShape(TextLexer& lexer, xla::ShapeProto& proto) {
  // The parser of protos takes 100 levels.
  ShapeReader shapes(/*max_depth=*/50);
  ShapePtr shape;
  return shapes.Read(lexer, shape) && WriteShapeProto(*shape, proto).ok();
}

bool ShapeText(const xla::ShapeProto& proto, std::string& text) {
  const absl::StatusOr<ShapePtr> shape = ReadShapeProto(proto);
  if (!shape.ok()) return false;
  text += (*shape)->ToString(/*layouts=*/true);
  return true;
}

bool WriteOperandLayouts(TextLexer& lexer, Proto& proto) {
  proto.set_constrain_layout(true);
  if (!lexer.Expect('{')) return false;
  if (lexer.Take('}')) return true;
  do {
    if (!ReadTextShape(lexer, *proto.add_operand_shapes_with_layout())) {
      return false;
    }
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

bool TakeOperandLayouts(Proto& proto, std::string& value) {
  if (!proto.constrain_layout()) return false;
  value = "{";
  for (const xla::ShapeProto& shape : proto.operand_shapes_with_layout()) {
    if (value.size() > 1) value += ", ";
    if (!ShapeText(shape, value)) return false;
  }
  value += '}';
  proto.clear_constrain_layout();
  proto.clear_operand_shapes_with_layout();
  return true;
}

// `{{0}: (1, {}), {}: (0, {1})}`: output index, operand, index in it.
bool WriteAliasing(TextLexer& lexer, Proto& proto) {
  if (!lexer.Expect('{')) return false;
  do {
    auto& alias = *proto.add_output_operand_aliasing();
    int64_t operand = 0;
    if (!ReadInt64s(lexer, *alias.mutable_output_shape_index()) ||
        !lexer.Expect(':') || !lexer.Expect('(') || !lexer.Integer(operand) ||
        !lexer.Expect(',') ||
        !ReadInt64s(lexer, *alias.mutable_operand_shape_index()) ||
        !lexer.Expect(')')) {
      return false;
    }
    alias.set_operand_index(operand);
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

bool TakeAliasing(Proto& proto, std::string& value) {
  if (proto.output_operand_aliasing().empty()) return false;
  value = "{";
  for (const auto& alias : proto.output_operand_aliasing()) {
    absl::StrAppend(&value, value.size() > 1 ? ", " : "",
                    ListText(alias.output_shape_index(), ", "), ": (",
                    alias.operand_index(), ", ",
                    ListText(alias.operand_shape_index(), ", "), ")");
  }
  value += '}';
  proto.clear_output_operand_aliasing();
  return true;
}

bool ReadDouble(TextLexer& lexer, double& value) {
  const char* start = lexer.Position();
  const char* end = start + lexer.remaining();
  const char* stop =
      std::find_if(start, end, [](char c) { return c == ',' || c == '}'; });
  if (!absl::SimpleAtod(
          absl::string_view(start, static_cast<size_t>(stop - start)),
          &value)) {
    return false;
  }
  lexer.set_position(stop);
  return true;
}

// `{mode=highest}` or `{tolerance={atol=1e-05,rtol=0.1,ulps=2}}`
bool WriteResultAccuracy(TextLexer& lexer, Proto& proto) {
  auto& accuracy = *proto.mutable_result_accuracy();
  if (lexer.Take("{mode=")) {
    int32_t mode = 0;
    if (!ReadName(lexer, kAccuracyModes, mode)) return false;
    accuracy.set_mode(mode);
    return lexer.Expect('}');
  }
  double atol = 0;
  double rtol = 0;
  int64_t ulps = 0;
  if (!lexer.Take("{tolerance={atol=") || !ReadDouble(lexer, atol) ||
      !lexer.Take(",rtol=") || !ReadDouble(lexer, rtol) ||
      !lexer.Take(",ulps=") || !lexer.Integer(ulps) || !lexer.Take("}}")) {
    return false;
  }
  accuracy.mutable_tolerance()->set_atol(atol);
  accuracy.mutable_tolerance()->set_rtol(rtol);
  accuracy.mutable_tolerance()->set_ulps(ulps);
  return true;
}

bool TakeResultAccuracy(Proto& proto, std::string& value) {
  const auto& accuracy = proto.result_accuracy();
  if (accuracy.has_tolerance()) {
    const auto& t = accuracy.tolerance();
    value = absl::StrCat("{tolerance={atol=", t.atol(), ",rtol=", t.rtol(),
                         ",ulps=", t.ulps(), "}}");
  } else if (accuracy.mode() != 0) {
    if (!HasName(accuracy.mode(), kAccuracyModes)) return false;
    value = absl::StrCat("{mode=", kAccuracyModes[accuracy.mode()], "}");
  }
  if (proto.has_result_accuracy()) proto.clear_result_accuracy();
  return !value.empty();
}

bool WriteParameterReplication(TextLexer& lexer, Proto& proto) {
  if (!lexer.Expect('{')) return false;
  do {
    bool value = false;
    if (!lexer.Bool(value)) return false;
    proto.mutable_parameter_replication()->add_replicated_at_leaf_buffers(
        value);
  } while (lexer.Take(','));
  return lexer.Expect('}');
}

bool TakeParameterReplication(Proto& proto, std::string& value) {
  if (!proto.has_parameter_replication()) return false;
  const auto& flags =
      proto.parameter_replication().replicated_at_leaf_buffers();
  value = absl::StrCat("{",
                       absl::StrJoin(flags, ",",
                                     [](std::string* out, bool flag) {
                                       *out += flag ? "true" : "false";
                                     }),
                       "}");
  proto.clear_parameter_replication();
  return true;
}

bool WriteShardingAttribute(TextLexer& lexer, Proto& proto) {
  return ReadSharding(lexer, *proto.mutable_sharding());
}

bool TakeShardingAttribute(Proto& proto, std::string& value) {
  if (!proto.has_sharding() || !ShardingText(proto.sharding(), value)) {
    return false;
  }
  proto.clear_sharding();
  return true;
}

// A quoted string, or a JSON object as it is.
bool WriteBackendConfig(TextLexer& lexer, Proto& proto) {
  if (lexer.Peek() != '{') return lexer.String(*proto.mutable_backend_config());
  absl::string_view json;
  if (!lexer.Bracketed(json)) return false;
  proto.set_backend_config(std::string(json));
  return true;
}

// Whether the text reader would take `text` as one bracketed value.
bool IsBracketed(const std::string& text) {
  if (text.empty() || text[0] != '{') return false;
  TextError error;
  TextLexer lexer(text, &error);
  absl::string_view value;
  return lexer.AttributeValue(value) && value.size() == text.size();
}

std::string Quoted(const std::string& bytes) {
  return absl::StrCat("\"", absl::CEscape(bytes), "\"");
}

bool TakeBackendConfig(Proto& proto, std::string& value) {
  const std::string& config = proto.backend_config();
  if (config.empty()) return false;
  value = IsBracketed(config) ? config : Quoted(config);
  proto.clear_backend_config();
  return true;
}

bool WriteOutfeedShape(TextLexer& lexer, Proto& proto) {
  return ReadTextShape(lexer, *proto.mutable_outfeed_shape());
}

bool TakeOutfeedShape(Proto& proto, std::string& value) {
  if (!proto.has_outfeed_shape() || !ShapeText(proto.outfeed_shape(), value)) {
    return false;
  }
  proto.clear_outfeed_shape();
  return true;
}

bool WriteInferredDimension(TextLexer& lexer, Proto& proto) {
  int64_t dimension = 0;
  if (!lexer.Integer(dimension)) return false;
  proto.add_dimensions(dimension);
  return true;
}

bool TakeInferredDimension(Proto& proto, std::string& value) {
  if (proto.dimensions_size() != 1) return false;
  value = absl::StrCat(proto.dimensions(0));
  proto.clear_dimensions();
  return true;
}

bool TakeFftType(Proto& proto, std::string& value) {
  if (!HasName(proto.fft_type(), kFftTypes)) return false;
  value = std::string(kFftTypes[proto.fft_type()]);
  proto.clear_fft_type();
  return true;
}

// Codecs of one field with a getter and a setter. One that is 0, false or empty
// says nothing.
template <auto kGet, auto kSet>
constexpr Codec Flag(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            bool value = false;
            if (!lexer.Bool(value)) return false;
            (proto.*kSet)(value);
            return true;
          },
          [](Proto& proto, std::string& value) {
            if (!(proto.*kGet)()) return false;
            value = "true";
            (proto.*kSet)(false);
            return true;
          }};
}

template <auto kGet, auto kSet>
constexpr Codec Number(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            int64_t value = 0;
            if (!lexer.Integer(value)) return false;
            (proto.*kSet)(value);
            return true;
          },
          [](Proto& proto, std::string& value) {
            if ((proto.*kGet)() == 0) return false;
            value = absl::StrCat((proto.*kGet)());
            (proto.*kSet)(0);
            return true;
          }};
}

template <auto kGet, auto kSet, const auto& kNames>
constexpr Codec Enum(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            int32_t number = 0;
            if (!ReadName(lexer, kNames, number)) return false;
            (proto.*kSet)(number);
            return true;
          },
          [](Proto& proto, std::string& value) {
            const int32_t number = (proto.*kGet)();
            if (!HasName(number, kNames)) return false;
            value = std::string(kNames[static_cast<size_t>(number)]);
            (proto.*kSet)(0);
            return true;
          }};
}

template <auto kMutable>
constexpr Codec Text(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            return lexer.String(*(proto.*kMutable)());
          },
          [](Proto& proto, std::string& value) {
            std::string& bytes = *(proto.*kMutable)();
            if (bytes.empty()) return false;
            value = Quoted(bytes);
            bytes.clear();
            return true;
          }};
}

// The same of a field in a message of the instruction.
template <auto kMessage, auto kGet, auto kSet>
constexpr Codec FlagIn(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            bool value = false;
            if (!lexer.Bool(value)) return false;
            ((proto.*kMessage)()->*kSet)(value);
            return true;
          },
          [](Proto& proto, std::string& value) {
            auto* message = (proto.*kMessage)();
            if (!(message->*kGet)()) return false;
            value = "true";
            (message->*kSet)(false);
            return true;
          }};
}

template <auto kMessage, auto kGet, auto kSet, const auto& kNames>
constexpr Codec EnumIn(absl::string_view name, Opcode opcode) {
  return {name, opcode,
          [](TextLexer& lexer, Proto& proto) {
            int32_t number = 0;
            if (!ReadName(lexer, kNames, number)) return false;
            ((proto.*kMessage)()->*kSet)(number);
            return true;
          },
          [](Proto& proto, std::string& value) {
            auto* message = (proto.*kMessage)();
            const int32_t number = (message->*kGet)();
            if (!HasName(number, kNames)) return false;
            value = std::string(kNames[static_cast<size_t>(number)]);
            (message->*kSet)(0);
            return true;
          }};
}

template <auto kMutable>
constexpr Codec RaggedList(absl::string_view name) {
  return {name, Opcode::kRaggedDot,
          [](TextLexer& lexer, Proto& proto) {
            return ReadInt64s(
                lexer,
                *(proto.mutable_ragged_dot_dimension_numbers()->*kMutable)());
          },
          [](Proto& proto, std::string& value) {
            auto& list =
                *(proto.mutable_ragged_dot_dimension_numbers()->*kMutable)();
            if (list.empty()) return false;
            value = ListText(list);
            list.Clear();
            return true;
          }};
}

// In the order in which XLA prints them.
constexpr auto kSolve = &Proto::mutable_triangular_solve_options;
using Solve = xla::TriangularSolveOptions;
constexpr Codec kCodecs[] = {
    Number<&Proto::channel_id, &Proto::set_channel_id>("channel_id",
                                                       Opcode::kUnknown),
    {"replica_groups", Opcode::kUnknown, WriteReplicaGroups, TakeReplicaGroups},
    {"source_target_pairs", Opcode::kUnknown, WriteSourceTargetPairs,
     TakeSourceTargetPairs},
    {"operand_layout_constraints", Opcode::kCustomCall, WriteOperandLayouts,
     TakeOperandLayouts},
    Flag<&Proto::constrain_layout, &Proto::set_constrain_layout>(
        "constrain_layout", Opcode::kUnknown),
    Flag<&Proto::use_global_device_ids, &Proto::set_use_global_device_ids>(
        "use_global_device_ids", Opcode::kUnknown),
    Flag<&Proto::is_host_transfer, &Proto::set_is_host_transfer>(
        "is_host_transfer", Opcode::kUnknown),
    Text<&Proto::mutable_infeed_config>("infeed_config", Opcode::kInfeed),
    {"outfeed_shape", Opcode::kOutfeed, WriteOutfeedShape, TakeOutfeedShape},
    Text<&Proto::mutable_outfeed_config>("outfeed_config", Opcode::kOutfeed),
    Enum<&Proto::distribution, &Proto::set_distribution, kDistributions>(
        "distribution", Opcode::kRng),
    {"fft_type", Opcode::kFft,
     Enum<&Proto::fft_type, &Proto::set_fft_type, kFftTypes>("", Opcode::kFft)
         .write,
     TakeFftType},
    FlagIn<&Proto::mutable_cholesky_options, &xla::CholeskyOptions::lower,
           &xla::CholeskyOptions::set_lower>("lower", Opcode::kCholesky),
    FlagIn<kSolve, &Solve::left_side, &Solve::set_left_side>(
        "left_side", Opcode::kTriangularSolve),
    FlagIn<kSolve, &Solve::lower, &Solve::set_lower>("lower",
                                                     Opcode::kTriangularSolve),
    FlagIn<kSolve, &Solve::unit_diagonal, &Solve::set_unit_diagonal>(
        "unit_diagonal", Opcode::kTriangularSolve),
    EnumIn<kSolve, &Solve::transpose_a, &Solve::set_transpose_a, kTransposes>(
        "transpose_a", Opcode::kTriangularSolve),
    {"inferred_dimension", Opcode::kReshape, WriteInferredDimension,
     TakeInferredDimension},
    Number<&Proto::delta, &Proto::set_delta>("delta",
                                             Opcode::kRngGetAndUpdateState),
    Number<&Proto::num_carries, &Proto::set_num_carries>("num_carries",
                                                         Opcode::kScan),
    Flag<&Proto::is_reverse, &Proto::set_is_reverse>("is_reverse",
                                                     Opcode::kScan),
    Flag<&Proto::is_composite, &Proto::set_is_composite>("is_composite",
                                                         Opcode::kCall),
    Text<&Proto::mutable_async_execution_thread>("async_execution_thread",
                                                 Opcode::kUnknown),
    Flag<&Proto::custom_call_has_side_effect,
         &Proto::set_custom_call_has_side_effect>("custom_call_has_side_effect",
                                                  Opcode::kCustomCall),
    {"output_to_operand_aliasing", Opcode::kUnknown, WriteAliasing,
     TakeAliasing},
    Enum<&Proto::padding_type, &Proto::set_padding_type, kPaddings>(
        "padding_type", Opcode::kCustomCall),
    Enum<&Proto::custom_call_schedule, &Proto::set_custom_call_schedule,
         kSchedules>("schedule", Opcode::kCustomCall),
    Enum<&Proto::custom_call_api_version, &Proto::set_custom_call_api_version,
         kApiVersions>("api_version", Opcode::kCustomCall),
    RaggedList<&xla::RaggedDotDimensionNumbers::mutable_lhs_ragged_dimensions>(
        "lhs_ragged_dims"),
    RaggedList<&xla::RaggedDotDimensionNumbers::mutable_rhs_group_dimensions>(
        "rhs_group_dims"),
    EnumIn<&Proto::mutable_precision_config, &xla::PrecisionConfig::algorithm,
           &xla::PrecisionConfig::set_algorithm, kAlgorithms>("algorithm",
                                                              Opcode::kUnknown),
    {"operand_precision", Opcode::kUnknown, WriteOperandPrecision,
     TakeOperandPrecision},
    {"result_accuracy", Opcode::kUnknown, WriteResultAccuracy,
     TakeResultAccuracy},
    {"parameter_replication", Opcode::kParameter, WriteParameterReplication,
     TakeParameterReplication},
    {"sharding", Opcode::kUnknown, WriteShardingAttribute,
     TakeShardingAttribute},
    {"backend_config", Opcode::kUnknown, WriteBackendConfig, TakeBackendConfig},
};

bool Applies(const Codec& codec, Opcode opcode) {
  return codec.opcode == Opcode::kUnknown || codec.opcode == opcode;
}

const Codec* FindCodec(absl::string_view name, Opcode opcode) {
  for (const Codec& codec : kCodecs) {
    if (codec.name == name && Applies(codec, opcode)) return &codec;
  }
  return nullptr;
}

// Removes what XLA writes although text leaves it out, and messages that
// nothing is left of.
void ClearDefaults(Opcode opcode, Proto& proto) {
  if (proto.triangular_solve_options().ByteSizeLong() == 0) {
    proto.clear_triangular_solve_options();
  }
  if (proto.cholesky_options().ByteSizeLong() == 0) {
    proto.clear_cholesky_options();
  }
  if (proto.precision_config().ByteSizeLong() == 0) {
    proto.clear_precision_config();
  }
  if (proto.ragged_dot_dimension_numbers().ByteSizeLong() == 0) {
    proto.clear_ragged_dot_dimension_numbers();
  }
  if (proto.frontend_attributes().ByteSizeLong() == 0) {
    proto.clear_frontend_attributes();
  }
  if (opcode == Opcode::kCustomCall) {
    if (proto.feature_group_count() == 1) proto.clear_feature_group_count();
    if (proto.batch_group_count() == 1) proto.clear_batch_group_count();
    // API_VERSION_ORIGINAL
    if (proto.custom_call_api_version() == 1) {
      proto.clear_custom_call_api_version();
    }
  }
  if (proto.async_execution_thread() == "main") {
    proto.clear_async_execution_thread();
  }
}

// Writes one attribute; false unless the fields give the same text back.
bool WriteField(Opcode opcode, absl::string_view name, absl::string_view text,
                Proto& proto) {
  const Codec* codec = FindCodec(name, opcode);
  if (codec == nullptr) return false;
  Proto fields;
  TextError error;
  TextLexer lexer(text, &error);
  if (!codec->write(lexer, fields) || !lexer.AtEnd()) return false;
  proto.MergeFrom(fields);
  std::string again;
  return codec->take(fields, again) && again == text;
}

}  // namespace

bool ReadFrontendAttributes(absl::string_view text,
                            xla::FrontendAttributes& attributes) {
  TextError error;
  TextLexer lexer(text, &error);
  auto& map = *attributes.mutable_map();
  if (!lexer.Expect('{')) return false;
  if (lexer.Take('}')) return lexer.AtEnd();
  do {
    const std::string key(lexer.Word());
    if (key.empty() || !lexer.Expect('=')) return false;
    std::string& value = map[key];
    if (lexer.Peek() == '{') {
      absl::string_view json;
      if (!lexer.Bracketed(json)) return false;
      value = std::string(json);
    } else if (!lexer.String(value)) {
      return false;
    }
  } while (lexer.Take(','));
  return lexer.Expect('}') && lexer.AtEnd();
}

std::string FrontendAttributesText(const xla::FrontendAttributes& attributes) {
  // Sorted: the proto's map has no order.
  std::map<absl::string_view, std::string> sorted;
  for (const auto& [key, value] : attributes.map()) {
    sorted.emplace(key, IsBracketed(value) ? value : Quoted(value));
  }
  return absl::StrCat("{", absl::StrJoin(sorted, ",", absl::PairFormatter("=")),
                      "}");
}

void TakeTextAttributes(Opcode opcode, xla::HloInstructionProto& proto,
                        TextAttributes& texts) {
  // Most instructions have none of all this.
  if (proto.frontend_attributes().map().empty()) {
    proto.clear_frontend_attributes();
    if (proto.ByteSizeLong() == 0) return;
  }
  for (const Codec& codec : kCodecs) {
    std::string value;
    if (Applies(codec, opcode) && codec.take(proto, value)) {
      texts.emplace_back(codec.name, std::move(value));
    }
  }
  xla::FrontendAttributes frontend;
  frontend.Swap(proto.mutable_frontend_attributes());
  ClearDefaults(opcode, proto);
  TakeHoneAttributes(frontend, texts);
  if (proto.ByteSizeLong() > 0) {
    (*frontend.mutable_map())[std::string(kProtoRestKey)] =
        absl::Base64Escape(proto.SerializeAsString());
  }
  if (!frontend.map().empty()) {
    texts.emplace_back("frontend_attributes", FrontendAttributesText(frontend));
  }
}

void TakeHoneAttributes(xla::FrontendAttributes& frontend,
                        TextAttributes& texts) {
  // Sorted, for a definite order.
  std::map<std::string, std::string> kept;
  for (const auto& [key, value] : frontend.map()) {
    if (absl::StartsWith(key, kTextKeyPrefix)) kept.emplace(key, value);
  }
  for (const auto& [key, value] : kept) {
    const std::string name = key.substr(kTextKeyPrefix.size());
    const auto it =
        std::find_if(texts.begin(), texts.end(),
                     [&name](const auto& text) { return text.first == name; });
    if (it == texts.end()) {
      texts.emplace_back(name, value);
    } else {
      it->second = value;
    }
    frontend.mutable_map()->erase(key);
  }
}

void WriteTextAttributes(Opcode opcode, size_t operand_count,
                         const TextAttributes& texts,
                         xla::HloInstructionProto& proto) {
  // XLA wants a precision per operand of these.
  const bool has_precision =
      opcode == Opcode::kConvolution || opcode == Opcode::kDot ||
      opcode == Opcode::kRaggedDot || opcode == Opcode::kScaledDot;
  if (texts.empty() && !has_precision) return;
  for (const auto& [name, text] : texts) {
    auto& frontend = *proto.mutable_frontend_attributes();
    if (name == "frontend_attributes") {
      xla::FrontendAttributes read;
      if (ReadFrontendAttributes(text, read)) {
        frontend.MergeFrom(read);
        if (FrontendAttributesText(read) == text) continue;
      }
    } else if (WriteField(opcode, name, text, proto)) {
      continue;
    }
    (*frontend.mutable_map())[absl::StrCat(kTextKeyPrefix, name)] = text;
  }
  auto& map = *proto.mutable_frontend_attributes()->mutable_map();
  if (const auto it = map.find(std::string(kProtoRestKey)); it != map.end()) {
    std::string bytes;
    xla::HloInstructionProto rest;
    if (absl::Base64Unescape(it->second, &bytes) &&
        rest.ParseFromString(bytes)) {
      map.erase(std::string(kProtoRestKey));
      proto.MergeFrom(rest);
    }
  }
  auto& precision = *proto.mutable_precision_config();
  if (!has_precision) {
    if (precision.ByteSizeLong() == 0) proto.clear_precision_config();
  } else if (precision.operand_precision().empty()) {
    for (size_t i = 0; i < operand_count; ++i) {
      precision.add_operand_precision(0);
    }
  }
}

}  // namespace hone::hlo
