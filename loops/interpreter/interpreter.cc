#include "loops/interpreter/interpreter.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "loops/analysis/verifier_internal.h"
#include "loops/interpreter/statement_interpreter.h"

namespace hone::loops {
namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, const InterpretOptions& options)
      : program_(program),
        shuffles_(options.shuffle_parallel != 0),
        rng_(options.shuffle_parallel),
        storages_(program.buffers().size()) {}

  absl::StatusOr<std::vector<hlo::Literal>> Interpret(
      absl::Span<const hlo::Literal> arguments) {
    HONE_RETURN_IF_ERROR(Allocate(arguments));
    Path path;
    std::vector<VarId> vars;
    const std::vector<Item> body = Compile(program_.body(), path, vars);
    values_.resize(depth_);
    NoteIterations();
    if (!Run(body)) return absl::InvalidArgumentError(error_);
    HONE_RETURN_IF_ERROR(CheckResults());
    return std::move(results_);
  }

 private:
  // A compiled node.
  struct Item {
    std::unique_ptr<StatementInterpreter> statement;
    // Set if it is a loop.
    const Loop* loop = nullptr;
    size_t depth = 0;
    SlotAffine bound;
    std::vector<Item> body;
  };

  absl::Status Allocate(absl::Span<const hlo::Literal> arguments) {
    // The buffers that `arguments` are the values of.
    std::vector<const Buffer*> inputs;
    size_t outputs = 0;
    for (const BufferPtr& buffer : program_.buffers()) {
      if (buffer->memory == Memory::kArgument ||
          buffer->memory == Memory::kInOut) {
        inputs.push_back(buffer.get());
      }
      outputs += buffer->IsOutput() ? 1u : 0u;
    }
    std::sort(inputs.begin(), inputs.end(),
              [](const Buffer* a, const Buffer* b) {
                return std::pair(a->IsOutput(), a->number) <
                       std::pair(b->IsOutput(), b->number);
              });
    if (arguments.size() != inputs.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          arguments.size(), " arguments, expected ", inputs.size()));
    }
    results_.resize(outputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const hlo::Shape shape(inputs[i]->type, inputs[i]->dimensions);
      if (!arguments[i].is_elided() &&
          hlo::Shape::Equal(arguments[i].shape(), shape)) {
        if (inputs[i]->memory == Memory::kInOut) {
          hlo::Literal& result =
              results_[static_cast<size_t>(inputs[i]->number)];
          result = hlo::Literal(arguments[i].shape_ptr());
          std::memcpy(result.MutableData(), arguments[i].data(),
                      static_cast<size_t>(result.byte_size()));
        }
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "argument ", i, " is ",
          arguments[i].is_elided() ? "without values"
                                   : arguments[i].shape().ToString(),
          ", expected ", shape.ToString()));
    }
    for (size_t i = 0; i < storages_.size(); ++i) {
      const Buffer& buffer = *program_.buffers()[i];
      Storage& storage = storages_[i];
      storage.buffer = &buffer;
      const auto number = static_cast<size_t>(buffer.number);
      switch (buffer.memory) {
        case Memory::kArgument:
          // Never written, as the program is verified.
          storage.data = const_cast<std::byte*>(arguments[number].data());
          continue;
        case Memory::kConstant:
          storage.data = const_cast<std::byte*>(buffer.literal->data());
          continue;
        case Memory::kResult:
          results_[number] =
              hlo::Literal(hlo::Shape::Array(buffer.type, buffer.dimensions));
          storage.data = results_[number].MutableData();
          break;
        case Memory::kInOut:
          storage.data = results_[number].MutableData();
          storage.written.assign(
              static_cast<size_t>(buffer.allocated_elements()), storage.life);
          continue;
        case Memory::kHeap:
        case Memory::kStack:
        case Memory::kRegister:
          storage.own.resize(static_cast<size_t>(buffer.allocated_bytes()));
          storage.data = storage.own.data();
          break;
      }
      storage.written.resize(static_cast<size_t>(buffer.allocated_elements()),
                             0);
    }
    return absl::OkStatus();
  }

  std::vector<Item> Compile(const std::vector<Node>& body, Path& path,
                            std::vector<VarId>& vars) {
    std::vector<Item> items(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      path.push_back(static_cast<int32_t>(i));
      const Loop* loop = body[i].loop();
      if (loop == nullptr) {
        items[i].statement = std::make_unique<StatementInterpreter>(
            *body[i].statement(), path, vars, storages_, stamps_);
      } else {
        items[i].loop = loop;
        items[i].depth = vars.size();
        if (loop->bound) items[i].bound = SlotAffine(*loop->bound, vars);
        const bool is_parallel = loop->mode == LoopMode::kParallel;
        parallel_depth_ += is_parallel ? 1 : 0;
        has_parallel_ = has_parallel_ || is_parallel;
        if (parallel_depth_ > 0) {
          private_.insert(loop->locals.begin(), loop->locals.end());
        }
        vars.push_back(loop->var);
        depth_ = std::max(depth_, vars.size());
        items[i].body = Compile(loop->body, path, vars);
        vars.pop_back();
        parallel_depth_ -= is_parallel ? 1 : 0;
      }
      path.pop_back();
    }
    return items;
  }

  // Makes room for the stamps of buffers that iterations of parallel loops
  // share.
  void NoteIterations() {
    if (!has_parallel_) return;
    for (size_t i = 0; i < storages_.size(); ++i) {
      Storage& storage = storages_[i];
      if (private_.contains(static_cast<BufferId>(i))) continue;
      storage.writers.resize(storage.written.size(), 0);
      storage.readers.resize(storage.written.size(), 0);
    }
  }

  // On failure sets error_ and returns false.
  bool Run(const std::vector<Item>& items) {
    return std::all_of(items.begin(), items.end(), [this](const Item& item) {
      if (item.loop != nullptr) return RunLoop(item);
      if (item.statement->Run(values_.data())) return true;
      error_ = item.statement->error();
      return false;
    });
  }

  bool RunLoop(const Item& item) {
    const Loop& loop = *item.loop;
    int64_t end = loop.extent;
    if (loop.bound) end = std::min(end, item.bound.Evaluate(values_.data()));
    const auto run = [&](int64_t i) {
      values_[item.depth] = i;
      for (BufferId local : loop.locals) {
        ++storages_[static_cast<size_t>(local)].life;
      }
      return Run(item.body);
    };
    if (end > 0 && loop.mode == LoopMode::kParallel) {
      return RunParallel(run, end);
    }
    if (end > 0 && loop.mode == LoopMode::kVector && shuffles_) {
      return RunVector(item.body, end);
    }
    for (int64_t i = 0; i < end; ++i) {
      if (!run(i)) return false;
    }
    return true;
  }

  // Runs `iteration` for 0 … end-1.
  template <typename Iteration>
  bool RunParallel(const Iteration& iteration, int64_t end) {
    stamps_.first = stamps_.several + 1;
    stamps_.several = stamps_.first + static_cast<uint64_t>(end);
    for (int64_t i : Order(end)) {
      stamps_.now = stamps_.first + static_cast<uint64_t>(i);
      if (!iteration(i)) return false;
    }
    stamps_.now = 0;
    return true;
  }

  bool RunVector(const std::vector<Item>& statements, int64_t end) {
    const std::vector<int64_t> lanes = Order(end);
    return std::all_of(statements.begin(), statements.end(),
                       [&](const Item& item) {
                         if (item.statement->RunLanes(values_.data(), lanes))
                           return true;
                         error_ = item.statement->error();
                         return false;
                       });
  }

  // Returns 0 … end-1 in the order in which iterations run.
  std::vector<int64_t> Order(int64_t end) {
    std::vector<int64_t> order(static_cast<size_t>(end));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (shuffles_) std::shuffle(order.begin(), order.end(), rng_);
    return order;
  }

  absl::Status CheckResults() {
    for (const Storage& storage : storages_) {
      if (storage.buffer->memory != Memory::kResult) continue;
      const auto missing =
          std::find(storage.written.begin(), storage.written.end(), 0u);
      if (missing == storage.written.end()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "at -: element ", missing - storage.written.begin(), " of ",
          storage.buffer->name,
          " has no value in the end, expected a statement to write it"));
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const bool shuffles_;
  Rng rng_;
  // While the program is compiled: the parallel loops around the node.
  int32_t parallel_depth_ = 0;
  bool has_parallel_ = false;
  // Locals that each iteration of a parallel loop has for itself.
  absl::flat_hash_set<BufferId> private_;
  ParallelStamps stamps_;
  std::vector<Storage> storages_;  // by BufferId
  std::vector<hlo::Literal> results_;
  size_t depth_ = 0;             // of the deepest nest
  std::vector<int64_t> values_;  // of the loops' variables, by depth
  std::string error_;
};

}  // namespace

absl::StatusOr<std::vector<hlo::Literal>> Interpret(
    const Program& program, absl::Span<const hlo::Literal> arguments,
    const InterpretOptions& options) {
  if (const auto defect = FindStructureDefect(program)) {
    return StatusOf(*defect);
  }
  return Interpreter(program, options).Interpret(arguments);
}

}  // namespace hone::loops
