#include "cli/progress_line.h"

#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <unistd.h>

namespace hone::cli {

ProgressLine::ProgressLine(std::string task)
    : task_(std::move(task)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && shown_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressLine::Show(const State& state) {
  std::string line = absl::StrCat(task_, ": ");
  if (!state.waiting_for.empty()) {
    absl::StrAppend(&line, "waiting: ", state.waiting_for);
  } else if (state.verifying) {
    line += "verifying the winner";
  } else {
    absl::StrAppend(&line, "trial ", state.trials);
    if (state.budget_trials > 0)
      absl::StrAppend(&line, "/", state.budget_trials);
  }
  if (state.best_cost.has_value() && state.default_cost.has_value()) {
    absl::StrAppendFormat(&line, ", default %.10g, best %.10g %s",
                          *state.default_cost, *state.best_cost, state.unit);
  }
  if (terminal_) {
    std::cerr << "\r\033[K" << line << std::flush;
    shown_ = true;
    return;
  }
  if (!state.waiting_for.empty()) {
    if (std::exchange(said_waiting_, state.waiting_for) != state.waiting_for) {
      std::cerr << line << "\n";
    }
    return;
  }
  const int64_t tenth =
      state.budget_trials > 0 ? 10 * state.trials / state.budget_trials : 0;
  const bool news = state.verifying ? !std::exchange(said_verifying_, true)
                                    : tenth > last_tenth_;
  if (!news) return;
  last_tenth_ = tenth;
  std::cerr << line << "\n";
}

}  // namespace hone::cli
