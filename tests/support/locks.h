#ifndef HONE_TESTS_SUPPORT_LOCKS_H_
#define HONE_TESTS_SUPPORT_LOCKS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "space/composite_problem.h"

namespace hone::testing {

// A combination lock of four digits 0 … 7, set one after the other. It costs
// five times its scale, less the scale for each digit that is right.
class Lock final : public space::SequentialProblem {
 public:
  static constexpr int32_t kDigits = 8;
  static constexpr int32_t kLength = 4;

  Lock(double scale, std::vector<int32_t> key)
      : scale_(scale), key_(std::move(key)) {}

  absl::string_view unit() const override { return "turns"; }
  space::Candidate DefaultCandidate() const override { return {}; }
  space::StatePtr InitialState() const override;
  int32_t action_count() const override { return kDigits; }
  std::string ActionName(int32_t action) const override;
  int32_t max_steps() const override { return kLength; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr& state) const override;

 private:
  const double scale_;
  const std::vector<int32_t> key_;
};

// Locks, at most 7, each of which is a part. The action kDigits + i turns to
// lock i, which comes after those before it.
class Locks final : public space::CompositeProblem {
 public:
  explicit Locks(const std::vector<double>& scales);

  absl::string_view unit() const override { return "turns"; }
  space::Candidate DefaultCandidate() const override { return {}; }
  size_t part_count() const override { return locks_.size(); }
  const space::SequentialProblem& part(size_t index) const override {
    return *locks_[index];
  }
  space::Candidate Compose(
      absl::Span<const space::Candidate> parts) const override;
  absl::StatusOr<std::vector<space::Candidate>> Decompose(
      const space::Candidate& candidate) const override;

  space::StatePtr InitialState() const override;
  int32_t action_count() const override {
    return Lock::kDigits + static_cast<int32_t>(locks_.size());
  }
  std::string ActionName(int32_t action) const override;
  int32_t max_steps() const override {
    return static_cast<int32_t>(locks_.size()) * (Lock::kLength + 1);
  }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr& state) const override;

  int64_t measurements() const { return measurements_; }
  // Knows the costs.
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

 private:
  const std::vector<double> scales_;
  absl::StatusOr<space::Measurement> MeasureState(
      const space::StatePtr& state) const override;

  std::vector<std::unique_ptr<Lock>> locks_;
  mutable std::atomic<int64_t> measurements_ = 0;
};

// Three locks, of which one is dear. The least cost is kThreeLocksOptimum.
std::unique_ptr<space::Problem> ThreeLocks();
inline constexpr double kThreeLocksOptimum = 16;

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_LOCKS_H_
