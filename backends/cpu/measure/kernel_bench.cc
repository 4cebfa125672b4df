#include "backends/cpu/measure/kernel_bench.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/loaded_object.h"
#include "backends/cpu/measure/core_split.h"
#include "backends/cpu/measure/isolated_child.h"
#include "backends/cpu/measure/measured_subject.h"
#include "backends/cpu/measure/paired_timing.h"
#include "backends/cpu/measure/placed_arrays.h"
#include "backends/cpu/measure/sandbox.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "hlo/equivalence/double_precision.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"

namespace hone::backends {
namespace {

constexpr char kSymbol[] = "kernel";
constexpr int64_t kMaxObjectBytes = int64_t{32} << 20;
constexpr size_t kMaxSamples = 128;
constexpr size_t kMaxMessage = 1000;

// The report of a child, in shared memory.
struct ChildReport {
  bool finished;
  space::Outcome outcome;
  char message[kMaxMessage];
  double compile_seconds;
  double max_rel_error;
  double ratio;
  double ratio_low;
  double ratio_high;
  size_t samples;
  double samples_ns[kMaxSamples];
  int64_t object_bytes;
};

void Fail(ChildReport& report, space::Outcome outcome,
          absl::string_view message) {
  report.outcome = outcome;
  const size_t length = std::min(message.size(), kMaxMessage - 1);
  std::memcpy(report.message, message.data(), length);
  report.message[length] = '\0';
}

// So that elements that code does not write, or reads before, show: NaN in
// every type of floats.
void FillWithNan(void* results, int64_t bytes) {
  std::memset(results, 0xff, static_cast<size_t>(bytes));
}

// One set of arguments and its expected results.
struct Example {
  std::vector<hlo::Literal> arguments;
  // In shared memory written by the evaluating child.
  std::vector<std::unique_ptr<SharedMemory>> expected;
  // Those in double precision, for modules that compute in bf16; null for
  // results that are no floats.
  std::vector<std::unique_ptr<SharedMemory>> precise;
};

// Literals share their data.
std::vector<hlo::Literal> ArgumentLeaves(const Example& example) {
  std::vector<hlo::Literal> all;
  for (const hlo::Literal& argument : example.arguments) {
    for (hlo::Literal& leaf : hlo::Leaves(argument)) {
      all.push_back(std::move(leaf));
    }
  }
  return all;
}

// Returns true if the module computes in bf16: code may round less often than
// the evaluator does, which rounds after every operation.
bool ComputesInBf16(const hlo::Module& module) {
  return absl::c_any_of(module.ComputationIds(), [&](hlo::ComputationId id) {
    return absl::c_any_of(
        module.computation(id).instructions(), [](const hlo::Instruction& i) {
          return i.shape().IsArray() && hlo::IsElementwise(i.opcode()) &&
                 i.opcode() != hlo::Opcode::kConvert &&
                 i.opcode() != hlo::Opcode::kCopy &&
                 i.shape().element_type() == hlo::ElementType::kBf16;
        });
  });
}

bool IsRealFloat(const hlo::Shape& shape) {
  return hlo::KindOf(shape.element_type()) == hlo::ElementKind::kFloat;
}

class ForkingBench final : public KernelBench {
 public:
  ForkingBench(std::unique_ptr<const MeasuredSubject> subject,
               const KernelBenchOptions& options)
      : subject_(std::move(subject)),
        options_(options),
        result_shapes_(subject_->result_shapes()),
        needs_precise_(subject_->has_reference() &&
                       ComputesInBf16(subject_->module())),
        updated_results_(subject_->updated_results()) {}

  absl::Status Prepare(const std::string& baseline_script) {
    HONE_ASSIGN_OR_RETURN(const auto baseline,
                          subject_->Schedule(baseline_script));
    HONE_RETURN_IF_ERROR(Share(timed_));
    for (Shared& place : places_) HONE_RETURN_IF_ERROR(Share(place));
    HONE_RETURN_IF_ERROR(CompileBaseline(*baseline));
    for (const hlo::ArgumentKind kind : subject_->argument_kinds()) {
      HONE_RETURN_IF_ERROR(AddExample(kind));
    }
    HONE_RETURN_IF_ERROR(PlaceArguments());
    return CheckBaseline();
  }

  KernelTiming MeasureBaseline() override {
    KernelTiming timing = InChild([this](ChildReport& report) {
      Time(baseline_object_, /*bar=*/0, report);
    });
    timing.compile_time = baseline_.compile_time;
    timing.max_rel_error = baseline_.max_rel_error;
    return timing;
  }

  std::vector<KernelTiming> Measure(absl::Span<const std::string> scripts,
                                    double bar) override {
    std::vector<KernelTiming> timings;
    const CoreSplit cores = CoreSplit::Here(options_.threads);
    const size_t ahead = cores.is_split() ? kAhead : 0;
    std::deque<Compilation> compilations;
    size_t started = 0;
    const auto start_until = [&](size_t end) {
      for (; started < std::min(end, scripts.size()); ++started) {
        compilations.push_back(Compile(
            scripts[started], places_[started % places_.size()], cores));
      }
    };
    for (size_t i = 0; i < scripts.size(); ++i) {
      // While nothing is timed, the first one has all cores.
      start_until(i + std::max<size_t>(ahead, 1));
      std::string object;
      KernelTiming timing =
          Finish(std::move(compilations.front()), cores, object);
      compilations.pop_front();
      if (ahead > 0) start_until(i + 1 + ahead);
      if (timing.outcome == space::Outcome::kOk) {
        const KernelTiming checked = std::move(timing);
        timing = InChild([&](ChildReport& report) {
          cores.Time();
          Time(object, bar, report);
        });
        timing.compile_time = checked.compile_time;
        timing.max_rel_error = checked.max_rel_error;
        // Those that follow race against this one, too.
        if (bar > 0 && timing.outcome == space::Outcome::kOk) {
          bar = std::min(bar, timing.ratio_high);
        }
      }
      timings.push_back(std::move(timing));
    }
    return timings;
  }

 private:
  // The number of children that compile and check while one is timed. Two, so
  // that one that takes long does not hold up the others.
  static constexpr size_t kAhead = 2;

  // What a child shares with this process: its report, and code.
  struct Shared {
    std::unique_ptr<SharedMemory> report;
    std::unique_ptr<SharedMemory> object;
  };
  static ChildReport& ReportIn(const Shared& shared) {
    return *reinterpret_cast<ChildReport*>(shared.report->data());
  }
  absl::Status Share(Shared& shared) {
    HONE_ASSIGN_OR_RETURN(shared.report,
                          SharedMemory::Create(sizeof(ChildReport)));
    HONE_ASSIGN_OR_RETURN(shared.object, SharedMemory::Create(kMaxObjectBytes));
    return absl::OkStatus();
  }

  absl::StatusOr<IsolatedChild> Start(
      const Shared& shared, const std::function<void(ChildReport&)>& body) {
    ChildReport& report = ReportIn(shared);
    std::memset(shared.report->data(), 0, sizeof(ChildReport));
    return IsolatedChild::Start(
        [&] {
          body(report);
          report.finished = true;
        },
        {.timeout = options_.timeout});
  }

  // Runs `body` in a child; returns its report, or the way it ended.
  KernelTiming InChild(const std::function<void(ChildReport&)>& body) {
    return Await(Start(timed_, body), timed_);
  }

  static KernelTiming Await(absl::StatusOr<IsolatedChild> child,
                            const Shared& shared) {
    const absl::StatusOr<ChildOutcome> end =
        child.ok() ? child->Await() : child.status();
    const ChildReport& report = ReportIn(shared);
    KernelTiming timing;
    if (!end.ok()) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message = std::string(end.status().message());
    } else if (end->end == ChildEnd::kTimeout) {
      timing.outcome = space::Outcome::kTimeout;
      timing.message = end->message;
    } else if (end->end == ChildEnd::kCrashed || !report.finished) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message =
          end->message.empty() ? "it ended without a report" : end->message;
    } else {
      timing = FromReport(ReportIn(shared));
    }
    return timing;
  }

  // A child that compiles and checks, and where it leaves the code.
  struct Compilation {
    absl::StatusOr<IsolatedChild> child;
    const Shared& shared;
  };
  Compilation Compile(const std::string& script, const Shared& shared,
                      const CoreSplit& cores) {
    return {Start(shared,
                  [&](ChildReport& report) {
                    cores.Compile();
                    const auto code = subject_->Schedule(script);
                    if (code.ok()) {
                      CompileAndCheck(**code, *shared.object, report);
                    } else {
                      Fail(report, space::Outcome::kInvalid,
                           code.status().message());
                    }
                  }),
            shared};
  }
  static std::string ObjectIn(const Shared& shared) {
    return {reinterpret_cast<const char*>(shared.object->data()),
            static_cast<size_t>(ReportIn(shared).object_bytes)};
  }
  // Waits for the code. Nothing may be timed meanwhile.
  static KernelTiming Finish(Compilation compilation, const CoreSplit& cores,
                             std::string& object) {
    const Shared& shared = compilation.shared;
    if (compilation.child.ok()) cores.UseAll(compilation.child->pid());
    KernelTiming timing = Await(std::move(compilation.child), shared);
    if (timing.outcome == space::Outcome::kOk) {
      object = ObjectIn(shared);
    }
    return timing;
  }

  // The child may have written anything into its report.
  static KernelTiming FromReport(ChildReport& from) {
    KernelTiming timing;
    if (from.outcome < space::Outcome::kOk ||
        from.outcome > space::Outcome::kWrongResult ||
        from.samples > kMaxSamples || from.object_bytes < 0 ||
        from.object_bytes > kMaxObjectBytes) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message = "its report was overwritten";
      return timing;
    }
    from.message[kMaxMessage - 1] = '\0';
    timing.outcome = from.outcome;
    timing.message = from.message;
    timing.compile_time = absl::Seconds(from.compile_seconds);
    timing.max_rel_error = from.max_rel_error;
    timing.ratio = from.ratio;
    timing.ratio_low = from.ratio_low;
    timing.ratio_high = from.ratio_high;
    timing.samples_ns.assign(from.samples_ns, from.samples_ns + from.samples);
    timing.ns = timing.samples_ns.empty() ? 0 : Median(timing.samples_ns);
    return timing;
  }

  absl::Status AddExample(hlo::ArgumentKind kind) {
    Example example;
    HONE_ASSIGN_OR_RETURN(example.arguments,
                          hlo::MakeArguments(subject_->module(), kind,
                                             options_.seed + examples_.size()));
    for (const hlo::ShapePtr& shape : result_shapes_) {
      HONE_ASSIGN_OR_RETURN(auto memory,
                            SharedMemory::Create(shape->byte_size()));
      example.expected.push_back(std::move(memory));
      example.precise.push_back(nullptr);
      if (!needs_precise_ || !IsRealFloat(*shape)) continue;
      HONE_ASSIGN_OR_RETURN(
          example.precise.back(),
          SharedMemory::Create(shape->num_elements() *
                               static_cast<int64_t>(sizeof(double))));
    }
    // In a child, since it may start threads.
    const KernelTiming end = InChild([&](ChildReport& report) {
      if (subject_->has_reference()) {
        Evaluate(example, report);
      } else {
        RunBaseline(example, report);
      }
    });
    if (end.outcome != space::Outcome::kOk) {
      return absl::UnimplementedError(absl::StrCat(
          subject_->has_reference() ? "the module cannot be evaluated: "
                                    : "the baseline cannot be run: ",
          end.message));
    }
    for (const auto* memories : {&example.expected, &example.precise}) {
      for (const auto& memory : *memories) {
        if (memory != nullptr) memory->MakeReadOnly();
      }
    }
    examples_.push_back(std::move(example));
    return absl::OkStatus();
  }

  // In a child: computes the expected results with the evaluator.
  void Evaluate(const Example& example, ChildReport& report) const {
    const absl::StatusOr<hlo::Literal> value =
        hlo::Evaluate(subject_->module(), example.arguments);
    if (!value.ok()) {
      Fail(report, space::Outcome::kInvalid, value.status().message());
      return;
    }
    const std::vector<hlo::Literal> leaves = hlo::Leaves(*value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      std::memcpy(example.expected[i]->data(), leaves[i].data(),
                  static_cast<size_t>(leaves[i].byte_size()));
    }
    if (needs_precise_) EvaluatePrecisely(example, report);
  }

  void EvaluatePrecisely(const Example& example, ChildReport& report) const {
    const absl::StatusOr<hlo::Literal> value = hlo::Evaluate(
        hlo::InDoublePrecisionInside(subject_->module()), example.arguments);
    if (!value.ok()) {
      Fail(report, space::Outcome::kInvalid, value.status().message());
      return;
    }
    const std::vector<hlo::Literal> leaves = hlo::Leaves(*value);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (example.precise[i] == nullptr) continue;
      std::memcpy(example.precise[i]->data(), leaves[i].data(),
                  static_cast<size_t>(leaves[i].byte_size()));
    }
  }

  // In a child: computes the expected results with the baseline.
  void RunBaseline(const Example& example, ChildReport& report) const {
    hone_kernel_set_threads(options_.threads);
    const auto code = Load(baseline_object_, report);
    if (code == nullptr || !EnterSandboxOrFail(report)) return;
    std::vector<const void*> arguments;
    for (const hlo::Literal& leaf : ArgumentLeaves(example)) {
      arguments.push_back(leaf.data());
    }
    std::vector<void*> results;
    for (const auto& memory : example.expected) {
      results.push_back(memory->data());
    }
    SetUpdatedResults(arguments, results);
    if (code->entry(nullptr, arguments.data(), results.data()) != HONE_OK) {
      Fail(report, space::Outcome::kCrashed, hone_kernel_error_message());
    }
  }

  // Timing uses the arguments of the first example.
  absl::Status PlaceArguments() {
    const std::vector<hlo::Literal> leaves = ArgumentLeaves(examples_[0]);
    std::vector<int64_t> bytes;
    bytes.reserve(leaves.size());
    for (const hlo::Literal& leaf : leaves) bytes.push_back(leaf.byte_size());
    HONE_ASSIGN_OR_RETURN(timed_arguments_,
                          options_.scatter
                              ? PlacedArrays::Scatter(bytes, options_.seed)
                              : PlacedArrays::Create(bytes));
    for (size_t i = 0; i < leaves.size(); ++i) {
      std::memcpy(timed_arguments_->arrays()[i], leaves[i].data(),
                  static_cast<size_t>(bytes[i]));
    }
    return absl::OkStatus();
  }

  absl::Status CompileBaseline(const MeasuredSubject::Code& code) {
    const KernelTiming end = InChild([&](ChildReport& report) {
      CompileInto(code, *timed_.object, report);
    });
    if (end.outcome != space::Outcome::kOk) {
      return absl::InternalError(
          absl::StrCat("the baseline does not compile: ", end.message));
    }
    baseline_object_ = ObjectIn(timed_);
    baseline_.compile_time = end.compile_time;
    return absl::OkStatus();
  }

  absl::Status CheckBaseline() {
    const KernelTiming check = InChild([this](ChildReport& report) {
      LoadAndCheck(baseline_object_, report);
    });
    if (check.outcome != space::Outcome::kOk) {
      return absl::InternalError(absl::StrCat(
          "the baseline is not valid: ", space::OutcomeName(check.outcome),
          ", ", check.message));
    }
    baseline_.max_rel_error = check.max_rel_error;
    return absl::OkStatus();
  }

  // In a child: compiles code into `object`; returns false if it cannot.
  static bool CompileInto(const MeasuredSubject::Code& code,
                          const SharedMemory& object, ChildReport& report) {
    const absl::Duration start = SystemClock().Monotonic();
    const absl::StatusOr<std::string> compiled = code.Compile(kSymbol);
    report.compile_seconds =
        absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    if (!compiled.ok()) {
      Fail(report, space::Outcome::kCompileError, compiled.status().message());
      return false;
    }
    if (static_cast<int64_t>(compiled->size()) > kMaxObjectBytes) {
      Fail(report, space::Outcome::kCompileError, "the code is too large");
      return false;
    }
    std::memcpy(object.data(), compiled->data(), compiled->size());
    report.object_bytes = static_cast<int64_t>(compiled->size());
    return true;
  }

  // In a child: compiles code into `object` and checks it.
  void CompileAndCheck(const MeasuredSubject::Code& code,
                       const SharedMemory& object, ChildReport& report) const {
    if (!CompileInto(code, object, report)) return;
    LoadAndCheck({reinterpret_cast<const char*>(object.data()),
                  static_cast<size_t>(report.object_bytes)},
                 report);
  }

  // In a child: checks compiled code.
  void LoadAndCheck(const std::string& object, ChildReport& report) const {
    hone_kernel_set_threads(options_.threads);
    const auto code = Load(object, report);
    if (code != nullptr && EnterSandboxOrFail(report))
      Check(code->entry, report);
  }

  // In a child: times compiled code against the baseline.
  void Time(const std::string& object, double bar, ChildReport& report) const {
    hone_kernel_set_threads(options_.threads);
    if (options_.threads == 1) PinToThisCore();
    const auto code = Load(object, report);
    const auto baseline = Load(baseline_object_, report);
    if (code == nullptr || baseline == nullptr || !EnterSandboxOrFail(report))
      return;
    TimeAgainst(baseline->entry, code->entry, bar,
                /*may_end_early=*/object != baseline_object_, report);
  }

  // Code in this process.
  struct Loaded {
    std::unique_ptr<LoadedObject> object;
    EntryFunction entry = nullptr;
  };
  // In a child; null and a failed report if it cannot be loaded.
  static std::unique_ptr<Loaded> Load(const std::string& object,
                                      ChildReport& report) {
    auto code = LoadedObject::Create(object);
    const auto entry = code.ok() ? (*code)->Entry(kSymbol) : code.status();
    if (!entry.ok()) {
      Fail(report, space::Outcome::kCompileError, entry.status().message());
      return nullptr;
    }
    return std::make_unique<Loaded>(Loaded{*std::move(code), *entry});
  }

  // In a child, for good.
  static bool EnterSandboxOrFail(ChildReport& report) {
    const absl::Status entered = EnterSandbox();
    if (entered.ok()) return true;
    Fail(report, space::Outcome::kCrashed, entered.message());
    return false;
  }

  // Pointers to arguments, with the values of updated results after them, and
  // to memory for results.
  struct Call {
    std::vector<const void*> arguments;
    std::vector<std::unique_ptr<SharedMemory>> memory;
    std::vector<void*> results;
  };
  std::optional<Call> MakeCall(const Example& example) const {
    Call call;
    for (const hlo::Literal& leaf : ArgumentLeaves(example)) {
      call.arguments.push_back(leaf.data());
    }
    for (const hlo::ShapePtr& shape : result_shapes_) {
      auto memory = SharedMemory::Create(shape->byte_size());
      if (!memory.ok()) return std::nullopt;
      FillWithNan((*memory)->data(), shape->byte_size());
      call.results.push_back((*memory)->data());
      call.memory.push_back(*std::move(memory));
    }
    SetUpdatedResults(call.arguments, call.results);
    return call;
  }

  // Gives the results that a call updates the values before it, which follow
  // the arguments.
  void SetUpdatedResults(absl::Span<const void* const> arguments,
                         absl::Span<void* const> results) const {
    const auto values = arguments.last(updated_results_.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t result = updated_results_[i];
      std::memcpy(results[result], values[i],
                  static_cast<size_t>(result_shapes_[result]->byte_size()));
    }
  }

  bool IsRandom(size_t example) const {
    return subject_->argument_kinds()[example] == hlo::ArgumentKind::kRandom;
  }

  void Check(EntryFunction entry, ChildReport& report) const {
    for (size_t e = 0; e < examples_.size(); ++e) {
      const std::optional<Call> call = MakeCall(examples_[e]);
      if (!call.has_value()) {
        Fail(report, space::Outcome::kCrashed, "no memory for results");
        return;
      }
      if (entry(nullptr, call->arguments.data(), call->results.data()) !=
          HONE_OK) {
        Fail(report, space::Outcome::kCrashed, hone_kernel_error_message());
        return;
      }
      if (!Compare(e, call->results, "", report)) return;
    }
  }

  // Compares results with the expected ones of an example. `when` ends the
  // message.
  bool Compare(size_t example, absl::Span<void* const> results,
               absl::string_view when, ChildReport& report) const {
    for (size_t i = 0; i < result_shapes_.size(); ++i) {
      const hlo::Comparison comparison = CompareArray(
          i, examples_[example], static_cast<const std::byte*>(results[i]));
      if (IsRandom(example)) {
        report.max_rel_error =
            std::max(report.max_rel_error, comparison.max_rel_error);
      }
      if (comparison.equal) continue;
      Fail(report, space::Outcome::kWrongResult,
           absl::StrCat(IsRandom(example) ? "random" : "adversarial",
                        " input, result ", i, " element ",
                        comparison.worst.element, ": ", comparison.worst.b,
                        ", expected ", comparison.worst.a, when));
      return false;
    }
    return true;
  }

  hlo::Comparison CompareArray(size_t result, const Example& example,
                               const std::byte* actual) const {
    const hlo::Literal a =
        LiteralOf(result_shapes_[result], example.expected[result]->data());
    const hlo::Literal b = LiteralOf(result_shapes_[result], actual);
    if (example.precise[result] == nullptr) return hlo::CompareLiterals(a, b);
    return hlo::CompareLiterals(
        a, b,
        LiteralOf(hlo::WithElementType(*result_shapes_[result],
                                       hlo::ElementType::kF64),
                  example.precise[result]->data()));
  }

  static hlo::Literal LiteralOf(const hlo::ShapePtr& shape,
                                const std::byte* data) {
    hlo::Literal literal(shape);
    std::memcpy(literal.MutableData(), data,
                static_cast<size_t>(literal.byte_size()));
    return literal;
  }

  void TimeAgainst(EntryFunction baseline, EntryFunction entry, double bar,
                   bool may_end_early, ChildReport& report) const {
    std::vector<int64_t> bytes;
    bytes.reserve(result_shapes_.size());
    for (const hlo::ShapePtr& shape : result_shapes_) {
      bytes.push_back(shape->byte_size());
    }
    const auto placed =
        options_.scatter
            ? PlacedArrays::Scatter(bytes, ~options_.seed)
            : PlacedArrays::Create(bytes, timed_arguments_->arrays().size());
    if (!placed.ok()) {
      Fail(report, space::Outcome::kCrashed, placed.status().message());
      return;
    }
    // Both use the same memory, so that its placement favors neither.
    const std::vector<const void*> arguments(timed_arguments_->arrays().begin(),
                                             timed_arguments_->arrays().end());
    std::vector<void*> results((*placed)->arrays().begin(),
                               (*placed)->arrays().end());
    const auto run = [&](EntryFunction function) {
      return [&arguments, &results, function] {
        function(nullptr, arguments.data(), results.data());
      };
    };
    PairedTimingOptions timing_options;
    timing_options.pairs = options_.pairs;
    timing_options.bar = bar;
    timing_options.may_end_early = may_end_early;
    timing_options.seed = options_.seed;
    if (!updated_results_.empty()) {
      timing_options.before_sample = [&] {
        SetUpdatedResults(arguments, results);
      };
    }
    const PairedTiming timing =
        TimePair(run(entry), run(baseline), SystemClock(), timing_options);
    report.ratio = timing.ratio;
    report.ratio_low = timing.ratio_low;
    report.ratio_high = timing.ratio_high;
    report.samples = std::min(timing.a_ns.size(), kMaxSamples);
    std::copy_n(timing.a_ns.begin(), report.samples, report.samples_ns);
    // What so many calls left behind must not matter. Races are followed by
    // measurements without a bar.
    if (bar > 0) return;
    for (size_t i = 0; i < results.size(); ++i) {
      FillWithNan(results[i], bytes[i]);
    }
    SetUpdatedResults(arguments, results);
    run(entry)();
    Compare(0, results, " after timing", report);
  }

  const std::unique_ptr<const MeasuredSubject> subject_;
  const KernelBenchOptions options_;
  const std::vector<hlo::ShapePtr> result_shapes_;
  const bool needs_precise_;
  const std::vector<size_t> updated_results_;
  // Of a child that times, and of those that compile.
  Shared timed_;
  std::array<Shared, kAhead> places_;
  std::vector<Example> examples_;
  // Pages that no child writes to are shared with all of them.
  std::unique_ptr<PlacedArrays> timed_arguments_;
  std::string baseline_object_;
  // Its compile time and error only.
  KernelTiming baseline_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelBench>> KernelBench::Create(
    const std::string& text, KernelForm form,
    const std::string& baseline_script, const KernelBenchOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<const MeasuredSubject> subject,
                        MeasuredSubject::Create(text, form));
  auto bench = std::make_unique<ForkingBench>(std::move(subject), options);
  HONE_RETURN_IF_ERROR(bench->Prepare(baseline_script));
  return bench;
}

}  // namespace hone::backends
