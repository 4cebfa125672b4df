#include "optimizers/moves.h"

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"

namespace hone::optimizers {
namespace {

// Draws of a neighbor before an infeasible one is taken.
constexpr int kMaxDraws = 32;

std::ptrdiff_t Below(Rng& rng, size_t bound) {
  return static_cast<std::ptrdiff_t>(rng.Below(bound));
}

// `actions` made legal again where legality depends on the state: of those that
// are illegal where they come, the first is exchanged for a legal one and the
// others are left out.
std::vector<int32_t> Repair(const space::SequentialProblem& problem,
                            const std::vector<int32_t>& actions, Rng& rng) {
  if (problem.legal_everywhere()) return actions;
  std::vector<int32_t> repaired;
  space::StatePtr state = problem.InitialState();
  bool exchanged = false;
  for (int32_t action : actions) {
    absl::StatusOr<space::StatePtr> next = problem.Step(state, action);
    if (!next.ok()) {
      if (exchanged) continue;
      exchanged = true;
      const std::vector<int32_t> legal = problem.LegalActions(state);
      if (legal.empty()) break;
      action = legal[rng.Below(legal.size())];
      next = problem.Step(state, action);
      if (!next.ok()) continue;
    }
    repaired.push_back(action);
    state = *std::move(next);
  }
  return repaired;
}

}  // namespace

Path Follow(const space::SequentialProblem& problem,
            const std::vector<int32_t>& actions) {
  Path path{problem.InitialState(), {}};
  // The number of actions from the start to each state of the path.
  absl::flat_hash_map<Hash128, size_t> length;
  std::vector<Hash128> way = {path.state->key()};
  length[way[0]] = 0;
  for (int32_t action : actions) {
    absl::StatusOr<space::StatePtr> next = problem.Step(path.state, action);
    if (!next.ok()) return {};
    path.state = *std::move(next);
    const Hash128 key = path.state->key();
    if (auto it = length.find(key); it != length.end()) {
      const size_t kept = it->second;
      while (path.actions.size() > kept) {
        length.erase(way.back());
        way.pop_back();
        path.actions.pop_back();
      }
      continue;
    }
    path.actions.push_back(action);
    way.push_back(key);
    length[key] = path.actions.size();
  }
  return path;
}

std::vector<int32_t> EditSequence(const space::SequentialProblem& problem,
                                  std::vector<int32_t> actions, Rng& rng) {
  // The actions legal at the start are a good guess for other states.
  const std::vector<int32_t> legal =
      problem.LegalActions(problem.InitialState());
  if (legal.empty() || problem.max_steps() == 0) return actions;
  const auto random_action = [&] { return legal[rng.Below(legal.size())]; };
  constexpr uint64_t kInsert = 0, kRemove = 1, kReplace = 2, kEdits = 4;
  const bool may_insert =
      actions.size() < static_cast<size_t>(problem.max_steps());
  uint64_t edit = actions.empty() ? kInsert : rng.Below(kEdits);
  if (edit == kInsert && !may_insert) edit = kReplace;
  switch (edit) {
    case kInsert:
      actions.insert(actions.begin() + Below(rng, actions.size() + 1),
                     random_action());
      break;
    case kRemove:
      actions.erase(actions.begin() + Below(rng, actions.size()));
      break;
    case kReplace:
      actions[rng.Below(actions.size())] = random_action();
      break;
    default: {  // A move.
      const auto from = actions.begin() + Below(rng, actions.size());
      const int32_t action = *from;
      actions.erase(from);
      actions.insert(actions.begin() + Below(rng, actions.size() + 1), action);
    }
  }
  return Repair(problem, actions, rng);
}

std::vector<int32_t> EditAssignment(const space::AssignmentProblem& problem,
                                    const std::vector<int32_t>& values,
                                    Rng& rng) {
  std::vector<int32_t> result = values;
  if (values.empty()) return result;
  const auto size = [&](size_t variable) {
    return problem.domain_size(static_cast<int32_t>(variable));
  };
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    result = values;
    const size_t a = rng.Below(values.size());
    if (rng.Below(2) == 0) {
      if (size(a) < 2) continue;
      // One of the other values: those from the present one on move up.
      result[a] =
          static_cast<int32_t>(rng.Below(static_cast<uint64_t>(size(a) - 1)));
      if (result[a] >= values[a]) ++result[a];
    } else {
      const size_t b = rng.Below(values.size());
      if (values[a] == values[b]) continue;
      if (values[a] >= size(b) || values[b] >= size(a)) continue;
      std::swap(result[a], result[b]);
    }
    if (problem.IsFeasiblePrefix(result)) break;
  }
  return result;
}

std::vector<int32_t> Perturb(const space::Problem& problem,
                             std::vector<int32_t> choices, Rng& rng) {
  do {
    choices = problem.sequential() != nullptr
                  ? EditSequence(*problem.sequential(), choices, rng)
                  : EditAssignment(*problem.assignment(), choices, rng);
  } while (rng.Below(2) == 0);
  return choices;
}

}  // namespace hone::optimizers
