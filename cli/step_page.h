#ifndef HONE_CLI_STEP_PAGE_H_
#define HONE_CLI_STEP_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone::cli {

// Returns the page of the files in step_report/, which are part of the binary,
// that shows `data`: JSON without `<`, in the form that step_report/data.js
// reads.
std::string StepPage(absl::string_view data);

}  // namespace hone::cli

#endif  // HONE_CLI_STEP_PAGE_H_
