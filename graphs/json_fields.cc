#include "graphs/json_fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

#include "base/excerpt.h"
#include "base/status_macros.h"

namespace hone::graphs {
namespace {

using Json = nlohmann::json;

// Finds the place of the first error in a text, keeping nothing else.
class ErrorFinder final : public nlohmann::json_sax<Json> {
 public:
  size_t position() const { return position_; }
  const std::string& message() const { return message_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    absl::string_view text = error.what();
    if (const size_t end = text.find("] "); end != text.npos) {
      text.remove_prefix(end + 2);
    }
    if (absl::ConsumePrefix(&text, "parse error at line ")) {
      if (const size_t end = text.find(": "); end != text.npos) {
        text.remove_prefix(end + 2);
      }
    }
    message_ = std::string(text);
    return false;
  }

 private:
  size_t position_ = 0;
  std::string message_;
};

// "3:14" for the byte before `position`, both from 1.
std::string LineAndColumn(absl::string_view text, size_t position) {
  const absl::string_view before =
      text.substr(0, position > 0 ? position - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t column =
      before.size() - (newline == before.npos ? 0 : newline + 1) + 1;
  return absl::StrCat(line, ":", column);
}

// What is read may be no UTF-8.
std::string InAscii(absl::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      shown += c;
    } else {
      absl::StrAppendFormat(&shown, "\\x%02x", byte);
    }
  }
  return shown;
}

// "-1", "\"abc\"", "an array": a value as messages show it.
std::string ValueText(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  if (value.is_string()) {
    return absl::StrCat("\"", Excerpt(value.get_ref<const std::string&>()),
                        "\"");
  }
  return value.dump();
}

}  // namespace

absl::StatusOr<Json> ParseJsonObject(absl::string_view text) {
  Json document = Json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  if (document.is_discarded()) {
    ErrorFinder finder;
    Json::sax_parse(text.begin(), text.end(), &finder);
    return absl::InvalidArgumentError(BoundedMessage(
        absl::StrCat(LineAndColumn(text, finder.position()),
                     ": not valid JSON: ", InAscii(finder.message()))));
  }
  if (!document.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the document is ", ValueText(document), ", expected an object"));
  }
  return document;
}

absl::Status InFile(absl::string_view file, const absl::Status& status) {
  if (status.ok()) return status;
  // "FILE:LINE:COLUMN: …" for a message that begins with a place in the text.
  const absl::string_view message = status.message();
  const bool has_line =
      !message.empty() && message[0] >= '0' && message[0] <= '9';
  return absl::Status(status.code(),
                      absl::StrCat(file, has_line ? ":" : ": ", message));
}

absl::StatusOr<JsonObject> JsonObject::Element(const Json& elements,
                                               absl::string_view list,
                                               size_t index) {
  const Json& element = elements[index];
  if (!element.is_object()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s[%d] is %s, expected an object", list, index, ValueText(element)));
  }
  return JsonObject(element, list, index);
}

std::string JsonObject::Place(const char* field) const {
  return list_.empty() ? std::string(field)
                       : absl::StrFormat("%s[%d].%s", list_, index_, field);
}

absl::StatusOr<const Json*> JsonObject::Find(const char* field,
                                             absl::string_view expected) const {
  const auto place = object_->find(field);
  if (place != object_->end()) return &*place;
  return absl::InvalidArgumentError(
      absl::StrCat(Place(field), " is missing, expected ", expected));
}

absl::Status JsonObject::Unexpected(const char* field, const Json& value,
                                    absl::string_view expected) const {
  return absl::InvalidArgumentError(absl::StrCat(
      Place(field), " is ", ValueText(value), ", expected ", expected));
}

absl::StatusOr<double> JsonObject::Number(const char* field) const {
  constexpr absl::string_view kExpected = "a number";
  HONE_ASSIGN_OR_RETURN(const Json* value, Find(field, kExpected));
  if (!value->is_number()) return Unexpected(field, *value, kExpected);
  return value->get<double>();
}

absl::StatusOr<int64_t> JsonObject::Integer(const char* field) const {
  constexpr absl::string_view kExpected = "an integer of 64 bits";
  HONE_ASSIGN_OR_RETURN(const Json* value, Find(field, kExpected));
  const bool fits =
      value->is_number_integer() &&
      (!value->is_number_unsigned() ||
       value->get<uint64_t>() <=
           static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!fits) return Unexpected(field, *value, kExpected);
  return value->get<int64_t>();
}

absl::StatusOr<int32_t> JsonObject::SmallInteger(const char* field) const {
  HONE_ASSIGN_OR_RETURN(const int64_t value, Integer(field));
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    return Unexpected(field, Json(value), "an integer of 32 bits");
  }
  return static_cast<int32_t>(value);
}

absl::StatusOr<bool> JsonObject::Flag(const char* field) const {
  constexpr absl::string_view kExpected = "true, false, 1 or 0";
  HONE_ASSIGN_OR_RETURN(const Json* value, Find(field, kExpected));
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number_integer()) {
    if (*value == 0) return false;
    if (*value == 1) return true;
  }
  return Unexpected(field, *value, kExpected);
}

absl::StatusOr<bool> JsonObject::OptionalFlag(const char* field) const {
  return object_->contains(field) ? Flag(field) : false;
}

absl::StatusOr<std::optional<int64_t>> JsonObject::OptionalInteger(
    const char* field) const {
  if (!object_->contains(field)) return std::nullopt;
  HONE_ASSIGN_OR_RETURN(const int64_t value, Integer(field));
  return value;
}

absl::StatusOr<std::string> JsonObject::String(const char* field) const {
  constexpr absl::string_view kExpected = "a string";
  HONE_ASSIGN_OR_RETURN(const Json* value, Find(field, kExpected));
  if (!value->is_string()) return Unexpected(field, *value, kExpected);
  return value->get<std::string>();
}

absl::StatusOr<std::string> JsonObject::OptionalString(
    const char* field) const {
  if (!object_->contains(field)) return "";
  return String(field);
}

absl::StatusOr<const Json*> JsonObject::Array(const char* field) const {
  constexpr absl::string_view kExpected = "an array";
  HONE_ASSIGN_OR_RETURN(const Json* value, Find(field, kExpected));
  if (!value->is_array()) return Unexpected(field, *value, kExpected);
  return value;
}

}  // namespace hone::graphs
