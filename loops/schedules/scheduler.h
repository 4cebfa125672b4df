#ifndef HONE_LOOPS_SCHEDULES_SCHEDULER_H_
#define HONE_LOOPS_SCHEDULES_SCHEDULER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/transform.h"

namespace hone::loops {

// A program under construction by a schedule, and the script that made it.
class Scheduler {
 public:
  Scheduler(Program program, const Machine& machine, const Choices& choices)
      : program_(std::move(program)), machine_(machine), choices_(choices) {}

  const Program& program() const { return program_; }
  const Machine& machine() const { return machine_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Returns the value of `choice`, or `by_rule` if it is not set.
  int64_t Choose(Choice choice, int64_t by_rule);
  const ChoiceUse& use() const { return use_; }

  // Applies a step if it is legal; returns false if it is not.
  bool Try(absl::string_view transform, const Path& path,
           std::vector<int64_t> parameters = {});

  // A state to return to: Restore discards all steps since Save.
  struct Checkpoint {
    Program program;
    size_t steps = 0;
  };
  Checkpoint Save() const { return {program_, steps_.size()}; }
  void Restore(Checkpoint checkpoint);

 private:
  Program program_;
  const Machine machine_;
  const Choices choices_;
  ChoiceUse use_;
  std::vector<Step> steps_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_SCHEDULES_SCHEDULER_H_
