#include "cli/columns.h"

#include <map>
#include <vector>

namespace hone::cli {

std::string DumpAnyText(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void Columns::AddTexts(
    absl::string_view name, size_t size,
    const std::function<const std::string&(size_t)>& text_of) {
  Begin(name);
  for (size_t i = 0; i < size; ++i) {
    absl::StrAppend(&text_, i == 0 ? "" : ",", DumpAnyText(text_of(i)));
  }
  text_ += ']';
}

void Columns::AddRepeated(
    absl::string_view name, size_t size,
    const std::function<const std::string&(size_t)>& text_of) {
  std::map<std::string, size_t> number_of;
  for (size_t i = 0; i < size; ++i) number_of.try_emplace(text_of(i), 0);
  std::vector<std::string> texts;
  for (auto& [text, number] : number_of) {
    number = texts.size();
    texts.push_back(text);
  }
  AddTexts(absl::StrCat(name, "_texts"), texts.size(),
           [&](size_t i) -> const std::string& { return texts[i]; });
  Add(name, size, [&](size_t i) { return number_of[text_of(i)]; });
}

void Columns::Begin(absl::string_view name) {
  absl::StrAppend(&text_, text_.empty() ? "\"" : ",\"", name, "\":[");
}

}  // namespace hone::cli
