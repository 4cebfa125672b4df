#include "hlo/proto/module_text.h"

#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/proto/attributes.h"
#include "hlo/proto/codec_values.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/serialize.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {
namespace {

using xla::OpMetadata;

struct StringField {
  absl::string_view name;
  const std::string& (OpMetadata::*get)() const;
  std::string* (OpMetadata::*mutable_value)();
};
struct NumberField {
  absl::string_view name;
  int32_t (OpMetadata::*get)() const;
  void (OpMetadata::*set)(int32_t);
};

constexpr StringField kStrings[] = {
    {"op_type", &OpMetadata::op_type, &OpMetadata::mutable_op_type},
    {"op_name", &OpMetadata::op_name, &OpMetadata::mutable_op_name},
    {"source_file", &OpMetadata::source_file, &OpMetadata::mutable_source_file},
};
constexpr NumberField kNumbers[] = {
    {"source_line", &OpMetadata::source_line, &OpMetadata::set_source_line},
    {"source_end_line", &OpMetadata::source_end_line,
     &OpMetadata::set_source_end_line},
    {"source_column", &OpMetadata::source_column,
     &OpMetadata::set_source_column},
    {"source_end_column", &OpMetadata::source_end_column,
     &OpMetadata::set_source_end_column},
    {"stack_frame_id", &OpMetadata::stack_frame_id,
     &OpMetadata::set_stack_frame_id},
};
constexpr StringField kLastStrings[] = {
    {"deduplicated_name", &OpMetadata::deduplicated_name,
     &OpMetadata::mutable_deduplicated_name},
    {"scheduling_name", &OpMetadata::scheduling_name,
     &OpMetadata::mutable_scheduling_name},
};

bool ReadMetadataField(absl::string_view name, TextLexer& lexer,
                       OpMetadata& proto) {
  for (const auto& fields :
       {absl::MakeConstSpan(kStrings), absl::MakeConstSpan(kLastStrings)}) {
    for (const StringField& field : fields) {
      if (field.name != name) continue;
      return lexer.String(*(proto.*field.mutable_value)());
    }
  }
  for (const NumberField& field : kNumbers) {
    if (field.name != name) continue;
    int64_t value = 0;
    if (!lexer.Integer(value)) return false;
    (proto.*field.set)(static_cast<int32_t>(value));
    return true;
  }
  absl::string_view unknown;
  return lexer.AttributeValue(unknown);
}

// One `name=number` of a table's entry.
struct TableField {
  absl::string_view name;
  int32_t value;
};

void AppendEntry(int index, std::initializer_list<TableField> fields,
                 std::string& out) {
  absl::StrAppend(&out, index, " {",
                  absl::StrJoin(fields, " ",
                                [](std::string* text, const TableField& f) {
                                  absl::StrAppend(text, f.name, "=", f.value);
                                }),
                  "}\n");
}

// The numbers of `{name=1 name=2}` in that order; the names are the caller's.
bool ReadEntry(
    TextLexer& lexer,
    std::initializer_list<std::pair<absl::string_view, int32_t*>> fields) {
  if (!lexer.Expect('{')) return false;
  while (!lexer.Take('}')) {
    const absl::string_view name = lexer.Word();
    int64_t value = 0;
    if (!lexer.Expect('=') || !lexer.Integer(value)) return false;
    for (const auto& [field_name, field] : fields) {
      if (field_name == name) *field = static_cast<int32_t>(value);
    }
  }
  return true;
}

std::string IndexText(const google::protobuf::RepeatedField<int64_t>& index) {
  return absl::StrCat("{", absl::StrJoin(index, ","), "}");
}

// `{ {0}: (1, {}, may-alias), {1}: (2, {}, must-alias) }`
std::string AliasText(const xla::HloInputOutputAliasProto& proto) {
  std::string text = "{";
  for (const auto& entry : proto.entries()) {
    absl::StrAppend(&text, text.size() > 1 ? "," : "", " ",
                    IndexText(entry.output_shape_index()), ": (",
                    entry.parameter_number(), ", ",
                    IndexText(entry.parameter_shape_index()),
                    entry.kind() == 2 ? ", must-alias)" : ", may-alias)");
  }
  text += " }";
  return text;
}

template <typename Field>
bool ReadIndex(TextLexer& lexer, Field& field) {
  DimensionVector values;
  if (!lexer.IntegerList(values)) return false;
  field.Assign(values.begin(), values.end());
  return true;
}

bool ReadAlias(absl::string_view text, xla::HloInputOutputAliasProto& proto) {
  TextError error;
  TextLexer lexer(text, &error);
  if (!lexer.Expect('{')) return false;
  do {
    auto& entry = *proto.add_entries();
    int64_t number = 0;
    if (!ReadIndex(lexer, *entry.mutable_output_shape_index()) ||
        !lexer.Expect(':') || !lexer.Expect('(') || !lexer.Integer(number) ||
        !lexer.Expect(',') ||
        !ReadIndex(lexer, *entry.mutable_parameter_shape_index())) {
      return false;
    }
    entry.set_parameter_number(number);
    entry.set_kind(1);
    if (lexer.Take(',')) {
      const absl::string_view kind = lexer.Word();
      if (kind != "may-alias" && kind != "must-alias") return false;
      entry.set_kind(kind == "may-alias" ? 1 : 2);
    }
    if (!lexer.Expect(')')) return false;
  } while (lexer.Take(','));
  return lexer.Expect('}') && lexer.AtEnd();
}

// `{ (0, {}), (1, {0}) }`
std::string DonorText(const xla::HloBufferDonorProto& proto) {
  std::string text = "{";
  for (const auto& entry : proto.entries()) {
    absl::StrAppend(&text, text.size() > 1 ? "," : "", " (",
                    entry.parameter_number(), ", ",
                    IndexText(entry.parameter_shape_index()), ")");
  }
  text += " }";
  return text;
}

bool ReadDonor(absl::string_view text, xla::HloBufferDonorProto& proto) {
  TextError error;
  TextLexer lexer(text, &error);
  if (!lexer.Expect('{')) return false;
  do {
    auto& entry = *proto.add_entries();
    int64_t number = 0;
    if (!lexer.Expect('(') || !lexer.Integer(number) || !lexer.Expect(',') ||
        !ReadIndex(lexer, *entry.mutable_parameter_shape_index()) ||
        !lexer.Expect(')')) {
      return false;
    }
    entry.set_parameter_number(number);
  } while (lexer.Take(','));
  return lexer.Expect('}') && lexer.AtEnd();
}

// Writes one header attribute; false unless the field gives the same text back.
bool WriteHeaderField(absl::string_view name, absl::string_view text,
                      xla::HloModuleProto& proto) {
  if (name == "input_output_alias") {
    return ReadAlias(text, *proto.mutable_input_output_alias()) &&
           AliasText(proto.input_output_alias()) == text;
  }
  if (name == "buffer_donor") {
    return ReadDonor(text, *proto.mutable_buffer_donor()) &&
           DonorText(proto.buffer_donor()) == text;
  }
  if (name == "frontend_attributes") {
    xla::FrontendAttributes read;
    if (!ReadFrontendAttributes(text, read)) return false;
    proto.mutable_frontend_attributes()->MergeFrom(read);
    return FrontendAttributesText(read) == text;
  }
  return false;
}

}  // namespace

std::string MetadataText(const OpMetadata& proto) {
  std::string text;
  const auto append_strings = [&](absl::Span<const StringField> fields) {
    for (const StringField& field : fields) {
      const std::string& value = (proto.*field.get)();
      if (value.empty()) continue;
      absl::StrAppend(&text, text.empty() ? "" : " ", field.name, "=\"",
                      absl::CEscape(value), "\"");
    }
  };
  append_strings(kStrings);
  for (const NumberField& field : kNumbers) {
    const int32_t value = (proto.*field.get)();
    if (value == 0) continue;
    absl::StrAppend(&text, text.empty() ? "" : " ", field.name, "=", value);
  }
  append_strings(kLastStrings);
  return text;
}

void ReadMetadataText(absl::string_view text, OpMetadata& proto) {
  TextError error;
  TextLexer lexer(text, &error);
  while (!lexer.AtEnd()) {
    const absl::string_view name = lexer.Word();
    if (!lexer.Expect('=') || !ReadMetadataField(name, lexer, proto)) return;
  }
}

std::string StackFrameText(const xla::StackFrameIndexProto& proto) {
  if (proto.ByteSizeLong() == 0) return "";
  std::string out;
  const auto append_names = [&out](absl::string_view title, const auto& names) {
    absl::StrAppend(&out, title, "\n");
    for (int i = 0; i < names.size(); ++i) {
      absl::StrAppend(&out, i + 1, " \"", absl::CEscape(names[i]), "\"\n");
    }
    out += '\n';
  };
  append_names("FileNames", proto.file_names());
  append_names("FunctionNames", proto.function_names());
  out += "FileLocations\n";
  for (int i = 0; i < proto.file_locations_size(); ++i) {
    const auto& l = proto.file_locations(i);
    AppendEntry(i + 1,
                {{"file_name_id", l.file_name_id()},
                 {"function_name_id", l.function_name_id()},
                 {"line", l.line()},
                 {"end_line", l.end_line()},
                 {"column", l.column()},
                 {"end_column", l.end_column()}},
                out);
  }
  out += "\nStackFrames\n";
  for (int i = 0; i < proto.stack_frames_size(); ++i) {
    const auto& f = proto.stack_frames(i);
    // Text counts parents from 1 for "none"; the proto from 0.
    AppendEntry(i + 1,
                {{"file_location_id", f.file_location_id()},
                 {"parent_frame_id", f.parent_frame_id() + 1}},
                out);
  }
  return out;
}

bool ReadStackFrameText(absl::string_view text,
                        xla::StackFrameIndexProto& proto) {
  TextError error;
  TextLexer lexer(text, &error);
  absl::string_view table;
  while (!lexer.AtEnd()) {
    // Entries are numbered from 1 in order, so the numbers say nothing.
    int64_t index = 0;
    if (lexer.Peek() < '0' || lexer.Peek() > '9') {
      table = lexer.Word();
      if (table.empty()) return false;
      continue;
    }
    if (!lexer.Integer(index)) return false;
    if (table == "FileNames" || table == "FunctionNames") {
      std::string& name = table == "FileNames" ? *proto.add_file_names()
                                               : *proto.add_function_names();
      if (!lexer.String(name)) return false;
    } else if (table == "FileLocations") {
      int32_t file = 0, function = 0, line = 0, end_line = 0, column = 0,
              end_column = 0;
      if (!ReadEntry(lexer, {{"file_name_id", &file},
                             {"function_name_id", &function},
                             {"line", &line},
                             {"end_line", &end_line},
                             {"column", &column},
                             {"end_column", &end_column}})) {
        return false;
      }
      auto& location = *proto.add_file_locations();
      location.set_file_name_id(file);
      location.set_function_name_id(function);
      location.set_line(line);
      location.set_end_line(end_line);
      location.set_column(column);
      location.set_end_column(end_column);
    } else if (table == "StackFrames") {
      int32_t location = 0;
      int32_t parent = 1;
      if (!ReadEntry(lexer, {{"file_location_id", &location},
                             {"parent_frame_id", &parent}}) ||
          parent < 1) {
        return false;
      }
      auto& frame = *proto.add_stack_frames();
      frame.set_file_location_id(location);
      frame.set_parent_frame_id(parent - 1);
    } else {
      return false;
    }
  }
  return true;
}

void TakeHeader(xla::HloModuleProto& proto, Module& module) {
  TextAttributes texts;
  if (!proto.input_output_alias().entries().empty()) {
    texts.emplace_back("input_output_alias",
                       AliasText(proto.input_output_alias()));
  }
  if (!proto.buffer_donor().entries().empty()) {
    texts.emplace_back("buffer_donor", DonorText(proto.buffer_donor()));
  }
  proto.clear_input_output_alias();
  proto.clear_buffer_donor();
  module.set_stack_frame_tables(StackFrameText(proto.stack_frame_index()));
  proto.clear_stack_frame_index();
  xla::FrontendAttributes frontend;
  frontend.Swap(proto.mutable_frontend_attributes());
  TakeHoneAttributes(
      frontend,
      [](const std::string& name, const std::string& value) {
        return IsName(name) && name != "is_scheduled" &&
               name != "entry_computation_layout" && IsAttributeValue(value);
      },
      texts);
  TakeUnsayable(frontend, *proto.mutable_frontend_attributes());
  if (proto.frontend_attributes().map().empty()) {
    proto.clear_frontend_attributes();
  }
  if (proto.ByteSizeLong() > 0) {
    (*frontend.mutable_map())[std::string(kProtoRestKey)] =
        absl::Base64Escape(SerializeProto(proto));
  }
  AddFrontendText(frontend, texts);
  for (auto& [name, value] : texts) {
    module.add_header(std::move(name), std::move(value));
  }
}

void WriteHeader(const Module& module, xla::HloModuleProto& proto) {
  for (const auto& [name, text] : module.header()) {
    if (WriteHeaderField(name, text, proto)) continue;
    (*proto.mutable_frontend_attributes()
          ->mutable_map())[absl::StrCat(kTextKeyPrefix, name)] = text;
  }
  xla::HloModuleProto rest;
  rest.ParseFromString(TakeProtoRest(*proto.mutable_frontend_attributes()));
  proto.MergeFrom(rest);
  xla::StackFrameIndexProto frames;
  if (ReadStackFrameText(module.stack_frame_tables(), frames)) {
    *proto.mutable_stack_frame_index() = std::move(frames);
  }
}

}  // namespace hone::hlo
