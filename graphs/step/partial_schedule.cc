#include "graphs/step/partial_schedule.h"

#include <algorithm>
#include <utility>

namespace hone::graphs {
namespace {

// Gaps that are looked at from where a kernel could start on.
constexpr size_t kMostGaps = 64;

}  // namespace

PartialSchedule::PartialSchedule(const KernelGraph& kernels,
                                 const DeviceTimes& times)
    : kernels_(kernels),
      times_(times),
      devices_(static_cast<size_t>(times.device_count())),
      follows_(kernels.size()),
      device_of_(kernels.size(), -1),
      start_(kernels.size()),
      finish_(kernels.size()),
      copies_(kernels.size() * devices_),
      channel_free_(devices_ * devices_),
      busy_(devices_),
      last_(devices_, kNone),
      used_(devices_),
      readers_left_(kernels.size()),
      weights_on_(kernels.weights().size()),
      kernel_seen_(kernels.size()),
      weights_seen_(kernels.weights().size()) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    readers_left_[k] =
        static_cast<uint32_t>(kernels.uses(static_cast<KernelIndex>(k)).size());
  }
  for (const KernelIndex kernel : kernels.topological_order()) {
    follows_[kernel] =
        kernels.Seconds(kernel, 0) == 0 && MissingInputs(kernel) == 0;
  }
}

size_t PartialSchedule::MissingInputs(KernelIndex kernel) const {
  size_t missing = 0;
  for (const KernelIndex input : kernels_.inputs(kernel)) {
    if (is_scheduled(input)) ++missing;
  }
  return missing;
}

PartialSchedule::Channels PartialSchedule::ChannelsTo(int32_t device) const {
  const auto begin =
      channel_free_.begin() +
      static_cast<std::ptrdiff_t>(static_cast<size_t>(device) * devices_);
  return {begin, begin + static_cast<std::ptrdiff_t>(devices_)};
}

double PartialSchedule::Arrival(KernelIndex input, uint32_t number,
                                int32_t device, Channels& channels) const {
  const int32_t from = device_of_[input];
  if (from < 0) return 0;  // it will follow
  if (from == device) return finish_[input];
  const double sent = copies_[At(input, device)].arrival;
  if (sent >= 0) return sent;
  double& free = channels[static_cast<size_t>(from)];
  free = std::max(finish_[input], free) +
         times_.TransferSeconds(from, device, kernels_.input_bytes(number));
  return free;
}

double PartialSchedule::FirstGap(int32_t device, double ready,
                                 double seconds) const {
  const std::vector<Interval>& busy = busy_[static_cast<size_t>(device)];
  auto next = std::lower_bound(
      busy.begin(), busy.end(), ready,
      [](const Interval& interval, double t) { return interval.end < t; });
  for (size_t i = 0; next != busy.end() && i < kMostGaps; ++i, ++next) {
    if (ready + seconds <= next->begin) return ready;
    ready = std::max(ready, next->end);
  }
  return next == busy.end() ? ready : std::max(ready, busy.back().end);
}

// Chains of kernels that follow each other may be as long as the program.
void PartialSchedule::FindGroup(KernelIndex kernel) {
  ++now_;
  // It is asked for once for each device.
  if (std::exchange(group_of_, kernel) == kernel) return;
  group_.clear();
  walk_.assign(1, {kernel, 0});
  while (!walk_.empty()) {
    const KernelIndex at = walk_.back().first;
    const absl::Span<const KernelIndex> inputs = kernels_.inputs(at);
    size_t& next = walk_.back().second;
    if (next == inputs.size()) {
      group_.push_back(at);
      walk_.pop_back();
      continue;
    }
    const KernelIndex input = inputs[next++];
    if (device_of_[input] < 0 &&
        std::exchange(kernel_seen_[input], now_) != now_) {
      walk_.emplace_back(input, 0);
    }
  }
}

double PartialSchedule::EarliestStart(KernelIndex kernel, int32_t device,
                                      bool inserts) {
  FindGroup(kernel);
  Channels channels = ChannelsTo(device);
  double ready = 0;
  // In the order in which Add adds them, and each once, as they are sent.
  for (const KernelIndex member : group_) {
    uint32_t number = kernels_.first_input(member);
    for (const KernelIndex input : kernels_.inputs(member)) {
      if (device_of_[input] >= 0 &&
          std::exchange(kernel_seen_[input], now_) != now_) {
        ready = std::max(ready, Arrival(input, number, device, channels));
      }
      ++number;
    }
  }
  const double seconds = Seconds(kernel, device);
  if (seconds == 0) return ready;
  if (inserts) return FirstGap(device, ready, seconds);
  const std::vector<Interval>& busy = busy_[static_cast<size_t>(device)];
  return busy.empty() ? ready : std::max(ready, busy.back().end);
}

double PartialSchedule::StartAfter(KernelIndex kernel, int32_t device,
                                   KernelIndex input, int32_t input_device,
                                   double finish) const {
  const std::vector<Interval>& busy = busy_[static_cast<size_t>(device)];
  double ready = busy.empty() ? 0 : busy.back().end;
  Channels channels = ChannelsTo(device);
  uint32_t number = kernels_.first_input(kernel);
  for (const KernelIndex other : kernels_.inputs(kernel)) {
    if (other != input) {
      ready = std::max(ready, Arrival(other, number, device, channels));
    } else if (input_device == device) {
      ready = std::max(ready, finish);
    } else {
      double& free = channels[static_cast<size_t>(input_device)];
      free = std::max(finish, free) +
             times_.TransferSeconds(input_device, device,
                                    kernels_.input_bytes(number));
      ready = std::max(ready, free);
    }
    ++number;
  }
  return ready;
}

double PartialSchedule::NewBytes(KernelIndex kernel, int32_t device) {
  FindGroup(kernel);
  double bytes = 0;
  for (const KernelIndex member : group_) {
    bytes += kernels_.output_bytes(member);
    for (const uint32_t weights : kernels_.weights_of(member)) {
      if ((weights_on_[weights] >> device & 1) == 0 &&
          std::exchange(weights_seen_[weights], now_) != now_) {
        bytes += kernels_.weights()[weights].bytes;
      }
    }
    uint32_t number = kernels_.first_input(member);
    for (const KernelIndex input : kernels_.inputs(member)) {
      if (device_of_[input] >= 0 && device_of_[input] != device &&
          copies_[At(input, device)].arrival < 0 &&
          std::exchange(kernel_seen_[input], now_) != now_) {
        bytes += kernels_.input_bytes(number);
      }
      ++number;
    }
  }
  return bytes;
}

bool PartialSchedule::Fits(KernelIndex kernel, int32_t device) {
  return NewBytes(kernel, device) <= free_bytes(device);
}

void PartialSchedule::Add(KernelIndex kernel, int32_t device, double start) {
  FindGroup(kernel);
  const std::vector<KernelIndex> group = group_;
  for (const KernelIndex member : group) {
    if (member == kernel) continue;
    AddOne(member, device, EarliestStart(member, device, /*inserts=*/false));
  }
  AddOne(kernel, device, start);
}

void PartialSchedule::AddOne(KernelIndex kernel, int32_t device, double start) {
  const auto d = static_cast<size_t>(device);
  used_[d] += NewBytes(kernel, device);
  for (const uint32_t weights : kernels_.weights_of(kernel)) {
    weights_on_[weights] |= uint64_t{1} << device;
  }
  device_of_[kernel] = device;
  group_of_ = kNone;
  start_[kernel] = start;
  finish_[kernel] = start + Seconds(kernel, device);
  Channels channels = ChannelsTo(device);
  uint32_t number = kernels_.first_input(kernel);
  for (const KernelIndex input : kernels_.inputs(kernel)) {
    const int32_t from = device_of_[input];
    if (from != device && copies_[At(input, device)].arrival < 0) {
      const double arrival = Arrival(input, number, device, channels);
      copies_[At(input, device)] = {arrival, kernels_.input_bytes(number)};
      channel_free_[d * devices_ + static_cast<size_t>(from)] = arrival;
    }
    ++number;
    if (--readers_left_[input] > 0) continue;
    for (size_t on = 0; on < devices_; ++on) {
      double bytes = copies_[input * devices_ + on].bytes;
      if (static_cast<int32_t>(on) == from && !kernels_.is_output(input)) {
        bytes = kernels_.output_bytes(input);
      }
      // Not less than none, by rounding.
      used_[on] = std::max(0.0, used_[on] - bytes);
    }
  }
  if (finish_[kernel] == start) return;
  last_[d] = kernel;
  std::vector<Interval>& busy = busy_[d];
  const Interval interval = {start, finish_[kernel]};
  if (busy.empty() || busy.back().begin <= start) {
    busy.push_back(interval);
    return;
  }
  busy.insert(std::lower_bound(busy.begin(), busy.end(), start,
                               [](const Interval& other, double t) {
                                 return other.begin < t;
                               }),
              interval);
}

StepSchedule PartialSchedule::Finish() const {
  const absl::Span<const KernelIndex> order = kernels_.topological_order();
  StepSchedule schedule = {device_of_, {order.begin(), order.end()}};
  std::vector<double> start = start_;
  for (const KernelIndex kernel : order) {
    if (device_of_[kernel] >= 0) continue;
    // Nobody reads it.
    schedule.devices[kernel] = 0;
    for (const KernelIndex input : kernels_.inputs(kernel)) {
      start[kernel] = std::max(start[kernel], start[input]);
    }
  }
  std::stable_sort(
      schedule.order.begin(), schedule.order.end(),
      [&](KernelIndex a, KernelIndex b) { return start[a] < start[b]; });
  return schedule;
}

}  // namespace hone::graphs
