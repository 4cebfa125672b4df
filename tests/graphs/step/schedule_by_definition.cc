#include "tests/graphs/step/schedule_by_definition.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>

namespace hone::testing {

using graphs::DeviceTimes;
using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::ListRank;
using graphs::ListScheduleOptions;
using graphs::StepSchedule;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double MeanSeconds(const ScheduleProblem& problem, size_t task) {
  const std::vector<double>& of = problem.seconds[task];
  return std::accumulate(of.begin(), of.end(), 0.0) /
         static_cast<double>(of.size());
}

double BytesBetween(const ScheduleProblem& problem, size_t task,
                    size_t reader) {
  for (const ScheduleProblem::Input& input : problem.inputs[reader]) {
    if (input.task == task) return input.bytes;
  }
  return 0;
}

// The device with the most memory left, if a task fits on none.
size_t Roomiest(const ScheduleProblem& problem,
                const ScheduleByDefinition& schedule) {
  size_t best = 0;
  for (size_t d = 1; d < problem.devices(); ++d) {
    if (schedule.FreeBytes(d) > schedule.FreeBytes(best)) best = d;
  }
  return best;
}

}  // namespace

std::vector<size_t> ScheduleProblem::ReadersOf(size_t task) const {
  std::vector<size_t> readers;
  for (size_t reader = 0; reader < tasks(); ++reader) {
    for (const Input& input : inputs[reader]) {
      if (input.task == task) readers.push_back(reader);
    }
  }
  return readers;
}

ScheduleProblem ProblemOf(const KernelGraph& kernels,
                          const DeviceTimes& times) {
  ScheduleProblem problem;
  const auto devices = static_cast<size_t>(times.device_count());
  for (KernelIndex k = 0; k < kernels.size(); ++k) {
    std::vector<double>& seconds = problem.seconds.emplace_back();
    for (size_t d = 0; d < devices; ++d) {
      seconds.push_back(
          times.KernelSeconds(times.kind_of(static_cast<int32_t>(d)),
                              kernels.flops(k), kernels.bytes(k)));
    }
    std::vector<ScheduleProblem::Input>& inputs = problem.inputs.emplace_back();
    uint32_t number = kernels.first_input(k);
    for (const KernelIndex input : kernels.inputs(k)) {
      inputs.push_back({input, kernels.input_bytes(number++)});
    }
    problem.output_bytes.push_back(kernels.output_bytes(k));
    problem.is_output.push_back(kernels.is_output(k));
  }
  problem.topological_order.assign(kernels.topological_order().begin(),
                                   kernels.topological_order().end());
  problem.transfer = [&times](size_t from, size_t to, double bytes) {
    return times.TransferSeconds(static_cast<int32_t>(from),
                                 static_cast<int32_t>(to), bytes);
  };
  problem.mean_transfer = [&times](double bytes) {
    return times.MeanTransferSeconds(bytes);
  };
  for (size_t d = 0; d < devices; ++d) {
    problem.memory.push_back(times.memory_bytes(static_cast<int32_t>(d)));
  }
  for (const KernelGraph::Weights& weights : kernels.weights()) {
    problem.weights.push_back(
        {weights.bytes, {weights.kernels.begin(), weights.kernels.end()}});
  }
  return problem;
}

ScheduleByDefinition::ScheduleByDefinition(const ScheduleProblem& problem)
    : problem_(problem), follows_(problem.tasks()), tasks_(problem.tasks()) {
  for (const size_t task : problem.topological_order) {
    follows_[task] = problem.seconds[task][0] == 0;
    for (const ScheduleProblem::Input& input : problem.inputs[task]) {
      if (!follows_[input.task]) follows_[task] = false;
    }
  }
}

std::vector<size_t> ScheduleByDefinition::Ready() const {
  std::vector<size_t> ready;
  for (size_t task = 0; task < problem_.tasks(); ++task) {
    if (tasks_[task] || follows_[task]) continue;
    bool is_ready = true;
    for (const ScheduleProblem::Input& input : problem_.inputs[task]) {
      if (!tasks_[input.task] && !follows_[input.task]) is_ready = false;
    }
    if (is_ready) ready.push_back(task);
  }
  return ready;
}

double ScheduleByDefinition::Arrival(const ScheduleProblem::Input& input,
                                     size_t device,
                                     std::vector<Transfer>& sent) const {
  const std::optional<ScheduledTask>& from = tasks_[input.task];
  if (!from) return 0;
  if (from->device == device) return from->finish;
  double begin = from->finish;
  for (const Transfer& other : sent) {
    if (!problem_.has_channels || other.to != device) continue;
    if (other.task == input.task) return other.end;
    if (other.from == from->device) begin = std::max(begin, other.end);
  }
  sent.push_back(
      {input.task, from->device, device, input.bytes, begin,
       begin + problem_.transfer(from->device, device, input.bytes)});
  return sent.back().end;
}

double ScheduleByDefinition::EarliestStart(size_t task, size_t device,
                                           bool inserts) const {
  double ready = 0;
  std::vector<Transfer> sent = transfers_;
  std::vector<size_t> added;
  Collect(task, added);
  for (const size_t next : added) {
    for (const ScheduleProblem::Input& input : problem_.inputs[next]) {
      ready = std::max(ready, Arrival(input, device, sent));
    }
  }
  const double seconds = problem_.seconds[task][device];
  if (seconds == 0) return ready;
  // It starts when it is ready or when another task finishes.
  std::vector<double> candidates = {ready};
  double end = 0;
  for (const std::optional<ScheduledTask>& other : tasks_) {
    if (!other || other->device != device || other->start == other->finish) {
      continue;
    }
    if (other->finish > ready) candidates.push_back(other->finish);
    end = std::max(end, other->finish);
  }
  if (!inserts) return std::max(ready, end);
  std::sort(candidates.begin(), candidates.end());
  for (const double start : candidates) {
    bool is_free = true;
    for (const std::optional<ScheduledTask>& other : tasks_) {
      if (other && other->device == device && other->start < other->finish &&
          other->start < start + seconds && start < other->finish) {
        is_free = false;
      }
    }
    if (is_free) return start;
  }
  return end;
}

double ScheduleByDefinition::StartAfter(size_t task, size_t device,
                                        size_t input, size_t input_device,
                                        double finish) const {
  double start = 0;
  for (const std::optional<ScheduledTask>& other : tasks_) {
    if (other && other->device == device && other->start < other->finish) {
      start = std::max(start, other->finish);
    }
  }
  // As if the input were scheduled.
  ScheduleByDefinition next = *this;
  next.tasks_[input] = {input_device, finish, finish};
  std::vector<Transfer> sent = transfers_;
  for (const ScheduleProblem::Input& other : problem_.inputs[task]) {
    start = std::max(start, next.Arrival(other, device, sent));
  }
  return start;
}

bool ScheduleByDefinition::HasReadersLeft(size_t task) const {
  for (const size_t reader : problem_.ReadersOf(task)) {
    if (!tasks_[reader]) return true;
  }
  return false;
}

void ScheduleByDefinition::Collect(size_t task,
                                   std::vector<size_t>& added) const {
  if (std::find(added.begin(), added.end(), task) != added.end()) return;
  for (const ScheduleProblem::Input& input : problem_.inputs[task]) {
    if (!tasks_[input.task]) Collect(input.task, added);
  }
  added.push_back(task);
}

double ScheduleByDefinition::UsedBytes(size_t device,
                                       const std::set<size_t>& also) const {
  const auto is_here = [&](size_t task) {
    return also.contains(task) ||
           (tasks_[task] && tasks_[task]->device == device);
  };
  double used = 0;
  for (const ScheduleProblem::Weights& weights : problem_.weights) {
    if (std::any_of(weights.tasks.begin(), weights.tasks.end(), is_here)) {
      used += weights.bytes;
    }
  }
  for (size_t task = 0; task < problem_.tasks(); ++task) {
    if (is_here(task) && (problem_.is_output[task] || HasReadersLeft(task) ||
                          problem_.ReadersOf(task).empty())) {
      used += problem_.output_bytes[task];
    }
  }
  for (const Transfer& transfer : transfers_) {
    if (transfer.to == device && HasReadersLeft(transfer.task)) {
      used += transfer.bytes;
    }
  }
  return used;
}

double ScheduleByDefinition::FreeBytes(size_t device) const {
  return problem_.memory[device] - UsedBytes(device, {});
}

bool ScheduleByDefinition::Fits(size_t task, size_t device) const {
  std::vector<size_t> added;
  Collect(task, added);
  double used = UsedBytes(device, {added.begin(), added.end()});
  std::vector<Transfer> sent = transfers_;
  for (const size_t next : added) {
    for (const ScheduleProblem::Input& input : problem_.inputs[next]) {
      Arrival(input, device, sent);
    }
  }
  for (size_t i = transfers_.size(); i < sent.size(); ++i) {
    used += sent[i].bytes;
  }
  return used <= problem_.memory[device];
}

std::optional<size_t> ScheduleByDefinition::Last(size_t device) const {
  std::optional<size_t> last;
  for (const size_t task : added_) {
    const ScheduledTask& at = *tasks_[task];
    if (at.device == device && at.start < at.finish) last = task;
  }
  return last;
}

void ScheduleByDefinition::Add(size_t task, size_t device, double start) {
  std::vector<size_t> added;
  Collect(task, added);
  for (const size_t next : added) {
    const double begin =
        next == task ? start : EarliestStart(next, device, false);
    tasks_[next] = {device, begin, begin + problem_.seconds[next][device]};
    added_.push_back(next);
    for (const ScheduleProblem::Input& input : problem_.inputs[next]) {
      Arrival(input, device, transfers_);
    }
  }
}

StepSchedule ScheduleByDefinition::Schedule() const {
  StepSchedule schedule;
  schedule.devices.resize(problem_.tasks());
  std::vector<double> starts(problem_.tasks());
  std::vector<std::tuple<double, size_t, size_t>> by_start;
  for (size_t i = 0; i < problem_.tasks(); ++i) {
    const size_t task = problem_.topological_order[i];
    if (tasks_[task]) {
      starts[task] = tasks_[task]->start;
      schedule.devices[task] = static_cast<int32_t>(tasks_[task]->device);
    } else {
      // Nobody reads it: on the first device, after what it reads.
      for (const ScheduleProblem::Input& input : problem_.inputs[task]) {
        starts[task] = std::max(starts[task], starts[input.task]);
      }
    }
    by_start.emplace_back(starts[task], i, task);
  }
  std::sort(by_start.begin(), by_start.end());
  for (const auto& [start, place, task] : by_start) {
    schedule.order.push_back(static_cast<KernelIndex>(task));
  }
  return schedule;
}

std::vector<double> UpwardRanksByDefinition(const ScheduleProblem& problem,
                                            bool transfers) {
  std::vector<std::optional<double>> known(problem.tasks());
  const std::function<double(size_t)> rank = [&](size_t task) {
    if (known[task]) return *known[task];
    double after = 0;
    for (const size_t reader : problem.ReadersOf(task)) {
      double between = 0;
      if (transfers) {
        between = problem.mean_transfer(BytesBetween(problem, task, reader));
      }
      after = std::max(after, rank(reader) + between);
    }
    known[task] = MeanSeconds(problem, task) + after;
    return *known[task];
  };
  std::vector<double> ranks;
  for (size_t task = 0; task < problem.tasks(); ++task) {
    ranks.push_back(rank(task));
  }
  return ranks;
}

namespace {

std::vector<double> DownwardRanksByDefinition(const ScheduleProblem& problem) {
  std::vector<std::optional<double>> known(problem.tasks());
  const std::function<double(size_t)> rank = [&](size_t task) {
    if (known[task]) return *known[task];
    double before = 0;
    for (const ScheduleProblem::Input& input : problem.inputs[task]) {
      before =
          std::max(before, rank(input.task) + MeanSeconds(problem, input.task) +
                               problem.mean_transfer(input.bytes));
    }
    known[task] = before;
    return before;
  };
  std::vector<double> ranks;
  for (size_t task = 0; task < problem.tasks(); ++task) {
    ranks.push_back(rank(task));
  }
  return ranks;
}

std::vector<double> RanksByDefinition(const ScheduleProblem& problem,
                                      ListRank rank) {
  std::vector<double> ranks =
      UpwardRanksByDefinition(problem, rank != ListRank::kStaticLevel);
  if (rank == ListRank::kUpwardDownward) {
    const std::vector<double> down = DownwardRanksByDefinition(problem);
    for (size_t i = 0; i < ranks.size(); ++i) ranks[i] += down[i];
  }
  if (rank == ListRank::kProgram) {
    double next = 0;
    for (const size_t task : problem.topological_order) ranks[task] = next--;
  }
  return ranks;
}

// When the last of the first eight readers of `task` could finish, each on its
// best device; when the task does, if that is later.
double FinishOfReaders(const ScheduleProblem& problem,
                       const ScheduleByDefinition& schedule, size_t task,
                       size_t device, double finish) {
  double last = finish;
  size_t count = 0;
  for (const size_t reader : problem.ReadersOf(task)) {
    if (++count > 8) break;
    double first = kInfinity;
    for (size_t d = 0; d < problem.devices(); ++d) {
      first =
          std::min(first, schedule.StartAfter(reader, d, task, device, finish) +
                              problem.seconds[reader][d]);
    }
    last = std::max(last, first);
  }
  return last;
}

}  // namespace

ScheduleByDefinition HeftByDefinition(const ScheduleProblem& problem,
                                      const ListScheduleOptions& options) {
  const std::vector<double> ranks = RanksByDefinition(problem, options.rank);
  ScheduleByDefinition schedule(problem);
  for (std::vector<size_t> ready = schedule.Ready(); !ready.empty();
       ready = schedule.Ready()) {
    // The first of the highest rank.
    const size_t task = *std::max_element(
        ready.begin(), ready.end(),
        [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
    std::optional<size_t> best;
    double best_finish = kInfinity;
    for (size_t d = 0; d < problem.devices(); ++d) {
      if (!schedule.Fits(task, d)) continue;
      double finish = schedule.EarliestStart(task, d, options.inserts) +
                      problem.seconds[task][d];
      if (options.looks_ahead) {
        finish = FinishOfReaders(problem, schedule, task, d, finish);
      }
      if (finish < best_finish) {
        best = d;
        best_finish = finish;
      }
    }
    if (!best) best = Roomiest(problem, schedule);
    schedule.Add(task, *best,
                 schedule.EarliestStart(task, *best, options.inserts));
  }
  return schedule;
}

ScheduleByDefinition EarliestFirstByDefinition(const ScheduleProblem& problem,
                                               bool favorites) {
  const std::vector<double> levels = UpwardRanksByDefinition(problem, false);
  // The children that most is sent to, each of one task only.
  std::vector<std::tuple<double, size_t, size_t>> edges;
  for (size_t reader = 0; reader < problem.tasks(); ++reader) {
    for (const ScheduleProblem::Input& input : problem.inputs[reader]) {
      edges.emplace_back(-input.bytes, input.task, reader);
    }
  }
  std::sort(edges.begin(), edges.end());
  std::vector<std::optional<size_t>> favorite(problem.tasks());
  std::set<size_t> taken;
  for (const auto& [bytes, task, reader] : edges) {
    if (!favorites || favorite[task] || taken.contains(reader)) continue;
    favorite[task] = reader;
    taken.insert(reader);
  }

  ScheduleByDefinition schedule(problem);
  for (std::vector<size_t> ready = schedule.Ready(); !ready.empty();
       ready = schedule.Ready()) {
    // Looks at 32 of the highest levels at most.
    std::stable_sort(ready.begin(), ready.end(),
                     [&](size_t a, size_t b) { return levels[a] > levels[b]; });
    std::optional<std::pair<size_t, size_t>> best;
    double best_start = kInfinity;
    size_t count = 0;
    for (const size_t task : ready) {
      if (++count > 32) break;
      for (size_t d = 0; d < problem.devices(); ++d) {
        if (!schedule.Fits(task, d)) continue;
        double start = schedule.EarliestStart(task, d, /*inserts=*/false);
        // Waits for a favorite child that is not ready yet.
        const std::optional<size_t> last = schedule.Last(d);
        if (last && favorite[*last] && !schedule.scheduled(*favorite[*last]) &&
            std::find(ready.begin(), ready.end(), *favorite[*last]) ==
                ready.end()) {
          start += problem.mean_transfer(
              BytesBetween(problem, *last, *favorite[*last]));
        }
        if (start < best_start) {
          best = {task, d};
          best_start = start;
        }
      }
    }
    if (!best) best = {ready[0], Roomiest(problem, schedule)};
    schedule.Add(best->first, best->second,
                 schedule.EarliestStart(best->first, best->second, false));
  }
  return schedule;
}

}  // namespace hone::testing
