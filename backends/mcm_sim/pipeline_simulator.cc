#include "backends/mcm_sim/pipeline_simulator.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <queue>
#include <utility>

#include "backends/mcm_sim/pipeline_program.h"

namespace hone::backends {
namespace {

using StepKind = PipelineStep::Kind;

constexpr int32_t kSamples = 48;
constexpr int32_t kMeasured = 32;  // the last ones

class Pipeline {
 public:
  Pipeline(const PipelineProgram& program, double latency, bool with_events)
      : program_(program),
        latency_(latency),
        with_events_(with_events),
        chips_(program.steps.size()),
        links_(program.steps.size()),
        finished_(kSamples) {
    for (const PipelineOutput& output : program.outputs) {
      first_stop_.push_back(stops_.size());
      for (int32_t chip = output.from + 1; chip <= output.last; ++chip) {
        stops_.push_back({.is_read = (output.readers >> chip & 1) != 0,
                          .is_sent_on = chip < output.last});
      }
    }
  }

  void Run() {
    for (size_t c = 0; c < chips_.size(); ++c) Advance(c);
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.time;
      switch (event.kind) {
        case EventKind::kChipDone:
          FinishStep(event.place);
          break;
        case EventKind::kLinkDone:
          FinishTransfer(event.place);
          break;
        case EventKind::kArrived:
          Arrive(event.output, event.place);
          break;
      }
    }
  }

  void Report(PipelineResult& result) {
    result.latency = finished_[0];
    result.interval =
        (finished_[kSamples - 1] - finished_[kSamples - 1 - kMeasured]) /
        kMeasured;
    for (size_t c = 0; c < chips_.size(); ++c) {
      result.chip_busy.push_back(chips_[c].busy / kSamples);
      result.link_busy.push_back(links_[c].busy / kSamples);
      // A pipeline that has not settled may seem faster than it can be.
      result.interval =
          std::max({result.interval, result.chip_busy[c], result.link_busy[c]});
    }
    result.events = std::move(events_);
  }

 private:
  enum class EventKind : uint8_t { kChipDone, kLinkDone, kArrived };
  struct Event {
    double time = 0;
    uint64_t number = 0;  // of equal times the first that was scheduled
    EventKind kind = EventKind::kChipDone;
    size_t place = 0;  // a chip, or the link that leaves it
    size_t output = 0;
    bool operator>(const Event& other) const {
      return std::pair(time, number) > std::pair(other.time, other.number);
    }
  };

  struct Chip {
    int32_t sample = 0;
    size_t step = 0;
    // A step is being executed, or a link is awaited for it.
    bool is_busy = false;
    double busy = 0;
  };

  struct Request {
    size_t output = 0;
    bool is_of_chip = false;  // else of its router
  };
  struct Link {
    std::deque<Request> requests;
    bool is_busy = false;
    Request current;
    double begin = 0;
    double busy = 0;
  };

  // An output at a chip that it comes to. Samples are counted.
  struct Stop {
    bool is_read = false;
    bool is_sent_on = false;
    int32_t claimed = 0;  // buffers of it, by the link before
    int32_t arrived = 0;
    int32_t taken = 0;
    int32_t sent_on = 0;

    bool has_room() const {
      const int32_t emptied = !is_read      ? sent_on
                              : !is_sent_on ? taken
                                            : std::min(taken, sent_on);
      return claimed - emptied < kPipelineBuffers;
    }
  };

  Stop& StopAt(size_t output, size_t chip) {
    const auto from = static_cast<size_t>(program_.outputs[output].from);
    return stops_[first_stop_[output] + chip - from - 1];
  }

  void Schedule(double delay, EventKind kind, size_t place, size_t output = 0) {
    queue_.push({now_ + delay, scheduled_++, kind, place, output});
  }

  void Record(PipelineEvent::Kind kind, size_t place, int32_t sample,
              double begin, size_t output) {
    if (!with_events_) return;
    events_.push_back({kind, static_cast<int32_t>(place), sample, begin, now_,
                       kind == PipelineEvent::Kind::kCompute
                           ? 0
                           : program_.outputs[output].node});
  }

  // Begins the next step of a chip, if it can.
  void Advance(size_t place) {
    Chip& chip = chips_[place];
    const std::vector<PipelineStep>& steps = program_.steps[place];
    if (chip.is_busy || steps.empty() || chip.sample == kSamples) return;
    const PipelineStep& step = steps[chip.step];
    if (step.kind == StepKind::kTake) {
      const Stop& stop = StopAt(step.output, place);
      if (stop.arrived == stop.taken) return;
    }
    chip.is_busy = true;
    if (step.kind == StepKind::kSend) {
      links_[place].requests.push_back({step.output, /*is_of_chip=*/true});
      Transfer(place);
    } else {
      Schedule(step.milliseconds, EventKind::kChipDone, place);
    }
  }

  void FinishStep(size_t place) {
    Chip& chip = chips_[place];
    const std::vector<PipelineStep>& steps = program_.steps[place];
    const PipelineStep& step = steps[chip.step];
    chip.is_busy = false;
    chip.busy += step.milliseconds;
    Record(step.kind == StepKind::kCompute ? PipelineEvent::Kind::kCompute
           : step.kind == StepKind::kSend  ? PipelineEvent::Kind::kSend
                                           : PipelineEvent::Kind::kTake,
           place, chip.sample, now_ - step.milliseconds, step.output);
    if (step.kind == StepKind::kTake) {
      ++StopAt(step.output, place).taken;
      Transfer(place - 1);
    }
    if (++chip.step == steps.size()) {
      chip.step = 0;
      double& finished = finished_[static_cast<size_t>(chip.sample)];
      finished = std::max(finished, now_);
      ++chip.sample;
    }
    Advance(place);
  }

  // Begins the first transfer of a link that has room to go to, if it is free.
  void Transfer(size_t place) {
    Link& link = links_[place];
    if (link.is_busy) return;
    const auto request = std::find_if(
        link.requests.begin(), link.requests.end(), [&](const Request& r) {
          return StopAt(r.output, place + 1).has_room();
        });
    if (request == link.requests.end()) return;
    link.current = *request;
    link.requests.erase(request);
    link.is_busy = true;
    link.begin = now_;
    ++StopAt(link.current.output, place + 1).claimed;
    Schedule(program_.outputs[link.current.output].transfer,
             EventKind::kLinkDone, place);
  }

  void FinishTransfer(size_t place) {
    Link& link = links_[place];
    const auto [output, is_of_chip] = link.current;
    link.is_busy = false;
    link.busy += now_ - link.begin;
    Record(PipelineEvent::Kind::kLink, place,
           StopAt(output, place + 1).claimed - 1, link.begin, output);
    Schedule(latency_, EventKind::kArrived, place + 1, output);
    if (is_of_chip) {
      FinishStep(place);
    } else {
      ++StopAt(output, place).sent_on;
      Transfer(place - 1);
    }
    Transfer(place);
  }

  void Arrive(size_t output, size_t place) {
    Stop& stop = StopAt(output, place);
    ++stop.arrived;
    if (stop.is_sent_on) {
      links_[place].requests.push_back({output, /*is_of_chip=*/false});
      Transfer(place);
    }
    if (stop.is_read) Advance(place);
  }

  const PipelineProgram& program_;
  const double latency_;
  const bool with_events_;
  double now_ = 0;
  uint64_t scheduled_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::vector<Chip> chips_;
  std::vector<Link> links_;
  std::vector<Stop> stops_;         // output by output, chip by chip
  std::vector<size_t> first_stop_;  // [outputs]
  std::vector<double> finished_;    // [samples]
  std::vector<PipelineEvent> events_;
};

}  // namespace

PipelineResult SimulatePipeline(const graphs::PartitionGraph& graph,
                                const graphs::Package& package,
                                absl::Span<const int32_t> chips,
                                bool with_events) {
  constexpr double kMillisecondsPerSecond = 1e3;
  PipelineResult result;
  result.memory = FindPipelineMemory(graph, chips);
  for (size_t c = 0; c < result.memory.chips.size(); ++c) {
    const double excess = result.memory.chips[c].excess;
    if (excess > result.excess_bytes) {
      result.excess_bytes = excess;
      result.fullest_chip = static_cast<int32_t>(c);
    }
  }
  const PipelineProgram program =
      MakePipelineProgram(graph, package, chips, result.memory.spilled_before);
  Pipeline pipeline(program,
                    package.link.latency_seconds * kMillisecondsPerSecond,
                    with_events);
  pipeline.Run();
  pipeline.Report(result);
  return result;
}

}  // namespace hone::backends
