#include "cli/report_page.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include "base/check.h"
#include "base/embedded_file.h"

// HONE_REPORTS is the folder of the folders with the files.
// NOLINTBEGIN(readability-identifier-naming): symbols of the object file.
#define HONE_REPORT_FILE(symbol, name) \
  HONE_EMBED_FILE(symbol, HONE_REPORTS "/" name)
HONE_REPORT_FILE(hone_report_page, "report/page.html");
HONE_REPORT_FILE(hone_report_style, "report/style.css");
HONE_REPORT_FILE(hone_report_text, "report/text.js");
HONE_REPORT_FILE(hone_report_colors, "report/colors.js");
HONE_REPORT_FILE(hone_report_table, "report/table.js");
HONE_REPORT_FILE(hone_report_tooltip, "report/tooltip.js");
HONE_REPORT_FILE(hone_report_charts, "report/charts.js");
HONE_REPORT_FILE(hone_report_gantt, "report/gantt.js");

HONE_REPORT_FILE(hone_step_body, "step_report/body.html");
HONE_REPORT_FILE(hone_step_style, "step_report/style.css");
HONE_REPORT_FILE(hone_step_data, "step_report/data.js");
HONE_REPORT_FILE(hone_step_rows, "step_report/rows.js");
HONE_REPORT_FILE(hone_step_tables, "step_report/tables.js");
HONE_REPORT_FILE(hone_step_graph, "step_report/graph.js");
HONE_REPORT_FILE(hone_step_memory, "step_report/memory.js");
HONE_REPORT_FILE(hone_step_start, "step_report/start.js");

HONE_REPORT_FILE(hone_partition_body, "partition_report/body.html");
HONE_REPORT_FILE(hone_partition_style, "partition_report/style.css");
HONE_REPORT_FILE(hone_partition_data, "partition_report/data.js");
HONE_REPORT_FILE(hone_partition_header, "partition_report/header.js");
HONE_REPORT_FILE(hone_partition_bars, "partition_report/bars.js");
HONE_REPORT_FILE(hone_partition_loads, "partition_report/loads.js");
HONE_REPORT_FILE(hone_partition_traffic, "partition_report/traffic.js");
HONE_REPORT_FILE(hone_partition_pipeline, "partition_report/pipeline.js");
HONE_REPORT_FILE(hone_partition_start, "partition_report/start.js");
#undef HONE_REPORT_FILE
// NOLINTEND(readability-identifier-naming)

namespace hone::cli {
namespace {

// The parts of a page that are its own.
struct PageParts {
  absl::string_view title;
  absl::string_view style;
  absl::string_view body;
  absl::string_view data;                  // a script, as the others
  std::vector<absl::string_view> scripts;  // use what stands before them
};

PageParts PartsOf(ReportPage page) {
  if (page == ReportPage::kStep) {
    return {.title = "Step report",
            .style = HONE_EMBEDDED_FILE(hone_step_style),
            .body = HONE_EMBEDDED_FILE(hone_step_body),
            .data = HONE_EMBEDDED_FILE(hone_step_data),
            .scripts = {HONE_EMBEDDED_FILE(hone_step_rows),
                        HONE_EMBEDDED_FILE(hone_step_tables),
                        HONE_EMBEDDED_FILE(hone_step_graph),
                        HONE_EMBEDDED_FILE(hone_step_memory),
                        HONE_EMBEDDED_FILE(hone_step_start)}};
  }
  return {.title = "Partition report",
          .style = HONE_EMBEDDED_FILE(hone_partition_style),
          .body = HONE_EMBEDDED_FILE(hone_partition_body),
          .data = HONE_EMBEDDED_FILE(hone_partition_data),
          .scripts = {HONE_EMBEDDED_FILE(hone_partition_header),
                      HONE_EMBEDDED_FILE(hone_partition_bars),
                      HONE_EMBEDDED_FILE(hone_partition_loads),
                      HONE_EMBEDDED_FILE(hone_partition_traffic),
                      HONE_EMBEDDED_FILE(hone_partition_pipeline),
                      HONE_EMBEDDED_FILE(hone_partition_start)}};
}

}  // namespace

std::string PrintReportPage(ReportPage page, absl::string_view data) {
  const PageParts parts = PartsOf(page);
  // One script: text.js has what the page's data.js uses, which has what the
  // rest uses.
  std::vector<absl::string_view> scripts = {
      HONE_EMBEDDED_FILE(hone_report_text),
      parts.data,
      HONE_EMBEDDED_FILE(hone_report_colors),
      HONE_EMBEDDED_FILE(hone_report_table),
      HONE_EMBEDDED_FILE(hone_report_tooltip),
      HONE_EMBEDDED_FILE(hone_report_charts),
      HONE_EMBEDDED_FILE(hone_report_gantt),
  };
  scripts.insert(scripts.end(), parts.scripts.begin(), parts.scripts.end());
  const std::string style =
      absl::StrCat(HONE_EMBEDDED_FILE(hone_report_style), parts.style);
  // A < is within a string, where it must not begin a tag or a comment.
  const std::string escaped = absl::StrReplaceAll(data, {{"<", "\\u003c"}});
  const std::string script = absl::StrJoin(scripts, "");
  // In the order of the page; the data may contain what looks like a mark.
  const std::array<std::pair<absl::string_view, absl::string_view>, 5> marks = {
      {{"@HONE_PAGE_TITLE@", parts.title},
       {"@HONE_PAGE_STYLE@", style},
       {"@HONE_PAGE_BODY@", parts.body},
       {"@HONE_PAGE_DATA@", escaped},
       {"@HONE_PAGE_SCRIPT@", script}}};
  absl::string_view rest = HONE_EMBEDDED_FILE(hone_report_page);
  std::string result;
  for (const auto& [mark, text] : marks) {
    const size_t at = rest.find(mark);
    HONE_CHECK(at != absl::string_view::npos);
    absl::StrAppend(&result, rest.substr(0, at), text);
    rest.remove_prefix(at + mark.size());
  }
  absl::StrAppend(&result, rest);
  return result;
}

}  // namespace hone::cli
