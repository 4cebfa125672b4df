#ifndef HONE_GRAPHS_JSON_FIELDS_H_
#define HONE_GRAPHS_JSON_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

#include "base/status_macros.h"

namespace hone::graphs {

// Parses a JSON document whose root is an object.
// Errors: InvalidArgument, "LINE:COLUMN: …" for text that is not JSON.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view text);

// Returns `status` with "FILE: " before its message.
absl::Status InFile(absl::string_view file, const absl::Status& status);

// An object of a document, whose fields are read with their types checked.
// Fields that nobody reads are ignored.
// Errors: InvalidArgument, with a message that names the place
// ("nodes[3].size is missing, expected a number").
class JsonObject {
 public:
  // The root of a document, which must be an object and outlive this.
  explicit JsonObject(const nlohmann::json& root) : object_(&root) {}
  absl::StatusOr<double> Number(const char* field) const;
  absl::StatusOr<int64_t> Integer(const char* field) const;
  absl::StatusOr<int32_t> SmallInteger(const char* field) const;
  // true, false, 1 or 0.
  absl::StatusOr<bool> Flag(const char* field) const;
  // False if the field is missing.
  absl::StatusOr<bool> OptionalFlag(const char* field) const;
  absl::StatusOr<std::optional<int64_t>> OptionalInteger(
      const char* field) const;
  // Empty if the field is missing.
  absl::StatusOr<std::string> OptionalString(const char* field) const;
  absl::StatusOr<std::string> String(const char* field) const;

  // Reads the array `list` of the root, each element of which is an object,
  // with `read`: JsonObject -> StatusOr<T>.
  template <typename T>
  absl::StatusOr<std::vector<T>> Elements(
      const char* list, absl::StatusOr<T> (*read)(const JsonObject&)) const {
    HONE_ASSIGN_OR_RETURN(const nlohmann::json* elements, Array(list));
    std::vector<T> values;
    values.reserve(elements->size());
    for (size_t i = 0; i < elements->size(); ++i) {
      HONE_ASSIGN_OR_RETURN(const JsonObject object,
                            Element(*elements, list, i));
      HONE_ASSIGN_OR_RETURN(T value, read(object));
      values.push_back(std::move(value));
    }
    return values;
  }

 private:
  JsonObject(const nlohmann::json& object, absl::string_view list, size_t index)
      : object_(&object), list_(list), index_(index) {}

  static absl::StatusOr<JsonObject> Element(const nlohmann::json& elements,
                                            absl::string_view list,
                                            size_t index);
  absl::StatusOr<const nlohmann::json*> Array(const char* field) const;
  absl::StatusOr<const nlohmann::json*> Find(const char* field,
                                             absl::string_view expected) const;
  absl::Status Unexpected(const char* field, const nlohmann::json& value,
                          absl::string_view expected) const;
  std::string Place(const char* field) const;

  const nlohmann::json* object_;
  absl::string_view list_;  // empty for the root
  size_t index_ = 0;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_JSON_FIELDS_H_
