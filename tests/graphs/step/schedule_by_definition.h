#ifndef HONE_TESTS_GRAPHS_STEP_SCHEDULE_BY_DEFINITION_H_
#define HONE_TESTS_GRAPHS_STEP_SCHEDULE_BY_DEFINITION_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graphs/step/device_times.h"
#include "graphs/step/kernel_graph.h"
#include "graphs/step/step_schedule.h"

namespace hone::testing {

// Tasks to be scheduled: the kernels of a step, or an example of a paper.
struct ScheduleProblem {
  struct Input {
    size_t task;
    double bytes;
  };
  struct Weights {
    double bytes;
    std::vector<size_t> tasks;  // that hold them
  };

  size_t tasks() const { return seconds.size(); }
  size_t devices() const { return seconds[0].size(); }
  std::vector<size_t> ReadersOf(size_t task) const;

  std::vector<std::vector<double>> seconds;  // [tasks][devices]
  std::vector<std::vector<Input>> inputs;    // [tasks]
  std::vector<size_t> topological_order;
  // Seconds of a transfer between two different devices, by from, to and bytes;
  // and the mean of all pairs of devices.
  std::function<double(size_t, size_t, double)> transfer;
  std::function<double(double)> mean_transfer;
  // A result is sent once to each device, and transfers between two devices
  // follow each other. False: each reader has a transfer of its own, which
  // begins when the result is there, as in the papers.
  bool has_channels = true;

  std::vector<double> memory;        // [devices]
  std::vector<double> output_bytes;  // [tasks]
  std::vector<bool> is_output;       // [tasks]
  std::vector<Weights> weights;
};

// `kernels` and `times` outlive the problem.
ScheduleProblem ProblemOf(const graphs::KernelGraph& kernels,
                          const graphs::DeviceTimes& times);

struct ScheduledTask {
  size_t device = 0;
  double start = 0;
  double finish = 0;
};

struct Transfer {
  size_t task = 0;
  size_t from = 0;
  size_t to = 0;
  double bytes = 0;
  double begin = 0;
  double end = 0;
};

// A schedule as a record of what was added to it, from which all else is
// computed anew for each question: slow, and without the code of
// PartialSchedule, whose comments it goes by.
class ScheduleByDefinition {
 public:
  // Outlives this.
  explicit ScheduleByDefinition(const ScheduleProblem& problem);

  // True for tasks that go where their first reader goes.
  bool follows(size_t task) const { return follows_[task]; }
  // Tasks that do not follow, whose inputs have all been added but for those
  // that follow.
  std::vector<size_t> Ready() const;
  double EarliestStart(size_t task, size_t device, bool inserts) const;
  double StartAfter(size_t task, size_t device, size_t input,
                    size_t input_device, double finish) const;
  bool Fits(size_t task, size_t device) const;
  double FreeBytes(size_t device) const;
  // The task of some length that was last added to a device.
  std::optional<size_t> Last(size_t device) const;
  void Add(size_t task, size_t device, double start);

  const std::optional<ScheduledTask>& scheduled(size_t task) const {
    return tasks_[task];
  }
  const std::vector<Transfer>& transfers() const { return transfers_; }
  // Returns the schedule of all tasks in the form that the methods return.
  graphs::StepSchedule Schedule() const;

 private:
  bool HasReadersLeft(size_t task) const;
  // When a result would be on a device, after the transfers of `sent`, to which
  // that of the result is added if there has to be one.
  double Arrival(const ScheduleProblem::Input& input, size_t device,
                 std::vector<Transfer>& sent) const;
  // The tasks that would be added with `task`: those that follow it, each after
  // its inputs, and itself.
  void Collect(size_t task, std::vector<size_t>& added) const;
  double UsedBytes(size_t device, const std::set<size_t>& also) const;

  const ScheduleProblem& problem_;
  std::vector<bool> follows_;
  std::vector<std::optional<ScheduledTask>> tasks_;
  std::vector<size_t> added_;
  std::vector<Transfer> transfers_;
};

// The longest paths to the end, straight from their recursion.
std::vector<double> UpwardRanksByDefinition(const ScheduleProblem& problem,
                                            bool transfers);

// HEFT as its authors describe it, with the variants of ListScheduleOptions.
ScheduleByDefinition HeftByDefinition(
    const ScheduleProblem& problem, const graphs::ListScheduleOptions& options);

// Tries all pairs of a ready task and a device for the one that starts first.
ScheduleByDefinition EarliestFirstByDefinition(const ScheduleProblem& problem,
                                               bool favorites);

}  // namespace hone::testing

#endif  // HONE_TESTS_GRAPHS_STEP_SCHEDULE_BY_DEFINITION_H_
