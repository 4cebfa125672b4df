// Fusion for a simulated TPU, whose kernels a worker times or this process.
#include "tuning/tasks/simulated_fusion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/registry.h"
#include "tuning/task.h"
#include "tuning/tasks/tpu_worker.h"

namespace hone::tuning {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kModule[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  x = f32[256,512] parameter(0)
  y = f32[256,512] parameter(1)
  zero = f32[] constant(0)
  n = f32[256,512] negate(x)
  m = f32[256,512] multiply(n, y)
  e = f32[256,512] exponential(m)
  s = f32[256] reduce(e, zero), dimensions={1}, to_apply=add
  b = f32[256,512] broadcast(s), dimensions={0}
  d = f32[256,512] divide(e, b)
  t = f32[512,256] transpose(d), dimensions={1,0}
  ROOT p = f32[256,256] dot(n, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

// A program of so many kernels, all different, with names of so many bytes.
std::string LongProgram(int kernels, size_t name_bytes = 0) {
  const std::string name = absl::StrCat("n", std::string(name_bytes, 'x'));
  std::string text =
      absl::StrCat("HloModule m\nENTRY main {\n  zero = f32[] constant(0)\n  ",
                   name, "0 = f32[9] parameter(0)\n");
  for (int i = 1; i <= kernels; ++i) {
    absl::StrAppend(&text, i == kernels ? "  ROOT " : "  ", name, i, " = f32[",
                    i + 9, "] pad(", name, i - 1, ", zero), padding=0_1\n");
  }
  return text + "}";
}

class SimulatedFusionTest : public ::testing::Test {
 protected:
  SimulatedFusionTest() { worker_.Offer(tpu_); }

  std::unique_ptr<TpuFusionProblem> Make(
      const hlo::Module& module,
      backends::KernelMeasurer* kernels = nullptr) const {
    auto problem = TpuFusionProblem::Create(
        module, SimulatedFusion(tpu_, {.target = "tpu",
                                       .kernels = kernels,
                                       .stop = [this] { return stops_; }}));
    HONE_EXPECT_OK(problem.status());
    return *std::move(problem);
  }

  // Random decisions, legal and others, and one that is none.
  static std::vector<space::Candidate> SomeCandidates(
      const TpuFusionProblem& problem, int at_random = 40) {
    std::vector<space::Candidate> candidates;
    Rng rng(1);
    for (int i = 0; i < at_random; ++i) {
      candidates.push_back(
          {problem.Values({hlo::RandomFusion(problem.space(), rng),
                           hlo::RandomLayouts(problem.space(), rng)})});
      space::Candidate& any = candidates.emplace_back();
      for (int32_t v = 0; v < problem.variable_count(); ++v) {
        any.choices.push_back(static_cast<int32_t>(rng.Below(2)));
      }
    }
    candidates.push_back({{-1}});
    return candidates;
  }

  static void ExpectSame(
      const absl::StatusOr<std::vector<space::Measurement>>& a,
      const absl::StatusOr<std::vector<space::Measurement>>& b) {
    ASSERT_THAT(a, IsOk());
    ASSERT_THAT(b, IsOk());
    ASSERT_EQ(a->size(), b->size());
    for (size_t i = 0; i < a->size(); ++i) {
      EXPECT_EQ((*a)[i].outcome, (*b)[i].outcome) << i;
      EXPECT_EQ((*a)[i].cost, (*b)[i].cost) << i;
      EXPECT_EQ((*a)[i].message, (*b)[i].message) << i;
      EXPECT_EQ((*a)[i].violation, (*b)[i].violation) << i;
    }
  }

  backends::Tpu tpu_ = *backends::FindTpu("v4");
  ScriptedKernels worker_;
  bool stops_ = false;
};

TEST_F(SimulatedFusionTest, AWorkerTimesWhatThisProcessWouldSimulate) {
  const hlo::Module module = hlo::VerifiedModule(kModule);
  const auto here = Make(module);
  const auto there = Make(module, &worker_);
  EXPECT_EQ(here->measurement_batch(), 1);
  EXPECT_GT(there->measurement_batch(), 1);
  EXPECT_EQ(there->reference_cost(), here->reference_cost());
  ASSERT_EQ(there->Seeds().size(), here->Seeds().size());
  for (size_t i = 0; i < here->Seeds().size(); ++i) {
    EXPECT_EQ(there->Seeds()[i].candidate, here->Seeds()[i].candidate);
  }
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  const size_t before = worker_.requests.size();
  ExpectSame(there->MeasureBatch(candidates), here->MeasureBatch(candidates));
  // All candidates in one request, and no kernel twice.
  EXPECT_EQ(worker_.requests.size(), before + 1);
  std::set<std::string> kernels;
  for (const backends::KernelRequest& request : worker_.requests) {
    EXPECT_EQ(request.form, backends::KernelForm::kTpuKernels);
    EXPECT_EQ(request.candidate_scripts.size(), request.kernels.size());
    for (const std::string& kernel : request.kernels) {
      EXPECT_TRUE(kernels.insert(kernel).second) << kernel;
    }
  }
  // Nothing is left to ask for, neither alone nor for a profile.
  for (const space::Candidate& candidate : candidates) {
    HONE_EXPECT_OK(there->Measure(candidate).status());
    EXPECT_EQ(there->Profile(candidate.choices).size(),
              here->Profile(candidate.choices).size());
  }
  EXPECT_EQ(worker_.requests.size(), before + 1);
}

TEST_F(SimulatedFusionTest, KernelsThatDoNotFitAreThoseThatDoNotFitHere) {
  const hlo::Module module = hlo::VerifiedModule(kModule);
  // Room for the unfused program, not for every fusion.
  tpu_.vmem_bytes = 272 << 10;
  worker_.Offer(tpu_);
  const auto here = Make(module);
  const auto there = Make(module, &worker_);
  EXPECT_FALSE(worker_.requests.empty());
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  const auto measured = there->MeasureBatch(candidates);
  ExpectSame(measured, here->MeasureBatch(candidates));
  int overflows = 0;
  for (const space::Measurement& measurement : *measured) {
    overflows +=
        measurement.message.find("more than VMEM has") != std::string::npos;
  }
  EXPECT_GT(overflows, 0);
}

// The kernels of programs keep their times when they travel as text.
TEST_F(SimulatedFusionTest, AWorkerTimesTheKernelsOfTheCorpus) {
  const std::set<std::string> names = {"mlp.train", "moe_2l.fwd", "dlrm.fwd"};
  size_t found = 0;
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    if (!names.contains(entry.name)) continue;
    ++found;
    const hlo::Module module = hlo::VerifiedModule(entry.text);
    const auto here = Make(module);
    const auto there = Make(module, &worker_);
    EXPECT_EQ(there->DefaultCandidate(), here->DefaultCandidate());
    const std::vector<space::Candidate> candidates =
        SomeCandidates(*here, /*at_random=*/3);
    ExpectSame(there->MeasureBatch(candidates), here->MeasureBatch(candidates));
  }
  EXPECT_EQ(found, names.size());
  EXPECT_FALSE(worker_.requests.empty());
}

TEST_F(SimulatedFusionTest, ALocalSearchAsksOnceForWhatAMoveTouches) {
  const hlo::Module module = hlo::VerifiedModule(kModule);
  const auto here = Make(module);
  const auto there = Make(module, &worker_);
  const auto simulated = here->MakeLocal(here->DefaultCandidate());
  const auto measured = there->MakeLocal(there->DefaultCandidate());
  for (int32_t v = 0; v < there->variable_count(); ++v) {
    const std::vector<space::Change> changes = {
        {v, 1 - measured->values()[static_cast<size_t>(v)]}};
    const size_t before = worker_.requests.size();
    const space::LocalScore there_score = measured->Try(changes);
    EXPECT_LE(worker_.requests.size(), before + 1);
    const space::LocalScore here_score = simulated->Try(changes);
    EXPECT_EQ(there_score.rank.violation, here_score.rank.violation);
    EXPECT_EQ(there_score.energy, here_score.energy);
  }
}

TEST_F(SimulatedFusionTest, ManyKernelsAreCutIntoRequestsWithinTheLimits) {
  for (const auto& [kernels, name_bytes] :
       {std::pair{300, size_t{0}}, std::pair{150, size_t{5000}},
        std::pair{2, size_t{1} << 20}}) {
    const hlo::Module module =
        hlo::VerifiedModule(LongProgram(kernels, name_bytes));
    worker_.requests.clear();
    const auto there = Make(module, &worker_);
    size_t largest = 0;
    for (const backends::KernelRequest& request : worker_.requests) {
      EXPECT_LE(request.kernels.size(), TpuWorker::kMaxKernels);
      size_t bytes = 0;
      for (const std::string& kernel : request.kernels) bytes += kernel.size();
      EXPECT_LE(bytes, TpuWorker::kMaxKernelBytes);
      largest = std::max(largest, request.kernels.size());
    }
    // Too large, each by itself.
    EXPECT_EQ(worker_.requests.empty(), kernels == 2);
    EXPECT_LT(largest, static_cast<size_t>(kernels));
    EXPECT_EQ(there->reference_cost(), Make(module)->reference_cost());
  }
}

TEST_F(SimulatedFusionTest, WhenTheWorkerFailsThisProcessGoesOn) {
  const hlo::Module module = hlo::VerifiedModule(LongProgram(300));
  const auto here = Make(module);
  const std::vector<space::Candidate> candidates =
      SomeCandidates(*here, /*at_random=*/4);
  for (const absl::Status& error :
       {absl::UnavailableError("no worker offers it"),
        absl::DeadlineExceededError("it hangs"),
        absl::InternalError("the work was lost with 3 workers"),
        absl::DataLossError("other bytes")}) {
    // Before the first request, and in the middle of the unfused program.
    for (const size_t requests : {size_t{0}, size_t{1}}) {
      ScriptedKernels worker;
      worker.Offer(tpu_);
      worker.error = error;
      worker.requests_before_error = requests;
      const auto there = Make(module, &worker);
      EXPECT_EQ(there->DefaultCandidate(), here->DefaultCandidate());
      ExpectSame(there->MeasureBatch(candidates),
                 here->MeasureBatch(candidates));
      EXPECT_GT(worker.requests.size(), requests);
      // Who fails again and again is not asked for ever.
      EXPECT_LE(worker.requests.size(), requests + 3);
    }
  }
}

TEST_F(SimulatedFusionTest, ALostWorkerIsAskedAgainOnceItIsBack) {
  const hlo::Module module = hlo::VerifiedModule(kModule);
  const auto here = Make(module);
  const auto there = Make(module, &worker_);
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  const auto measure = [&](size_t i) {
    ExpectSame(there->MeasureBatch({&candidates[i], 1}),
               here->MeasureBatch({&candidates[i], 1}));
  };
  const std::vector<backends::KernelDevice> devices = worker_.devices;
  worker_.devices.clear();
  worker_.error = absl::UnavailableError("no worker offers it");
  // Asked once, and waited for.
  const size_t before = worker_.requests.size();
  for (size_t i = 0; i < 10; ++i) measure(i);
  EXPECT_EQ(worker_.requests.size(), before + 1);
  worker_.devices = devices;
  worker_.error = absl::OkStatus();
  for (size_t i = 10; i < candidates.size(); ++i) measure(i);
  EXPECT_GT(worker_.requests.size(), before + 2);
}

TEST_F(SimulatedFusionTest, ImpossibleReportsAreNotBelieved) {
  using backends::KernelReport;
  const hlo::Module module = hlo::VerifiedModule(kModule);
  const auto here = Make(module);
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  for (const auto& spoil : std::vector<std::function<void(KernelReport&)>>{
           [](KernelReport& r) { r.candidates.pop_back(); },
           [](KernelReport& r) { r.candidates.emplace_back(); },
           [](KernelReport& r) { r.candidates.clear(); },
           // That it crashed is not that the kernel cannot run.
           [](KernelReport& r) {
             r.candidates[0].outcome = space::Outcome::kCrashed;
           },
           [](KernelReport& r) {
             r.candidates[0].outcome = space::Outcome::kTimeout;
           },
           [](KernelReport& r) {
             r.candidates[0].outcome = space::Outcome::kInvalid;
             r.candidates[0].violation = 1e300;
           }}) {
    ScriptedKernels worker;
    worker.Offer(tpu_);
    worker.machines = {"lab"};
    worker.spoil = spoil;
    const auto there = Make(module, &worker);
    ExpectSame(there->MeasureBatch(candidates), here->MeasureBatch(candidates));
    EXPECT_FALSE(worker.requests.empty());
    EXPECT_THAT(there->machines(), IsEmpty());
  }
}

// They are not taken for kernels that cannot run.
TEST_F(SimulatedFusionTest, ErrorsOfTheWorkAndAStopEndTheMeasurement) {
  const hlo::Module module = hlo::VerifiedModule(kModule);
  const auto here = Make(module);
  const auto there = Make(module, &worker_);
  const std::vector<space::Candidate> candidates = SomeCandidates(*here);
  worker_.error = absl::InvalidArgumentError("spoiled");
  EXPECT_THAT(
      there->MeasureBatch(candidates).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spoiled")));
  EXPECT_THAT(
      TpuFusionProblem::Create(
          module, SimulatedFusion(tpu_, {.target = "tpu", .kernels = &worker_}))
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("spoiled")));
  worker_.error = absl::OkStatus();
  stops_ = true;
  EXPECT_THAT(there->MeasureBatch(candidates).status(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  stops_ = false;
  ExpectSame(there->MeasureBatch(candidates), here->MeasureBatch(candidates));
}

TEST_F(SimulatedFusionTest, TheTaskRecordsTheMachinesThatMeasured) {
  const Task& task = **FindTask("fusion");
  const Subject subject(hlo::VerifiedModule(kModule));
  TaskOptions options;
  options.tpu = tpu_;
  const auto machines_of = [&](backends::KernelMeasurer* kernels) {
    const auto problem = task.MakeProblem(
        subject, options, {.target = "tpu", .kernels = kernels});
    HONE_EXPECT_OK(problem.status());
    const auto winner =
        task.Judge(subject, **problem, (*problem)->DefaultCandidate(), {});
    HONE_EXPECT_OK(winner.status());
    return winner->verification.measured_by;
  };
  worker_.machines = {"lab"};
  EXPECT_THAT(machines_of(&worker_), ElementsAre("lab"));
  EXPECT_THAT(machines_of(nullptr), IsEmpty());
  // One that offers another TPU.
  ScriptedKernels other;
  other.Offer(*backends::FindTpu("v3"));
  EXPECT_THAT(machines_of(&other), IsEmpty());
  EXPECT_THAT(other.requests, IsEmpty());
}

}  // namespace
}  // namespace hone::tuning
