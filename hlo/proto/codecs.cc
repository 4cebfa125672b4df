#include "hlo/proto/codecs.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/proto/codec_values.h"
#include "hlo/proto/hlo.pb.h"

namespace hone::hlo {
namespace {

using Proto = xla::HloInstructionProto;

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
            DimensionVector values;
            if (!lexer.IntegerList(values)) return false;
            (proto.mutable_ragged_dot_dimension_numbers()->*kMutable)()->Assign(
                values.begin(), values.end());
            return true;
          },
          [](Proto& proto, std::string& value) {
            auto& list =
                *(proto.mutable_ragged_dot_dimension_numbers()->*kMutable)();
            if (list.empty()) return false;
            value = absl::StrCat("{", absl::StrJoin(list, ","), "}");
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

}  // namespace

absl::Span<const Codec> AttributeCodecs() { return kCodecs; }

}  // namespace hone::hlo
