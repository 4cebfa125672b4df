#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "backends/tpu_sim/engine.h"
#include "base/division.h"
#include "base/saturating.h"
#include "hlo/tiles/register_layout.h"

namespace hone::backends {

int64_t StealPeriod(const Tpu& tpu) {
  return std::max<int64_t>(
      2, static_cast<int64_t>(static_cast<double>(hlo::kRegisterBytes) /
                              tpu.hbm_bytes_per_cycle()));
}

int64_t TransferLatency(const Tpu& tpu) {
  return CyclesOf(tpu.hbm_latency_seconds * tpu.clock_hz);
}

namespace {

// States of a loop to remember when looking for one that comes again.
constexpr size_t kMaxStates = 128;
// Steps to simulate one by one before the rest is extrapolated; fewer of
// kernels of thousands of instructions, by the memory that they take.
constexpr int64_t kMaxSteps = 1 << 16;
constexpr int64_t kLeastSteps = 1 << 10;
constexpr int64_t kMaxStepInstructions = 1 << 24;

// A transfer that the memory does in the cycles start … end-1.
struct Slot {
  int64_t start = 0;
  int64_t end = 0;
};

class EventEngine {
 public:
  explicit EventEngine(TileProgram& program)
      : program_(program),
        tpu_(program.tpu()),
        steal_(StealPeriod(program.tpu())),
        latency_(TransferLatency(program.tpu())),
        most_steps_(
            std::clamp(kMaxStepInstructions /
                           std::max<int64_t>(program.instruction_count(), 1),
                       kLeastSteps, kMaxSteps)),
        position_(program.loops().size()),
        ahead_(program.loops().size()) {}

  EngineResult Run() {
    now_ = tpu_.launch_cycles;
    if (!program_.is_empty()) {
      // Loads of the steps before that of the first step's own issue.
      for (int32_t i = 0; i + 1 < program_.buffers(); ++i) IssueNextLoads();
      RunLoop(0);
    }
    int64_t end = now_;
    for (const Slot& slot : slots_) end = std::max(end, slot.end);
    result_.cycles = std::min(end, kMaxRunCycles);
    return result_;
  }

 private:
  // Runs the iterations of loop `loop` and those inside of it.
  void RunLoop(size_t loop) {
    if (loop == position_.size()) return Step();
    const int64_t count = program_.loops()[loop];
    // Iterations whose work and loads are those of iterations of the same class
    // end here: not at its end, where steps look ahead beyond it.
    int64_t alike_end = 0;
    int64_t last_alike = 0;
    std::map<std::vector<int64_t>, std::pair<int64_t, Counters>> states;
    for (int64_t i = 0; i < count; ++i) {
      if (i >= alike_end) {
        alike_end = program_.StepsAlikeEnd(loop, i);
        last_alike = alike_end - 1 - program_.buffers();
        states.clear();
      }
      if (i < last_alike && states.size() < kMaxStates) {
        const auto [known, is_new] = states.try_emplace(State(), i, Snapshot());
        if (!is_new) {
          const int64_t period = i - known->second.first;
          i += Skip((last_alike - i) / period, period, loop,
                    known->second.second);
          states.clear();
        }
      }
      position_[loop] = i;
      const Counters before = Snapshot();
      RunLoop(loop + 1);
      if (steps_run_ > most_steps_ && i + 1 < count) {
        result_.is_exact = false;
        Skip(count - 1 - i, 1, loop, before);
        break;
      }
    }
    position_[loop] = 0;
  }

  // What a loop adds up.
  struct Counters {
    int64_t now = 0;
    EngineResult result;
  };
  Counters Snapshot() const { return {now_, result_}; }

  // Passes over `times` repetitions of `period` iterations, each of which does
  // what happened since `before`. Returns the iterations.
  int64_t Skip(int64_t times, int64_t period, size_t loop,
               const Counters& before) {
    const auto grown = [times](int64_t from, int64_t to) {
      return std::min(SaturatingAdd(to, SaturatingMultiply(times, to - from)),
                      kMaxRunCycles);
    };
    for (size_t u = 0; u < kUnitCount; ++u) {
      result_.busy[u] = grown(before.result.busy[u], result_.busy[u]);
    }
    for (const auto counter :
         {&EngineResult::transfer, &EngineResult::load_wait,
          &EngineResult::store_wait, &EngineResult::issue_wait,
          &EngineResult::stall, &EngineResult::steps}) {
      result_.*counter = grown(before.result.*counter, result_.*counter);
    }
    result_.bytes +=
        static_cast<double>(times) * (result_.bytes - before.result.bytes);
    const int64_t now = grown(before.now, now_);
    const int64_t shift = now - now_;
    now_ = now;
    for (Slot& slot : slots_) {
      slot.start += shift;
      slot.end += shift;
    }
    for (int64_t& ready : loads_ready_) ready += shift;
    for (int64_t& done : stores_done_) done += shift;
    const int64_t skipped = times * period;
    Carry(loop, skipped);
    return skipped;
  }

  // Moves the step that is looked ahead to on by iterations of a loop.
  void Carry(size_t loop, int64_t iterations) {
    if (is_ahead_done_) return;
    ahead_[loop] += iterations;
    for (size_t i = loop; ahead_[i] >= program_.loops()[i]; --i) {
      ahead_[i] -= program_.loops()[i];
      if (i == 0) {
        is_ahead_done_ = true;
        return;
      }
      ++ahead_[i - 1];
    }
  }

  // All that the future depends on, relative to now.
  std::vector<int64_t> State() {
    while (!slots_.empty() && slots_.front().end <= now_) slots_.pop_front();
    std::vector<int64_t> state;
    for (const Slot& slot : slots_) {
      state.push_back(slot.start - now_);
      state.push_back(slot.end - now_);
    }
    state.push_back(-1);
    for (const int64_t ready : loads_ready_) {
      state.push_back(std::max<int64_t>(ready - now_, 0));
    }
    state.push_back(-1);
    for (const int64_t done : stores_done_) {
      state.push_back(std::max<int64_t>(done - now_, 0));
    }
    return state;
  }

  // Issues one transfer and returns when it is done.
  int64_t Issue(const Transfer& transfer) {
    now_ += transfer.setup_cycles;
    while (!slots_.empty() && slots_.front().end <= now_) slots_.pop_front();
    const auto limit = static_cast<size_t>(tpu_.outstanding_transfers);
    if (slots_.size() >= limit) {
      const int64_t free = slots_[slots_.size() - limit].end;
      result_.issue_wait += free - now_;
      now_ = free;
      while (!slots_.empty() && slots_.front().end <= now_) slots_.pop_front();
    }
    const int64_t start =
        std::max(now_ + latency_, slots_.empty() ? 0 : slots_.back().end);
    slots_.push_back({start, start + transfer.cycles});
    result_.transfer += transfer.cycles;
    result_.bytes += transfer.bytes;
    return slots_.back().end;
  }

  // Issues the loads of the next step that none were issued of yet.
  void IssueNextLoads() {
    if (is_ahead_done_) return;
    int64_t ready = 0;
    for (const Transfer& load : program_.WorkAt(ahead_).loads) {
      ready = Issue(load);
    }
    loads_ready_.push_back(ready);
    if (ahead_.empty()) {
      is_ahead_done_ = true;
    } else {
      Carry(ahead_.size() - 1, 1);
    }
  }

  void Step() {
    ++steps_run_;
    ++result_.steps;
    const StepWork& work = program_.WorkAt(position_);
    now_ += tpu_.step_cycles;
    result_.busy[static_cast<size_t>(Unit::kScalar)] += tpu_.step_cycles;
    IssueNextLoads();
    if (!loads_ready_.empty()) {
      result_.load_wait += WaitUntil(loads_ready_.front());
      loads_ready_.pop_front();
    }
    const auto buffers = static_cast<size_t>(program_.buffers());
    if (!work.stores.empty() && stores_done_.size() >= buffers) {
      result_.store_wait += WaitUntil(stores_done_.front());
      stores_done_.pop_front();
    }
    for (const Segment& segment : work.compute->segments) Run(segment);
    if (work.has_epilogue) {
      for (const Segment& segment : work.compute->epilogue) Run(segment);
    }
    int64_t done = 0;
    for (const Transfer& store : work.stores) done = Issue(store);
    if (!work.stores.empty()) stores_done_.push_back(done);
  }

  int64_t WaitUntil(int64_t time) {
    const int64_t wait = std::max<int64_t>(time - now_, 0);
    now_ += wait;
    return wait;
  }

  void Run(const Segment& segment) {
    int64_t longest = 0;
    for (size_t u = 0; u < kUnitCount; ++u) {
      result_.busy[u] += segment.busy[u];
      longest = std::max(longest, segment.busy[u]);
    }
    const int64_t port = std::max(segment[Unit::kLoad], segment[Unit::kStore]);
    now_ = std::max(now_ + longest, EndOfPortWork(port)) + segment.stall;
    result_.stall += segment.stall;
  }

  // Returns when loads or stores of `work` cycles that begin now are done:
  // cycle start + k of a transfer is lost if k is a multiple of the period.
  int64_t EndOfPortWork(int64_t work) const {
    int64_t time = now_;
    for (const Slot& slot : slots_) {
      if (slot.end <= time) continue;
      // Until the transfer begins nothing is lost.
      const int64_t before =
          std::min(work, std::max<int64_t>(slot.start - time, 0));
      time += before;
      work -= before;
      if (work == 0) return time;
      // Cycles of this transfer that are left to loads and stores.
      const auto free_until = [this](int64_t k) {
        return k - CeilDivide(k, steal_);
      };
      const int64_t from = time - slot.start;
      const int64_t length = slot.end - slot.start;
      const int64_t free = free_until(length) - free_until(from);
      if (free < work) {
        time = slot.end;
        work -= free;
        continue;
      }
      // The first k with so many free cycles before it.
      const int64_t wanted = free_until(from) + work;
      return slot.start + FirstWithFree(wanted);
    }
    return time + work;
  }

  // Returns the least k of whose cycles 0 … k-1 `wanted` are free: of each
  // period the first is not.
  int64_t FirstWithFree(int64_t wanted) const {
    const int64_t each = steal_ - 1;
    const int64_t whole = (wanted - 1) / each;
    return whole * steal_ + 1 + (wanted - whole * each);
  }

  TileProgram& program_;
  const Tpu& tpu_;
  const int64_t steal_;
  const int64_t latency_;
  int64_t now_ = 0;
  const int64_t most_steps_;
  int64_t steps_run_ = 0;
  std::vector<int64_t> position_;
  // The step whose loads are issued next.
  std::vector<int64_t> ahead_;
  bool is_ahead_done_ = false;
  // Transfers in the order of issue that are not done.
  std::deque<Slot> slots_;
  // When the loads of this step and of later ones are done, and the last stores
  // of result tiles whose buffers are in use.
  std::deque<int64_t> loads_ready_;
  std::deque<int64_t> stores_done_;
  EngineResult result_;
};

}  // namespace

EngineResult RunByEvents(TileProgram& program) {
  return EventEngine(program).Run();
}

}  // namespace hone::backends
