#ifndef HONE_GRAPHS_JSON_LINES_H_
#define HONE_GRAPHS_JSON_LINES_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace hone::graphs {

// A JSON array that is printed with one element a line, so that large graphs
// can be compared line by line.
class JsonLines {
 public:
  void Append(const nlohmann::ordered_json& element) {
    absl::StrAppend(
        &lines_, lines_.empty() ? "\n" : ",\n",
        element.dump(-1, ' ', /*ensure_ascii=*/false,
                     nlohmann::ordered_json::error_handler_t::replace));
  }
  std::string Array() const { return absl::StrCat("[", lines_, "\n]"); }

 private:
  std::string lines_;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_JSON_LINES_H_
