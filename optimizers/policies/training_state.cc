#include "optimizers/policies/training_state.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"

namespace hone::optimizers::policies {
namespace {

constexpr int kVersion = 4;
// A digest of the rest comes first: what is damaged is not even parsed.
constexpr size_t kDigestSize = 64;

std::string Bytes(const nlohmann::json& json) {
  const nlohmann::json::binary_t& bytes = json.get_binary();
  return {bytes.begin(), bytes.end()};
}

nlohmann::json Binary(const std::string& bytes) {
  return nlohmann::json::binary({bytes.begin(), bytes.end()});
}

}  // namespace

absl::StatusOr<std::optional<TrainingState>> ReadTrainingState(
    const std::string& path, absl::string_view fingerprint) {
  std::ifstream in(path, std::ios::binary);
  if (path.empty() || !in) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(in),
                          std::istreambuf_iterator<char>()};
  const absl::string_view digest =
      absl::string_view(bytes).substr(0, kDigestSize);
  const absl::string_view rest = absl::string_view(bytes).substr(digest.size());
  TrainingState state;
  try {
    if (Sha256Hex(rest) != digest) throw std::runtime_error("digest");
    const nlohmann::json json = nlohmann::json::from_cbor(rest);
    if (json.at("version") != kVersion) throw std::runtime_error("version");
    state.fingerprint = json.at("fingerprint");
    state.label_rounds = json.at("label_rounds");
    state.update = json.at("update");
    state.seconds_before = json.at("seconds");
    state.validation = json.at("validation");
    state.best_validation = json.at("best_validation");
    state.best = json.at("best");
    state.weights = Bytes(json.at("weights"));
    state.gradient_descent = Bytes(json.at("gradient_descent"));
  } catch (const std::exception&) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": not the state of a training, expected one that `hone train` "
        "wrote"));
  }
  if (state.fingerprint != fingerprint) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": belongs to a training on other problems, with other actions or with "
        "other options; remove it or name another file"));
  }
  return state;
}

absl::Status WriteTrainingState(const std::string& path,
                                const TrainingState& state) {
  if (path.empty()) return absl::OkStatus();
  const nlohmann::json json = {
      {"version", kVersion},
      {"fingerprint", state.fingerprint},
      {"label_rounds", state.label_rounds},
      {"update", state.update},
      {"seconds", state.seconds_before},
      {"validation", state.validation},
      {"best_validation", state.best_validation},
      {"best", state.best},
      {"weights", Binary(state.weights)},
      {"gradient_descent", Binary(state.gradient_descent)}};
  const std::vector<uint8_t> bytes = nlohmann::json::to_cbor(json);
  const absl::string_view rest(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size());
  return WriteFileAtomically(path, absl::StrCat(Sha256Hex(rest), rest));
}

}  // namespace hone::optimizers::policies
