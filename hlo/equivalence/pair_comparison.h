#ifndef HONE_HLO_EQUIVALENCE_PAIR_COMPARISON_H_
#define HONE_HLO_EQUIVALENCE_PAIR_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/judge.h"
#include "hlo/equivalence/literal_scan.h"
#include "hlo/equivalence/paired_runs.h"

namespace hone::hlo {

// Compares two modules on one input after the other: runs them, and judges the
// outputs in which they differ.
class PairComparison {
 public:
  PairComparison(const Module& a, const Module& b,
                 const EvaluateOptions& options);

  // Compares the modules on one input. Counts into `counts`, if not null.
  absl::Status Compare(absl::string_view input,
                       absl::Span<const Literal> arguments,
                       FloatCounts* counts = nullptr);
  // The same, but returns false, and judges nothing, where more than `max_nan`
  // of a's result is NaN.
  absl::StatusOr<bool> CompareUnlessNan(absl::string_view input,
                                        absl::Span<const Literal> arguments,
                                        double max_nan);
  // Compares on an input that takes a way of its own, or on which results may
  // be trivial: that its elements are verifiable is no evidence of others.
  absl::Status CompareSpecial(absl::string_view input,
                              absl::Span<const Literal> arguments);
  // Likewise, where rounding may spoil everything: only what the modules mean
  // is judged.
  absl::Status CompareMeaning(absl::string_view input,
                              absl::Span<const Literal> arguments);

  // Returns true if more than that share of a's result is NaN. Judges nothing.
  absl::StatusOr<bool> IsMuchNan(absl::Span<const Literal> arguments,
                                 double share);

  const MergedModule& merged() const { return runs_.merged(); }
  const EvaluateOptions& options() const { return runs_.options(); }
  void set_time_limit(absl::Duration limit) { runs_.set_time_limit(limit); }
  // The ways that control flow took so far.
  Coverage& coverage() { return coverage_; }
  const Coverage& coverage() const { return coverage_; }
  bool equal() const { return report_.equal; }
  // All but the method and control flow.
  EquivalenceReport Report() const;

 private:
  // An output that the modules compute differently, and what else is known of
  // it.
  struct Differing {
    Evidence evidence;
    // False where there was no memory to keep it.
    bool has_truth = false;
  };
  using DifferingOutputs = std::map<int64_t, Differing>;

  absl::StatusOr<bool> Run(absl::string_view input,
                           absl::Span<const Literal> arguments, double max_nan,
                           FloatCounts& counts);
  bool IsTooMuchNan(const FloatCounts& counts, double max_nan) const;

  // Finds the outputs that differ. Fails as soon as there is too much NaN.
  absl::Status RunInOwnTypes(absl::Span<const Literal> arguments,
                             double max_nan, FloatCounts& floats,
                             DifferingOutputs& differing);

  // Judges the outputs beside what double precision makes of them. Leaves those
  // that are wrong as far as that can tell.
  absl::Status JudgeByTruth(absl::string_view input,
                            absl::Span<const Literal> arguments,
                            DifferingOutputs& differing);

  // Judges outputs again beside runs with other rounding: first all beside one
  // of the original, which excuses most; then those that are left beside some
  // of both.
  absl::Status JudgeWithOtherRounding(absl::string_view input,
                                      absl::Span<const Literal> arguments,
                                      DifferingOutputs failed);

  // The first of these: leaves the outputs that are wrong beside that run.
  absl::Status JudgeWithNoiseOfA(absl::string_view input,
                                 absl::Span<const Literal> arguments,
                                 DifferingOutputs& failed);

  // Keeps what double precision made of an output, as far as that fits.
  void Keep(Differing& one, int64_t& kept_bytes) const;

  // Runs one partner with other rounding, by the number of the run.
  absl::Status MoveRounding(Partner partner,
                            absl::Span<const Literal> arguments, uint64_t run,
                            DifferingOutputs& group) const;

  // Takes as many of the outputs as can be judged at once.
  DifferingOutputs TakeGroup(DifferingOutputs& outputs) const;

  // Records the outputs that are right, and takes them out.
  void RecordRight(absl::string_view input, DifferingOutputs& outputs);

  absl::Status CompleteTruth(absl::Span<const Literal> arguments,
                             DifferingOutputs& group);

  std::vector<ArrayVerdict> Judge(int64_t output, const Differing& one) const;

  void Record(absl::string_view input, int64_t output,
              absl::Span<const ArrayVerdict> verdicts);

  static std::vector<int64_t> NumbersOf(const DifferingOutputs& outputs);

  PairedRuns runs_;
  // Floating-point elements of the result.
  const int64_t floats_;
  // Runs of either module with other rounding, at most.
  const uint64_t moved_runs_;
  Coverage coverage_;
  EquivalenceReport report_;
  bool judges_rounding_ = true;
  // The input at hand lowers shares_.
  bool is_ordinary_ = true;
  // The smallest share of unverifiable elements of each output over the
  // ordinary inputs.
  std::vector<double> shares_;
  // The share of NaN in each output on the last input; 0 where the modules
  // share what computes it.
  std::vector<double> nan_shares_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_PAIR_COMPARISON_H_
