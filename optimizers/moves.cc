#include "optimizers/moves.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/hash.h"
#include "space/complete.h"

namespace hone::optimizers {
namespace {

// Draws of a neighbor or an assignment before the search for one is given up.
constexpr int kMaxDraws = 32;

std::ptrdiff_t Below(Rng& rng, size_t bound) {
  return static_cast<std::ptrdiff_t>(rng.Below(bound));
}

// Draws of an edit that leads elsewhere, and of an action that has
// substitutes.
constexpr int kMaxEdits = 8;
// One edit in so many is one of the expanded sequence. They are many and change
// little: with half of them, a search of 48 trials ended behind one without
// any.
constexpr uint64_t kExpansionShare = 8;

enum Edit : uint64_t { kInsert, kRemove, kReplace, kMove };

// Returns the actions that are legal where they come, and where they lead.
Path LegalPart(const space::SequentialProblem& problem,
               const std::vector<int32_t>& actions) {
  Path path{problem.InitialState(), {}};
  for (const int32_t action : actions) {
    absl::StatusOr<space::StatePtr> next = problem.Step(path.state, action);
    if (!next.ok()) continue;
    path.state = *std::move(next);
    path.actions.push_back(action);
  }
  return path;
}

// The state in which the action at `position` of a legal sequence is taken.
space::StatePtr StateAt(const space::SequentialProblem& problem,
                        const std::vector<int32_t>& actions, size_t position) {
  return LegalPart(problem,
                   {actions.begin(),
                    actions.begin() + static_cast<std::ptrdiff_t>(position)})
      .state;
}

// Moves a random action to a random place.
void MoveOne(std::vector<int32_t>& actions, Rng& rng) {
  const auto from = actions.begin() + Below(rng, actions.size());
  const int32_t action = *from;
  actions.erase(from);
  actions.insert(actions.begin() + Below(rng, actions.size() + 1), action);
}

// Exchanges one of a few random actions for a substitute. Returns false if they
// have none.
bool Substitute(const space::SequentialProblem& problem,
                std::vector<int32_t>& actions, Rng& rng) {
  for (int draw = 0; draw < kMaxEdits; ++draw) {
    const size_t position = rng.Below(actions.size());
    const std::vector<int32_t> substitutes = problem.Substitutes(
        StateAt(problem, actions, position), actions[position]);
    if (substitutes.empty()) continue;
    actions[position] = substitutes[rng.Below(substitutes.size())];
    return true;
  }
  return false;
}

// One edit where legality depends on the state: what comes in is legal there.
// Half of them exchange an action for a substitute, if there is one.
std::vector<int32_t> EditByState(const space::SequentialProblem& problem,
                                 std::vector<int32_t> actions, Rng& rng) {
  if (!actions.empty() && rng.Below(2) == 0 &&
      Substitute(problem, actions, rng)) {
    return actions;
  }
  const bool may_insert =
      actions.size() < static_cast<size_t>(problem.max_steps());
  uint64_t edit = actions.empty() ? kInsert : rng.Below(kMove + 1);
  if (edit == kInsert && !may_insert) edit = kReplace;
  if (edit == kMove) {
    MoveOne(actions, rng);
    return actions;
  }
  const size_t position = rng.Below(actions.size() + (edit == kInsert ? 1 : 0));
  const auto place = actions.begin() + static_cast<std::ptrdiff_t>(position);
  if (edit == kRemove) {
    actions.erase(place);
    return actions;
  }
  const std::vector<int32_t> legal =
      problem.LegalActions(StateAt(problem, actions, position));
  if (legal.empty()) return actions;
  const int32_t action = legal[rng.Below(legal.size())];
  if (edit == kInsert) {
    actions.insert(place, action);
  } else {
    *place = action;
  }
  return actions;
}

// One edit where every action is legal everywhere.
std::vector<int32_t> EditAnywhere(const space::SequentialProblem& problem,
                                  std::vector<int32_t> actions, Rng& rng) {
  const std::vector<int32_t> legal =
      problem.LegalActions(problem.InitialState());
  if (legal.empty()) return actions;
  const auto random_action = [&] { return legal[rng.Below(legal.size())]; };
  const bool may_insert =
      actions.size() < static_cast<size_t>(problem.max_steps());
  uint64_t edit = actions.empty() ? kInsert : rng.Below(kMove + 1);
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
    default:
      MoveOne(actions, rng);
  }
  return actions;
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
  if (problem.max_steps() == 0) return actions;
  if (problem.legal_everywhere()) {
    return EditAnywhere(problem, std::move(actions), rng);
  }
  const Path from = LegalPart(problem, actions);
  Path edited = from;
  for (int draw = 0; draw < kMaxEdits; ++draw) {
    // An action that makes many decisions at once, or one for each of them.
    edited = LegalPart(problem, EditByState(problem,
                                            rng.Below(kExpansionShare) == 0
                                                ? problem.Expand(from.actions)
                                                : from.actions,
                                            rng));
    if (edited.state->key() != from.state->key()) break;
  }
  return edited.actions;
}

AssignmentEditor::AssignmentEditor(const space::AssignmentProblem& problem)
    : problem_(problem),
      domains_(problem.MakeDomains()),
      order_(static_cast<size_t>(problem.variable_count())) {
  std::iota(order_.begin(), order_.end(), 0);
}

std::vector<int32_t> AssignmentEditor::Edit(const std::vector<int32_t>& values,
                                            Rng& rng) {
  if (values.empty()) return values;
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    std::vector<int32_t> wanted = values;
    const size_t a = rng.Below(values.size());
    size_t b = a;
    if (rng.Below(2) == 0) {
      const uint64_t others =
          domains_->Get(static_cast<int32_t>(a)) & ~(uint64_t{1} << values[a]);
      if (others == 0) continue;
      wanted[a] = space::DrawValue(others, rng);
    } else {
      b = rng.Below(values.size());
      if (values[a] == values[b]) continue;
      std::swap(wanted[a], wanted[b]);
    }
    // What was edited comes first: the others make room for it.
    const int32_t mark = domains_->Mark();
    std::optional<std::vector<int32_t>> edited;
    if (domains_->Narrow(static_cast<int32_t>(a), uint64_t{1} << wanted[a]) &&
        domains_->Narrow(static_cast<int32_t>(b), uint64_t{1} << wanted[b])) {
      edited = space::Repair(*domains_, order_, wanted, rng);
    }
    domains_->Undo(mark);
    if (edited && *edited != values) return *std::move(edited);
  }
  return values;
}

std::vector<int32_t> AssignmentEditor::Draw(Rng& rng,
                                            const std::function<bool()>& stop) {
  for (int attempt = 0; attempt < kMaxDraws; ++attempt) {
    if (auto values = problem_.Draw(*domains_, rng, stop)) {
      return *std::move(values);
    }
    if (stop && stop()) break;
  }
  return problem_.DefaultCandidate().choices;
}

std::optional<std::vector<int32_t>> AssignmentEditor::Extend(
    absl::Span<const int32_t> values, int32_t length, Rng& rng) {
  const int32_t mark = domains_->Mark();
  bool possible = true;
  for (int32_t v = 0; v < length && possible; ++v) {
    possible =
        domains_->Narrow(v, uint64_t{1} << values[static_cast<size_t>(v)]);
  }
  std::optional<std::vector<int32_t>> extended;
  if (possible) extended = space::Repair(*domains_, order_, values, rng);
  domains_->Undo(mark);
  return extended;
}

Editor::Editor(const space::Problem& problem)
    : sequence_(problem.sequential()) {
  if (sequence_ == nullptr) assignment_.emplace(*problem.assignment());
}

std::vector<int32_t> Editor::Perturb(std::vector<int32_t> choices, Rng& rng) {
  do {
    choices = sequence_ != nullptr ? EditSequence(*sequence_, choices, rng)
                                   : assignment_->Edit(choices, rng);
  } while (rng.Below(2) == 0);
  return choices;
}

Hash128 HashOf(const std::vector<int32_t>& choices) {
  return FastHash({reinterpret_cast<const char*>(choices.data()),
                   choices.size() * sizeof(int32_t)});
}

}  // namespace hone::optimizers
