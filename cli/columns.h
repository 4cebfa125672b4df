#ifndef HONE_CLI_COLUMNS_H_
#define HONE_CLI_COLUMNS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

namespace hone::cli {

// Returns `json` as text, with a replacement for what is not UTF-8.
std::string DumpAnyText(const nlohmann::ordered_json& json);

// Writes one JSON object of lists, one value after the other: a list for each
// property of nodes or events is a fraction of the size of an object for each
// of them.
class Columns {
 public:
  // Adds `number_of(i)` for each i below `size`, with the digits that a page
  // can show.
  template <typename NumberOf>
  void Add(absl::string_view name, size_t size, const NumberOf& number_of) {
    Begin(name);
    for (size_t i = 0; i < size; ++i) {
      absl::StrAppendFormat(&text_, i == 0 ? "%.9g" : ",%.9g",
                            static_cast<double>(number_of(i)));
    }
    text_ += ']';
  }
  // The same for texts.
  void AddTexts(absl::string_view name, size_t size,
                const std::function<const std::string&(size_t)>& text_of);
  // Adds texts that repeat: the distinct ones, NAME_texts, and the number of
  // each.
  void AddRepeated(absl::string_view name, size_t size,
                   const std::function<const std::string&(size_t)>& text_of);

  std::string Finish() const { return absl::StrCat("{", text_, "}"); }

 private:
  void Begin(absl::string_view name);

  std::string text_;
};

}  // namespace hone::cli

#endif  // HONE_CLI_COLUMNS_H_
