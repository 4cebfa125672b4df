#include "optimizers/policies/first_game.h"

#include <cstdint>

#include "absl/types/span.h"

namespace hone::optimizers::policies {
namespace {

constexpr int32_t kMovesOfPart = 8;

}  // namespace

FirstGame::FirstGame(const learning::Game& game, const learning::Scorer& scorer)
    : game_(game), scorer_(scorer), played_(game.Start()) {}

std::optional<learning::Trajectory> FirstGame::NextPart() {
  if (played_.end.over() ||
      !learning::PlayOn(game_, scorer_, learning::ChooseBestAndGoOn,
                        kMovesOfPart, absl::MakeSpan(&played_, 1))
           .ok()) {
    return std::nullopt;
  }
  return played_;
}

}  // namespace hone::optimizers::policies
