#include "hlo/proto/codec_values.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/shape.h"
#include "hlo/proto/sharding.h"
#include "hlo/text/shape.h"

namespace hone::hlo {
namespace {

using Proto = xla::HloInstructionProto;

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
constexpr absl::string_view kAccuracyModes[] = {"default", "highest"};

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

}  // namespace

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
  value += '{';
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
  value += '{';
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

bool TakeBackendConfig(Proto& proto, std::string& value) {
  const std::string& config = proto.backend_config();
  if (config.empty()) return false;
  value =
      config[0] == '{' && IsAttributeValue(config) ? config : Quoted(config);
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

std::string Quoted(absl::string_view bytes) {
  return absl::StrCat("\"", absl::CEscape(bytes), "\"");
}

bool IsAttributeValue(absl::string_view text) {
  TextError error;
  TextLexer lexer(text, &error);
  absl::string_view value;
  return lexer.AttributeValue(value) && value.size() == text.size();
}

}  // namespace hone::hlo
