#include "cli/step_page.h"

#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/check.h"
#include "base/embedded_file.h"

// HONE_STEP_REPORT is the folder step_report/.
// NOLINTBEGIN(readability-identifier-naming): symbols of the object file.
#define HONE_STEP_FILE(symbol, name) \
  HONE_EMBED_FILE(symbol, HONE_STEP_REPORT "/" name)
HONE_STEP_FILE(hone_step_page, "page.html");
HONE_STEP_FILE(hone_step_style, "style.css");
HONE_STEP_FILE(hone_step_data, "data.js");
HONE_STEP_FILE(hone_step_text, "text.js");
HONE_STEP_FILE(hone_step_colors, "colors.js");
HONE_STEP_FILE(hone_step_rows, "rows.js");
HONE_STEP_FILE(hone_step_tables, "tables.js");
HONE_STEP_FILE(hone_step_tooltip, "tooltip.js");
HONE_STEP_FILE(hone_step_charts, "charts.js");
HONE_STEP_FILE(hone_step_graph, "graph.js");
HONE_STEP_FILE(hone_step_timeline, "timeline.js");
HONE_STEP_FILE(hone_step_start, "start.js");
#undef HONE_STEP_FILE
// NOLINTEND(readability-identifier-naming)

namespace hone::cli {

std::string StepPage(absl::string_view data) {
  // One script, whose parts use what stands before them.
  const std::string script = absl::StrJoin(
      std::array{
          HONE_EMBEDDED_FILE(hone_step_data),
          HONE_EMBEDDED_FILE(hone_step_text),
          HONE_EMBEDDED_FILE(hone_step_colors),
          HONE_EMBEDDED_FILE(hone_step_rows),
          HONE_EMBEDDED_FILE(hone_step_tables),
          HONE_EMBEDDED_FILE(hone_step_tooltip),
          HONE_EMBEDDED_FILE(hone_step_charts),
          HONE_EMBEDDED_FILE(hone_step_graph),
          HONE_EMBEDDED_FILE(hone_step_timeline),
          HONE_EMBEDDED_FILE(hone_step_start),
      },
      "");
  // In the order of the page; the data may contain what looks like a mark.
  const std::array<std::pair<absl::string_view, absl::string_view>, 3> parts = {
      {{"@HONE_STEP_STYLE@", HONE_EMBEDDED_FILE(hone_step_style)},
       {"@HONE_STEP_DATA@", data},
       {"@HONE_STEP_SCRIPT@", script}}};
  absl::string_view rest = HONE_EMBEDDED_FILE(hone_step_page);
  std::string page;
  for (const auto& [mark, text] : parts) {
    const size_t at = rest.find(mark);
    HONE_CHECK(at != absl::string_view::npos);
    absl::StrAppend(&page, rest.substr(0, at), text);
    rest.remove_prefix(at + mark.size());
  }
  absl::StrAppend(&page, rest);
  return page;
}

}  // namespace hone::cli
