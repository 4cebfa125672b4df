#ifndef HONE_CLI_REPORT_PAGE_H_
#define HONE_CLI_REPORT_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::cli {

enum class ReportPage { kStep, kPartition };

// Returns a page that shows `data`: JSON in the form that data.js of the page
// reads, with `<` in strings only. The page is made of the files in report/ and
// in step_report/ or partition_report/, which are part of the binary.
std::string PrintReportPage(ReportPage page, absl::string_view data);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_PAGE_H_
