#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/proto/attributes.h"
#include "hlo/proto/codec_values.h"
#include "hlo/proto/codecs.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/serialize.h"
#include "hlo/text/attributes.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {
namespace {

using Proto = xla::HloInstructionProto;

const Codec* FindCodec(absl::string_view name, Opcode opcode) {
  for (const Codec& codec : AttributeCodecs()) {
    if (codec.name == name && codec.AppliesTo(opcode)) return &codec;
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

// The callees that the value of a role's entry stands for: 1 for `%`, n for
// `{%, %}`; 0 for anything else.
int PlaceholderCount(CallRole role, absl::string_view value) {
  if (value == "%") return 1;
  const bool is_list = role == CallRole::kBranchComputations ||
                       role == CallRole::kCalledComputations ||
                       role == CallRole::kCalls;
  const int count =
      static_cast<int>(std::count(value.begin(), value.end(), '%'));
  std::string expected = "{%";
  for (int i = 1; i < count; ++i) expected += ", %";
  return is_list && value == expected + "}" ? count : 0;
}

// Returns true if the text reader would take `name=value` and keep it as text.
bool IsOther(Opcode opcode, const std::string& name, const std::string& value) {
  if (!IsName(name) || name == "metadata" || name == "control-predecessors" ||
      (name == "index" && opcode == Opcode::kGetTupleElement) ||
      !IsAttributeValue(value)) {
    return false;
  }
  TextError error;
  const auto attributes = ReadAttributes(opcode, {{name, value}}, &error);
  return attributes != nullptr && attributes->others.size() == 1;
}

// Gives back the texts that WriteTextAttributes put into the map, as far as
// they are such texts; a map from elsewhere may hold anything.
void TakeKeptTexts(Opcode opcode, int callees,
                   xla::FrontendAttributes& frontend, TextAttributes& texts) {
  TextAttributes roles;
  int placeholders = 0;
  const auto accept = [&](const std::string& name, const std::string& value) {
    const CallRole role = CallRoleOf(name);
    if (role == CallRole::kNone) return IsOther(opcode, name, value);
    const int count = PlaceholderCount(role, value);
    if (IsUsualRole(opcode, role) || count == 0) return false;
    placeholders += count;
    roles.emplace_back(name, value);
    return false;  // taken below if all of them are
  };
  TakeHoneAttributes(frontend, accept, texts);
  if (callees == 0 || placeholders != callees) return;
  std::sort(roles.begin(), roles.end(), [](const auto& a, const auto& b) {
    return CallRoleOf(a.first) < CallRoleOf(b.first);
  });
  for (auto& [name, value] : roles) {
    frontend.mutable_map()->erase(absl::StrCat(kTextKeyPrefix, name));
    texts.emplace_back(name, std::move(value));
  }
}

}  // namespace

bool IsName(absl::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

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
    const bool is_json =
        !value.empty() && value[0] == '{' && IsAttributeValue(value);
    sorted.emplace(key, is_json ? value : Quoted(value));
  }
  return absl::StrCat("{", absl::StrJoin(sorted, ",", absl::PairFormatter("=")),
                      "}");
}

void TakeHoneAttributes(
    xla::FrontendAttributes& frontend,
    absl::FunctionRef<bool(const std::string&, const std::string&)> accept,
    TextAttributes& texts) {
  // Sorted, for a definite order.
  std::map<std::string, std::string> kept;
  for (const auto& [key, value] : frontend.map()) {
    if (absl::StartsWith(key, kTextKeyPrefix)) kept.emplace(key, value);
  }
  for (const auto& [key, value] : kept) {
    const std::string name = key.substr(kTextKeyPrefix.size());
    if (!accept(name, value)) continue;
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

void AddFrontendText(const xla::FrontendAttributes& frontend,
                     TextAttributes& texts) {
  const std::string text = FrontendAttributesText(frontend);
  const auto kept = std::find_if(
      texts.begin(), texts.end(),
      [](const auto& one) { return one.first == "frontend_attributes"; });
  if (kept != texts.end()) {
    xla::FrontendAttributes read;
    if (ReadFrontendAttributes(kept->second, read) &&
        FrontendAttributesText(read) == text) {
      return;
    }
    texts.erase(kept);
  }
  if (!frontend.map().empty()) texts.emplace_back("frontend_attributes", text);
}

void TakeUnsayable(xla::FrontendAttributes& frontend,
                   xla::FrontendAttributes& unsayable) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : frontend.map()) {
    if (!IsName(key)) keys.push_back(key);
  }
  for (const std::string& key : keys) {
    auto& map = *frontend.mutable_map();
    (*unsayable.mutable_map())[key] = std::move(map[key]);
    map.erase(key);
  }
}

void TakeTextAttributes(Opcode opcode, int callees,
                        xla::HloInstructionProto& proto,
                        TextAttributes& texts) {
  // Most instructions have none of all this.
  if (proto.frontend_attributes().map().empty()) {
    proto.clear_frontend_attributes();
    if (proto.ByteSizeLong() == 0) return;
  }
  for (const Codec& codec : AttributeCodecs()) {
    std::string value;
    if (codec.AppliesTo(opcode) && codec.take(proto, value)) {
      texts.emplace_back(codec.name, std::move(value));
    }
  }
  ClearDefaults(opcode, proto);
  xla::FrontendAttributes frontend;
  frontend.Swap(proto.mutable_frontend_attributes());
  TakeKeptTexts(opcode, callees, frontend, texts);
  TakeUnsayable(frontend, *proto.mutable_frontend_attributes());
  if (proto.frontend_attributes().map().empty()) {
    proto.clear_frontend_attributes();
  }
  if (proto.ByteSizeLong() > 0) {
    (*frontend.mutable_map())[std::string(kProtoRestKey)] =
        absl::Base64Escape(SerializeProto(proto));
  }
  AddFrontendText(frontend, texts);
}

absl::Status CheckFrontendNames(const TextAttributes& texts) {
  for (const auto& [name, text] : texts) {
    xla::FrontendAttributes read;
    if (name != "frontend_attributes" ||
        !absl::StrContains(text, kTextKeyPrefix) ||
        !ReadFrontendAttributes(text, read)) {
      continue;
    }
    for (const auto& [key, value] : read.map()) {
      if (absl::StartsWith(key, kTextKeyPrefix)) {
        return absl::FailedPreconditionError(
            absl::StrCat("frontend attribute ", key,
                         ": the name is reserved, expected another one"));
      }
    }
  }
  return absl::OkStatus();
}

std::string TakeProtoRest(xla::FrontendAttributes& frontend) {
  auto& map = *frontend.mutable_map();
  const auto it = map.find(std::string(kProtoRestKey));
  std::string bytes;
  if (it == map.end() || !absl::Base64Unescape(it->second, &bytes)) return "";
  map.erase(std::string(kProtoRestKey));
  return bytes;
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
  if (proto.has_frontend_attributes()) {
    xla::HloInstructionProto rest;
    rest.ParseFromString(TakeProtoRest(*proto.mutable_frontend_attributes()));
    proto.MergeFrom(rest);
  }
  if (has_precision && proto.precision_config().operand_precision().empty()) {
    for (size_t i = 0; i < operand_count; ++i) {
      proto.mutable_precision_config()->add_operand_precision(0);
    }
  }
}

}  // namespace hone::hlo
