#include "backends/cluster_sim/step_simulator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace hone::backends {

using graphs::KernelGraph;
using graphs::KernelIndex;

namespace {

// Points in time that are remembered.
constexpr size_t kPoints = 24;

// Something that happens: a kernel finishes, or a transfer arrives. Events of
// one time are in the order of `rank`: kernels by number, then transfers by
// kernel and device.
struct Event {
  double time;
  uint64_t rank;
  uint32_t index;  // of the kernel, or of the transfer

  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.rank > b.rank;
  }
};
constexpr uint64_t kTransferRank = uint64_t{1} << 48;

struct Transfer {
  KernelIndex kernel;
  int32_t from;
  int32_t to;
  double bytes;
};

// A kernel that waits for its device, or the one with the highest priority.
struct Waiting {
  uint64_t priority;
  KernelIndex kernel;

  friend bool operator<(const Waiting& a, const Waiting& b) {
    return a.priority != b.priority ? a.priority < b.priority
                                    : a.kernel > b.kernel;
  }
};

template <typename T>
void Push(std::vector<T>& heap, const T& value) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end());
}
template <typename T>
T Pop(std::vector<T>& heap) {
  std::pop_heap(heap.begin(), heap.end());
  const T value = heap.back();
  heap.pop_back();
  return value;
}

// Everything that changes during a step.
struct State {
  double time = 0;
  size_t finished = 0;
  std::vector<Event> events;      // a heap, the next one at the front
  std::vector<uint32_t> missing;  // [kernels]: inputs that are not there
  // Results and copies in memory: kernels first, then transfers.
  std::vector<uint32_t> users;  // of each, that are not done
  std::vector<uint32_t> held;   // [inputs]: which of them a kernel reads
  std::vector<Transfer> transfers;
  std::vector<std::vector<Waiting>> ready;    // [devices], heaps
  std::vector<uint8_t> busy;                  // [devices]
  std::vector<std::vector<uint32_t>> queues;  // [devices²]: transfers
  std::vector<size_t> heads;                  // [devices²]: the one that goes
  std::vector<double> memory;                 // [devices], without weights
  std::vector<double> peaks;
};

}  // namespace

class StepSimulator::Impl {
 public:
  Impl(const KernelGraph& kernels, const graphs::DeviceTimes& times)
      : kernels_(kernels),
        times_(times),
        devices_(static_cast<size_t>(times.device_count())),
        transfer_to_(devices_),
        weights_(devices_) {}

  StepResult Run(absl::Span<const int32_t> devices,
                 absl::Span<const uint64_t> priorities, StepObserver* observer,
                 bool remember) {
    device_of_ = devices;
    priorities_ = priorities;
    observer_ = observer;
    if (remember) {
      points_.clear();
      finish_.assign(kernels_.size(), 0);
      ready_time_.assign(kernels_.size(), 0);
      waited_for_.assign(kernels_.size(), kNone);
      previous_.assign(devices_, kNone);
    }
    remember_ = remember;
    told_.assign(devices_, -1);
    AddWeights();
    Start();
    Go();
    return Result();
  }

  StepResult Rerun(absl::Span<const int32_t> devices,
                   absl::Span<const uint64_t> priorities,
                   absl::Span<const KernelIndex> changed) {
    device_of_ = devices;
    priorities_ = priorities;
    observer_ = nullptr;
    remember_ = false;
    // A device matters once the first input is sent, a priority later.
    double first = std::numeric_limits<double>::infinity();
    for (const KernelIndex kernel : changed) {
      if (kernels_.inputs(kernel).empty()) first = 0;
      for (const KernelIndex input : kernels_.inputs(kernel)) {
        first = std::min(first, finish_[input]);
      }
    }
    AddWeights();
    auto point = points_.end();
    while (point != points_.begin() && std::prev(point)->time >= first) --point;
    if (point == points_.begin()) {
      Start();
    } else {
      state_ = *std::prev(point);
    }
    Go();
    return Result();
  }

  double finish(KernelIndex kernel) const { return finish_[kernel]; }

  std::vector<KernelIndex> CriticalPath() const {
    std::vector<KernelIndex> path;
    const auto last = std::max_element(finish_.begin(), finish_.end());
    if (last == finish_.end()) return path;
    auto kernel = static_cast<KernelIndex>(last - finish_.begin());
    for (; kernel != kNone; kernel = waited_for_[kernel]) {
      path.push_back(kernel);
    }
    return path;
  }

 private:
  static constexpr KernelIndex kNone = ~KernelIndex{0};

  size_t Channel(int32_t from, int32_t to) const {
    return static_cast<size_t>(from) * devices_ + static_cast<size_t>(to);
  }
  double SecondsOf(KernelIndex kernel) const {
    return kernels_.Seconds(kernel, times_.kind_of(device_of_[kernel]));
  }

  void AddWeights() {
    std::fill(weights_.begin(), weights_.end(), 0);
    for (const KernelGraph::Weights& weights : kernels_.weights()) {
      uint64_t seen = 0;
      for (const KernelIndex kernel : weights.kernels) {
        const int32_t device = device_of_[kernel];
        if ((seen >> device & 1) != 0) continue;
        seen |= uint64_t{1} << device;
        weights_[static_cast<size_t>(device)] += weights.bytes;
      }
    }
  }

  void Start() {
    state_.time = 0;
    state_.finished = 0;
    state_.events.clear();
    state_.missing.resize(kernels_.size());
    state_.users.assign(kernels_.size(), 0);
    state_.held.assign(kernels_.input_count(), 0);
    state_.transfers.clear();
    state_.ready.assign(devices_, {});
    state_.busy.assign(devices_, 0);
    state_.queues.assign(devices_ * devices_, {});
    state_.heads.assign(devices_ * devices_, 0);
    state_.memory.assign(devices_, 0);
    state_.peaks.assign(devices_, 0);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const auto kernel = static_cast<KernelIndex>(k);
      state_.missing[k] = static_cast<uint32_t>(kernels_.inputs(kernel).size());
    }
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (state_.missing[k] == 0) MakeReady(static_cast<KernelIndex>(k), kNone);
    }
  }

  // Runs from state_ to the end.
  void Go() {
    for (size_t next_point = 0;;) {
      while (!state_.events.empty() &&
             state_.events.front().time == state_.time) {
        std::pop_heap(state_.events.begin(), state_.events.end(),
                      std::greater<>());
        const Event event = state_.events.back();
        state_.events.pop_back();
        if (event.rank < kTransferRank) {
          Finish(event.index);
        } else {
          Arrive(event.index);
        }
      }
      StartKernels();
      if (state_.events.empty()) break;
      if (state_.events.front().time > state_.time) NoteMemory();
      if (remember_ && state_.finished >= next_point) {
        points_.push_back(state_);
        next_point = state_.finished + kernels_.size() / kPoints + 1;
      }
      state_.time = state_.events.front().time;
    }
  }

  void AddEvent(double time, uint64_t rank, uint32_t index) {
    state_.events.push_back({time, rank, index});
    std::push_heap(state_.events.begin(), state_.events.end(),
                   std::greater<>());
  }

  // Time goes on: what is in memory now is so for some time.
  void NoteMemory() {
    for (size_t d = 0; d < devices_; ++d) {
      if (state_.memory[d] > state_.peaks[d]) {
        state_.peaks[d] = state_.memory[d];
      }
      if (observer_ != nullptr && state_.memory[d] != told_[d]) {
        told_[d] = state_.memory[d];
        observer_->OnMemory(static_cast<int32_t>(d), state_.time,
                            weights_[d] + state_.memory[d]);
      }
    }
  }

  void Release(uint32_t held, int32_t device, double bytes) {
    if (--state_.users[held] == 0) {
      state_.memory[static_cast<size_t>(device)] -= bytes;
    }
  }

  // The last of its inputs, if any, has come.
  void MakeReady(KernelIndex kernel, KernelIndex last_input) {
    const int32_t device = device_of_[kernel];
    if (remember_) waited_for_[kernel] = last_input;
    if (SecondsOf(kernel) == 0) {
      state_.memory[static_cast<size_t>(device)] +=
          kernels_.output_bytes(kernel);
      if (observer_ != nullptr) {
        observer_->OnKernel(kernel, device, state_.time, state_.time);
      }
      AddEvent(state_.time, kernel, kernel);
      return;
    }
    if (remember_) ready_time_[kernel] = state_.time;
    Push(state_.ready[static_cast<size_t>(device)],
         {priorities_[kernel], kernel});
  }

  void StartKernels() {
    for (size_t d = 0; d < devices_; ++d) {
      if (state_.busy[d] != 0 || state_.ready[d].empty()) continue;
      const KernelIndex kernel = Pop(state_.ready[d]).kernel;
      state_.busy[d] = 1;
      if (remember_) {
        // Ready before, it has waited for its device.
        const KernelIndex previous = std::exchange(previous_[d], kernel);
        const KernelIndex input = waited_for_[kernel];
        const bool was_ready =
            ready_time_[kernel] < state_.time && previous != kNone;
        waited_for_[kernel] = was_ready ? previous : input;
      }
      state_.memory[d] += kernels_.output_bytes(kernel);
      const double end = state_.time + SecondsOf(kernel);
      if (observer_ != nullptr) {
        observer_->OnKernel(kernel, static_cast<int32_t>(d), state_.time, end);
      }
      AddEvent(end, kernel, kernel);
    }
  }

  void Finish(KernelIndex kernel) {
    const int32_t device = device_of_[kernel];
    ++state_.finished;
    if (remember_) finish_[kernel] = state_.time;
    // One that takes no time occupies no device.
    if (SecondsOf(kernel) != 0) state_.busy[static_cast<size_t>(device)] = 0;
    const absl::Span<const KernelIndex> inputs = kernels_.inputs(kernel);
    const uint32_t first = kernels_.first_input(kernel);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint32_t held = state_.held[first + i];
      Release(held, device,
              held < kernels_.size()
                  ? kernels_.output_bytes(inputs[i])
                  : state_.transfers[held - kernels_.size()].bytes);
    }
    Send(kernel, device);
  }

  // Gives the result of a kernel to those that read it.
  void Send(KernelIndex kernel, int32_t device) {
    const absl::Span<const KernelGraph::Use> uses = kernels_.uses(kernel);
    uint64_t others = 0;
    uint32_t users = 0;
    for (const KernelGraph::Use& use : uses) {
      const int32_t to = device_of_[use.kernel];
      if (to == device) {
        ++users;
        state_.held[use.input] = kernel;
        if (--state_.missing[use.kernel] == 0) MakeReady(use.kernel, kernel);
        continue;
      }
      uint32_t& number = transfer_to_[static_cast<size_t>(to)];
      if ((others >> to & 1) == 0) {
        others |= uint64_t{1} << to;
        number = static_cast<uint32_t>(state_.transfers.size());
        state_.transfers.push_back({kernel, device, to, 0});
        state_.users.push_back(0);
        ++users;
      }
      Transfer& transfer = state_.transfers[number];
      transfer.bytes = std::max(transfer.bytes, use.bytes);
      const auto held = static_cast<uint32_t>(kernels_.size() + number);
      ++state_.users[held];
      state_.held[use.input] = held;
    }
    // A result of the program, or one that nobody reads, stays.
    state_.users[kernel] =
        users + (uses.empty() || kernels_.is_output(kernel) ? 1 : 0);
    for (int32_t to = 0; others != 0; ++to, others >>= 1) {
      if ((others & 1) == 0) continue;
      const size_t channel = Channel(device, to);
      state_.queues[channel].push_back(transfer_to_[static_cast<size_t>(to)]);
      if (state_.queues[channel].size() == state_.heads[channel] + 1) {
        StartTransfer(channel);
      }
    }
  }

  // Starts the transfer at the head of a channel.
  void StartTransfer(size_t channel) {
    const uint32_t number = state_.queues[channel][state_.heads[channel]];
    const Transfer& transfer = state_.transfers[number];
    state_.memory[static_cast<size_t>(transfer.to)] += transfer.bytes;
    const double end =
        state_.time +
        times_.TransferSeconds(transfer.from, transfer.to, transfer.bytes);
    if (observer_ != nullptr) {
      observer_->OnTransfer(transfer.kernel, transfer.from, transfer.to,
                            transfer.bytes, state_.time, end);
    }
    AddEvent(end,
             kTransferRank | uint64_t{transfer.kernel} << 8 |
                 static_cast<uint64_t>(transfer.to),
             number);
  }

  void Arrive(uint32_t number) {
    const Transfer transfer = state_.transfers[number];
    Release(transfer.kernel, transfer.from,
            kernels_.output_bytes(transfer.kernel));
    for (const KernelGraph::Use& use : kernels_.uses(transfer.kernel)) {
      if (device_of_[use.kernel] != transfer.to) continue;
      if (--state_.missing[use.kernel] == 0) {
        MakeReady(use.kernel, transfer.kernel);
      }
    }
    const size_t channel = Channel(transfer.from, transfer.to);
    if (++state_.heads[channel] < state_.queues[channel].size()) {
      StartTransfer(channel);
    }
  }

  StepResult Result() const {
    StepResult result;
    result.seconds = state_.time;
    for (size_t d = 0; d < devices_; ++d) {
      const double peak = weights_[d] + state_.peaks[d];
      const double capacity = times_.memory_bytes(static_cast<int32_t>(d));
      result.peak_bytes.push_back(peak);
      if (peak <= capacity) continue;
      result.excess_bytes += peak - capacity;
      result.worst_excess =
          std::max(result.worst_excess, (peak - capacity) / capacity);
    }
    return result;
  }

  const KernelGraph& kernels_;
  const graphs::DeviceTimes& times_;
  const size_t devices_;

  absl::Span<const int32_t> device_of_;
  absl::Span<const uint64_t> priorities_;
  StepObserver* observer_ = nullptr;
  State state_;
  std::vector<uint32_t> transfer_to_;  // [devices], room to work
  std::vector<double> weights_;        // [devices], bytes
  std::vector<double> told_;           // [devices]: what observers know

  bool remember_ = false;
  std::vector<State> points_;
  std::vector<double> finish_;  // [kernels]
  std::vector<double> ready_time_;
  std::vector<KernelIndex> waited_for_;  // what a kernel started after
  std::vector<KernelIndex> previous_;    // [devices]
};

StepSimulator::StepSimulator(const KernelGraph& kernels,
                             const graphs::DeviceTimes& times)
    : impl_(std::make_unique<Impl>(kernels, times)) {}

StepSimulator::~StepSimulator() = default;

StepResult StepSimulator::Run(absl::Span<const int32_t> devices,
                              absl::Span<const uint64_t> priorities,
                              StepObserver* observer) {
  return impl_->Run(devices, priorities, observer, /*remember=*/false);
}

StepResult StepSimulator::RunAndRemember(
    absl::Span<const int32_t> devices, absl::Span<const uint64_t> priorities) {
  return impl_->Run(devices, priorities, nullptr, /*remember=*/true);
}

StepResult StepSimulator::Rerun(absl::Span<const int32_t> devices,
                                absl::Span<const uint64_t> priorities,
                                absl::Span<const KernelIndex> changed) {
  return impl_->Rerun(devices, priorities, changed);
}

double StepSimulator::finish(KernelIndex kernel) const {
  return impl_->finish(kernel);
}

std::vector<KernelIndex> StepSimulator::CriticalPath() const {
  return impl_->CriticalPath();
}

}  // namespace hone::backends
