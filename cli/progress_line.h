#ifndef HONE_CLI_PROGRESS_LINE_H_
#define HONE_CLI_PROGRESS_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace hone::cli {

// Shows the progress of one task on stderr: on a terminal one line that is
// overwritten, else a line for each tenth of the budget.
class ProgressLine {
 public:
  struct State {
    // The thing that the tuning lacks; empty if it does not wait.
    std::string waiting_for = "";
    bool verifying = false;
    int64_t trials = 0;
    int64_t budget_trials = 0;
    std::optional<double> default_cost;
    std::optional<double> best_cost;
    std::string unit;
  };

  explicit ProgressLine(std::string task);
  // Clears the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const State& state);

 private:
  const std::string task_;
  const bool terminal_;
  int64_t last_tenth_ = -1;
  std::string said_waiting_;
  bool said_verifying_ = false;
  bool shown_ = false;
};

}  // namespace hone::cli

#endif  // HONE_CLI_PROGRESS_LINE_H_
