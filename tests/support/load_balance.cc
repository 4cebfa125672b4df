#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/toy_problems.h"

namespace hone::testing {
namespace {

struct Jobs {
  std::vector<double> weights;  // [jobs]
  // [jobs]: the other jobs that each one exchanges data with.
  std::vector<std::vector<int32_t>> partners;
  int32_t machines = 1;
  int32_t most = 1;  // jobs of a machine

  // The load that two partners add to both machines if they are apart.
  static constexpr double kExchange = 2;
};

Jobs MakeJobs(int32_t jobs, int32_t machines) {
  Jobs made;
  made.machines = machines;
  made.most = (jobs + machines - 1) / machines;
  made.partners.resize(static_cast<size_t>(jobs));
  for (int32_t j = 0; j < jobs; ++j) {
    made.weights.push_back(3.0 + j * 7 % 11);
    // Rings of two lengths.
    for (const int32_t other : {(j + 1) % jobs, (j + 3) % jobs}) {
      if (other == j) continue;
      made.partners[static_cast<size_t>(j)].push_back(other);
      made.partners[static_cast<size_t>(other)].push_back(j);
    }
  }
  return made;
}

// The load of each machine, from the definition.
std::vector<double> LoadsOf(const Jobs& jobs,
                            absl::Span<const int32_t> machine_of) {
  std::vector<double> loads(static_cast<size_t>(jobs.machines));
  for (size_t j = 0; j < machine_of.size(); ++j) {
    double& load = loads[static_cast<size_t>(machine_of[j])];
    load += jobs.weights[j];
    for (const int32_t other : jobs.partners[j]) {
      if (machine_of[static_cast<size_t>(other)] != machine_of[j]) {
        load += Jobs::kExchange;
      }
    }
  }
  return loads;
}

std::vector<int32_t> CountsOf(const Jobs& jobs,
                              absl::Span<const int32_t> machine_of) {
  std::vector<int32_t> counts(static_cast<size_t>(jobs.machines));
  for (const int32_t machine : machine_of) {
    ++counts[static_cast<size_t>(machine)];
  }
  return counts;
}

double ExcessOf(const Jobs& jobs, absl::Span<const int32_t> counts) {
  double excess = 0;
  for (const int32_t count : counts) excess += std::max(0, count - jobs.most);
  return excess;
}

// Loads and counts that follow the moves of jobs.
class LocalBalance final : public space::LocalState {
 public:
  LocalBalance(std::shared_ptr<const Jobs> jobs,
               absl::Span<const int32_t> machine_of)
      : jobs_(std::move(jobs)),
        machine_of_(machine_of.begin(), machine_of.end()),
        loads_(LoadsOf(*jobs_, machine_of)),
        counts_(CountsOf(*jobs_, machine_of)) {}

  absl::Span<const int32_t> values() const override { return machine_of_; }

  space::LocalScore score() const override {
    const double most = *std::max_element(loads_.begin(), loads_.end());
    double squares = 0;
    for (const double load : loads_) squares += load * load;
    return {{ExcessOf(*jobs_, counts_), most}, most + squares / 1000};
  }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    tried_.assign(changes.begin(), changes.end());
    std::vector<space::Change> back;
    for (const space::Change& change : changes) {
      back.push_back({change.variable, MachineOf(change.variable)});
      Move(change);
    }
    const space::LocalScore score = this->score();
    for (const space::Change& change : back) Move(change);
    return score;
  }

  void Commit() override {
    for (const space::Change& change : tried_) Move(change);
  }

  // Moves a job, or exchanges two.
  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    changes.clear();
    if (jobs_->machines == 1 || ++proposals_ % 3 == 0) return;
    const auto draw = [&rng](size_t bound) {
      return static_cast<int32_t>(rng.Below(bound));
    };
    const int32_t job = draw(machine_of_.size());
    const int32_t other = draw(machine_of_.size());
    if (rng.Below(2) == 0 && MachineOf(job) != MachineOf(other)) {
      changes = {{job, MachineOf(other)}, {other, MachineOf(job)}};
    } else {
      const int32_t step = 1 + draw(static_cast<size_t>(jobs_->machines - 1));
      changes = {{job, (MachineOf(job) + step) % jobs_->machines}};
    }
  }

 private:
  int32_t MachineOf(int32_t job) const {
    return machine_of_[static_cast<size_t>(job)];
  }

  void Move(const space::Change& change) {
    const auto job = static_cast<size_t>(change.variable);
    const int32_t from = machine_of_[job];
    const int32_t to = change.value;
    if (from == to) return;
    AddExchanges(job, -Jobs::kExchange);
    loads_[static_cast<size_t>(from)] -= jobs_->weights[job];
    --counts_[static_cast<size_t>(from)];
    machine_of_[job] = to;
    loads_[static_cast<size_t>(to)] += jobs_->weights[job];
    ++counts_[static_cast<size_t>(to)];
    AddExchanges(job, Jobs::kExchange);
  }

  void AddExchanges(size_t job, double load) {
    for (const int32_t partner : jobs_->partners[job]) {
      if (MachineOf(partner) == machine_of_[job]) continue;
      loads_[static_cast<size_t>(MachineOf(partner))] += load;
      loads_[static_cast<size_t>(machine_of_[job])] += load;
    }
  }

  const std::shared_ptr<const Jobs> jobs_;
  std::vector<int32_t> machine_of_;
  std::vector<double> loads_;    // [machines]
  std::vector<int32_t> counts_;  // [machines]
  std::vector<space::Change> tried_;
  int64_t proposals_ = 0;
};

// Takes machines that are full from the jobs that are not there.
bool LeaveFullMachines(const Jobs& jobs, std::vector<uint64_t>& domains) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t machine = 0; machine < jobs.machines; ++machine) {
      const uint64_t only = uint64_t{1} << machine;
      const auto count = std::count(domains.begin(), domains.end(), only);
      if (count > jobs.most) return false;
      if (count < jobs.most) continue;
      for (uint64_t& left : domains) {
        if (left == only || (left & only) == 0) continue;
        left &= ~only;
        changed = true;
        if (left == 0) return false;
      }
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<space::Problem> LoadBalance(int32_t jobs, int32_t machines) {
  const auto all = std::make_shared<const Jobs>(MakeJobs(jobs, machines));
  TableProblem::Spec spec;
  spec.domains.assign(static_cast<size_t>(jobs), machines);
  for (int32_t j = 0; j < jobs; ++j) {
    spec.default_values.push_back(j / all->most);
    for (const int32_t other : all->partners[static_cast<size_t>(j)]) {
      if (other > j) spec.edges.emplace_back(j, other);
    }
  }
  spec.cost = [all](absl::Span<const int32_t> values) {
    const std::vector<double> loads = LoadsOf(*all, values);
    return *std::max_element(loads.begin(), loads.end());
  };
  spec.violation = [all](absl::Span<const int32_t> values) {
    return ExcessOf(*all, CountsOf(*all, values));
  };
  spec.propagate = [all](std::vector<uint64_t>& domains) {
    return LeaveFullMachines(*all, domains);
  };
  spec.make_local = [all](absl::Span<const int32_t> values) {
    return std::make_unique<LocalBalance>(all, values);
  };
  spec.reference_cost = 50;
  return std::make_unique<TableProblem>(std::move(spec));
}

}  // namespace hone::testing
