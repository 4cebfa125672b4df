#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "backends/tpu_sim/engine.h"
#include "base/status_macros.h"

namespace hone::backends {
namespace {

// The memory of the device with its queue of transfers.
class Memory {
 public:
  explicit Memory(const Tpu& tpu)
      : latency_(TransferLatency(tpu)), steal_(StealPeriod(tpu)) {}

  // Puts a transfer into the queue and returns its number.
  int64_t Enqueue(int64_t cycles) {
    queue_.push_back({latency_, cycles, 0});
    return enqueued_++;
  }
  // Returns true if all transfers up to number `number` are done.
  bool IsDone(int64_t number) const { return number < done_; }
  int64_t outstanding() const { return enqueued_ - done_; }
  // Returns true if the memory transfers in this cycle.
  bool IsBusy() const { return !queue_.empty() && queue_.front().latency == 0; }
  // Returns true if the transfer takes the port of VMEM in this cycle.
  bool TakesPort() const {
    return IsBusy() && queue_.front().moved % steal_ == 0;
  }

  void Step() {
    const bool is_busy = IsBusy();
    for (Queued& each : queue_) {
      each.latency = std::max<int64_t>(each.latency - 1, 0);
    }
    if (!is_busy) return;
    if (++queue_.front().moved == queue_.front().cycles) {
      queue_.pop_front();
      ++done_;
    }
  }

 private:
  struct Queued {
    int64_t latency = 0;
    int64_t cycles = 0;
    int64_t moved = 0;
  };

  const int64_t latency_;
  const int64_t steal_;
  std::deque<Queued> queue_;
  int64_t enqueued_ = 0;
  int64_t done_ = 0;
};

class CycleEngine {
 public:
  CycleEngine(TileProgram& program, int64_t max_cycles)
      : program_(program),
        tpu_(program.tpu()),
        max_cycles_(max_cycles),
        memory_(program.tpu()) {}

  absl::StatusOr<EngineResult> Run() {
    HONE_RETURN_IF_ERROR(Pass(tpu_.launch_cycles));
    if (!program_.is_empty()) HONE_RETURN_IF_ERROR(RunSteps());
    while (memory_.outstanding() > 0) HONE_RETURN_IF_ERROR(Cycle());
    return result_;
  }

 private:
  // All positions of the grid in order.
  std::vector<std::vector<int64_t>> Positions() const {
    std::vector<std::vector<int64_t>> positions;
    std::vector<int64_t> position(program_.loops().size());
    for (;;) {
      positions.push_back(position);
      size_t i = position.size();
      while (i > 0 && ++position[i - 1] == program_.loops()[i - 1]) {
        position[--i] = 0;
      }
      if (i == 0) return positions;
    }
  }

  absl::Status RunSteps() {
    double steps = 1;
    for (const int64_t count : program_.loops()) {
      steps *= static_cast<double>(count);
    }
    if (steps > static_cast<double>(max_cycles_)) return TooLong();
    const std::vector<std::vector<int64_t>> positions = Positions();
    const auto buffers = static_cast<size_t>(program_.buffers());
    // The last transfer of the loads of each step, and of the stores of each
    // result tile; -1: none.
    std::vector<int64_t> loads;
    std::deque<int64_t> stores;
    const auto load_next = [&]() -> absl::Status {
      if (loads.size() == positions.size()) return absl::OkStatus();
      int64_t last = -1;
      for (const Transfer& load :
           program_.WorkAt(positions[loads.size()]).loads) {
        HONE_RETURN_IF_ERROR(Issue(load, last));
      }
      loads.push_back(last);
      return absl::OkStatus();
    };
    for (size_t i = 0; i + 1 < buffers; ++i) HONE_RETURN_IF_ERROR(load_next());
    for (size_t s = 0; s < positions.size(); ++s) {
      const StepWork& work = program_.WorkAt(positions[s]);
      ++result_.steps;
      result_.busy[static_cast<size_t>(Unit::kScalar)] += tpu_.step_cycles;
      HONE_RETURN_IF_ERROR(Pass(tpu_.step_cycles));
      HONE_RETURN_IF_ERROR(load_next());
      while (!memory_.IsDone(loads[s])) {
        ++result_.load_wait;
        HONE_RETURN_IF_ERROR(Cycle());
      }
      if (!work.stores.empty() && stores.size() >= buffers) {
        while (!memory_.IsDone(stores.front())) {
          ++result_.store_wait;
          HONE_RETURN_IF_ERROR(Cycle());
        }
        stores.pop_front();
      }
      for (const Segment& segment : work.compute->segments) {
        HONE_RETURN_IF_ERROR(RunSegment(segment));
      }
      if (work.has_epilogue) {
        for (const Segment& segment : work.compute->epilogue) {
          HONE_RETURN_IF_ERROR(RunSegment(segment));
        }
      }
      int64_t last = -1;
      for (const Transfer& store : work.stores) {
        HONE_RETURN_IF_ERROR(Issue(store, last));
      }
      if (!work.stores.empty()) stores.push_back(last);
    }
    return absl::OkStatus();
  }

  absl::Status TooLong() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("the kernel is not done after ", max_cycles_, " cycles"));
  }

  absl::Status Cycle() {
    if (++result_.cycles > max_cycles_) return TooLong();
    result_.transfer += memory_.IsBusy() ? 1 : 0;
    memory_.Step();
    return absl::OkStatus();
  }

  absl::Status Pass(int64_t cycles) {
    for (int64_t i = 0; i < cycles; ++i) HONE_RETURN_IF_ERROR(Cycle());
    return absl::OkStatus();
  }

  absl::Status Issue(const Transfer& transfer, int64_t& number) {
    HONE_RETURN_IF_ERROR(Pass(transfer.setup_cycles));
    while (memory_.outstanding() >= tpu_.outstanding_transfers) {
      ++result_.issue_wait;
      HONE_RETURN_IF_ERROR(Cycle());
    }
    result_.bytes += transfer.bytes;
    number = memory_.Enqueue(transfer.cycles);
    return absl::OkStatus();
  }

  absl::Status RunSegment(const Segment& segment) {
    std::array<int64_t, kUnitCount> left = segment.busy;
    while (*std::max_element(left.begin(), left.end()) > 0) {
      const bool is_taken = memory_.TakesPort();
      for (size_t u = 0; u < kUnitCount; ++u) {
        const auto unit = static_cast<Unit>(u);
        const bool uses_port = unit == Unit::kLoad || unit == Unit::kStore;
        if (left[u] == 0 || (is_taken && uses_port)) continue;
        --left[u];
        ++result_.busy[u];
      }
      HONE_RETURN_IF_ERROR(Cycle());
    }
    result_.stall += segment.stall;
    return Pass(segment.stall);
  }

  TileProgram& program_;
  const Tpu& tpu_;
  const int64_t max_cycles_;
  Memory memory_;
  EngineResult result_;
};

}  // namespace

absl::StatusOr<EngineResult> RunByCycles(TileProgram& program,
                                         int64_t max_cycles) {
  return CycleEngine(program, max_cycles).Run();
}

}  // namespace hone::backends
