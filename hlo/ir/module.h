#ifndef HONE_HLO_IR_MODULE_H_
#define HONE_HLO_IR_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hlo/ir/computation.h"
#include "hlo/ir/live_range.h"

namespace hone::hlo {

// A program: computations that call each other, one of them the entry.
//
// Copying a module is a fork and cheap: computations are shared until one side
// changes them (copy on write), so a search keeps thousands of modules.
// Threads: distinct Module objects may be used from distinct threads even while
// they share computations.
class Module {
 public:
  explicit Module(std::string name = "") : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // Header attributes of the text form in order, name and value verbatim;
  // entry_computation_layout and is_scheduled are not among them.
  const std::vector<std::pair<std::string, std::string>>& header() const {
    return header_;
  }
  void add_header(std::string name, std::string value) {
    header_.emplace_back(std::move(name), std::move(value));
  }
  // Returns true if the slot order of every computation is its schedule.
  bool is_scheduled() const { return is_scheduled_; }
  void set_is_scheduled(bool value) { is_scheduled_ = value; }

  // entry_computation_layout: the shapes, with layouts, that callers of the
  // module see. Readers fill it from the entry computation where it is missing.
  const std::vector<ShapePtr>& entry_parameter_shapes() const {
    return entry_parameter_shapes_;
  }
  const ShapePtr& entry_result_shape() const { return entry_result_shape_; }
  void set_entry_shapes(std::vector<ShapePtr> parameters, ShapePtr result) {
    entry_parameter_shapes_ = std::move(parameters);
    entry_result_shape_ = std::move(result);
  }

  // Text of the FileNames … StackFrames tables, verbatim; not part of the
  // meaning.
  const std::string& stack_frame_tables() const { return stack_frame_tables_; }
  void set_stack_frame_tables(std::string text) {
    stack_frame_tables_ = std::move(text);
  }

  ComputationId entry() const { return entry_; }
  void set_entry(ComputationId entry) { entry_ = entry; }
  const Computation& entry_computation() const { return computation(entry_); }

  // The computations in the order of their ids. The reference that a loop holds
  // ends with mutable_computation(id()); loops that change computations go over
  // ComputationIds().
  LiveRange<std::vector<std::shared_ptr<Computation>>> computations() const {
    return LiveRange(computations_, computations_.size());
  }
  std::vector<ComputationId> ComputationIds() const;
  // Returns true if `id` names a computation of this module.
  bool Contains(ComputationId id) const {
    return id >= 0 && id < computation_slots() && has_computation(id);
  }

  // Ids are 0 … computation_slots()-1; a slot may be empty. For hlo/ir and
  // hlo/rewrite, like Computation::slot_count.
  ComputationId computation_slots() const {
    return static_cast<ComputationId>(computations_.size());
  }
  bool has_computation(ComputationId id) const {
    return computations_[static_cast<size_t>(id)] != nullptr;
  }
  const Computation& computation(ComputationId id) const {
    return *computations_[static_cast<size_t>(id)];
  }
  // Copies the computation first when another module shares it. Invalidates
  // references that computation(id) returned.
  Computation& mutable_computation(ComputationId id);
  // Likewise, and where it had to copy, `*replaced` keeps the computation from
  // before alive, so that references into it stay valid.
  Computation& mutable_computation(
      ComputationId id, std::shared_ptr<const Computation>* replaced);
  // Lets this module share `computation`, with what other modules hold of it,
  // as its computation `id`.
  void ShareComputation(ComputationId id,
                        std::shared_ptr<const Computation> computation);
  // Returns true if a and b hold the very same (shared, unchanged) computation
  // `id`.
  static bool SharesComputation(const Module& a, const Module& b,
                                ComputationId id);

  ComputationId AddComputation(Computation computation);
  // Removes the computations that the entry does not reach through calls;
  // returns true if there were any.
  bool RemoveUnreachableComputations();

  // Every computation, callees before callers, in an order that depends on the
  // call graph and slot order only.
  std::vector<ComputationId> ComputationPostOrder() const;

  // Instructions of all computations.
  int64_t instruction_count() const;

  // Returns true if `instruction`, or anything it calls, is opaque (IsOpaque).
  bool HasSideEffect(const Instruction& instruction) const;

 private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> header_;
  bool is_scheduled_ = false;
  std::vector<ShapePtr> entry_parameter_shapes_;
  ShapePtr entry_result_shape_;
  std::string stack_frame_tables_;
  ComputationId entry_ = kNoComputation;
  std::vector<std::shared_ptr<Computation>> computations_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_MODULE_H_
