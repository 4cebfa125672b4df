// The memory and threads of calls of exported shared objects.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include <malloc.h>

#include "backends/cpu/native_module.h"
#include "hlo/text/parser.h"
#include "tests/backends/cpu/export/exported_example.h"
#include "tests/backends/exported_library.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::Context;
using ::hone::testing::Example;
using ::hone::testing::ExampleArrays;
using ::hone::testing::ExpectError;
using ::hone::testing::ExportedLibrary;
using ::hone::testing::kExampleProgram;

// ---- Memory -----------------------------------------------------------------

// A workspace at an odd address between bytes that must not change.
class GuardedWorkspace {
 public:
  explicit GuardedWorkspace(int64_t bytes)
      : bytes_(bytes), memory_(static_cast<size_t>(bytes) + 2 * kGuard, 77) {}

  void AddTo(hone_context& context) {
    context.workspace = memory_.data() + kGuard;
    context.workspace_bytes = bytes_;
  }
  bool GuardsAreIntact() const {
    const auto is_guard = [](char c) { return c == 77; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuard, is_guard) &&
           std::all_of(memory_.end() - kGuard, memory_.end(), is_guard);
  }

 private:
  static constexpr int64_t kGuard = 129;
  const int64_t bytes_;
  std::vector<char> memory_;
};

struct Allocator {
  explicit Allocator(hone_context& context) {
    context.allocator_data = this;
    context.allocate = [](void* data, size_t size, size_t alignment) {
      auto* self = static_cast<Allocator*>(data);
      ++self->allocated;
      self->bytes = static_cast<int64_t>(size);
      return self->is_full ? nullptr : std::aligned_alloc(alignment, size);
    };
    context.release = [](void* data, void* memory) {
      ++static_cast<Allocator*>(data)->released;
      std::free(memory);
    };
  }
  int allocated = 0;
  int released = 0;
  int64_t bytes = 0;
  bool is_full = false;
};

int64_t BytesOfMalloc() {
  const struct mallinfo2 usage = mallinfo2();
  return static_cast<int64_t>(usage.uordblks + usage.hblkhd);
}

TEST(ExportedCall, AllocatesNothingWithAWorkspace) {
  hone_context context = Context();
  context.threads = 5;
  // The pool has its threads already.
  ExampleArrays arrays;
  ASSERT_EQ(arrays.Call(&context), HONE_OK);
  const ExportedLibrary library =
      ExportedLibrary::OfProgram(kExampleProgram, {.threads = 3});
  Allocator allocator(context);
  GuardedWorkspace workspace(library.info().workspace_bytes);
  workspace.AddTo(context);
  const void* arguments[] = {arrays.x.data()};
  void* results[] = {arrays.y.data(), arrays.z.data()};
  const int64_t before = BytesOfMalloc();
  EXPECT_EQ(library.Call(&context, arguments, results), HONE_OK);
  EXPECT_EQ(BytesOfMalloc(), before);
  EXPECT_EQ(allocator.allocated, 0);
  EXPECT_TRUE(arrays.AreRight());
  EXPECT_TRUE(workspace.GuardsAreIntact());
}

TEST(ExportedCall, AWorkspaceHasRoomForOneThread) {
  const hone_info& info = Example().info();
  const int64_t least = info.workspace_bytes - info.workspace_bytes_per_thread;
  ExampleArrays arrays;
  const void* arguments[] = {arrays.x.data()};
  void* results[] = {arrays.y.data(), arrays.z.data()};
  hone_context context = Context();
  GuardedWorkspace small(least - 64);
  small.AddTo(context);
  ExpectError(HONE_ERROR_WORKSPACE, "expected at least", &context, arguments,
              results, arrays);
  GuardedWorkspace workspace(least);
  workspace.AddTo(context);
  EXPECT_EQ(Example().Call(&context, arguments, results), HONE_OK);
  EXPECT_TRUE(arrays.AreRight());
  EXPECT_TRUE(workspace.GuardsAreIntact());
}

TEST(ExportedCall, AllocatesItsWorkspaceAtOnce) {
  hone_context context = Context();
  context.threads = 2;
  Allocator allocator(context);
  ExampleArrays arrays;
  EXPECT_EQ(arrays.Call(&context), HONE_OK);
  EXPECT_TRUE(arrays.AreRight());
  EXPECT_EQ(allocator.allocated, 1);
  EXPECT_EQ(allocator.released, 1);
  EXPECT_EQ(allocator.bytes, Example().info().workspace_bytes - 63);
}

TEST(ExportedCall, ReportsThatThereIsNoMemory) {
  hone_context context = Context();
  Allocator allocator(context);
  allocator.is_full = true;
  ExampleArrays arrays;
  const void* arguments[] = {arrays.x.data()};
  void* results[] = {arrays.y.data(), arrays.z.data()};
  ExpectError(HONE_ERROR_OUT_OF_MEMORY, "no memory for a workspace", &context,
              arguments, results, arrays);
  EXPECT_EQ(allocator.released, 0);
}

// A loop in a loop, a conditional and steps behind them: one workspace.
constexpr char kModule[] = R"(HloModule nested

condition {
  state = (s32[], f32[900]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}

inner {
  state = (s32[], f32[900]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[900] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  twice = f32[900] add(x, x)
  turned = f32[900] reverse(twice), dimensions={0}
  ROOT all = (s32[], f32[900]) tuple(next, turned)
}

outer {
  state = (s32[], f32[900]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[900] get-tuple-element(state), index=1
  zero = s32[] constant(0)
  start = (s32[], f32[900]) tuple(zero, x)
  loop = (s32[], f32[900]) while(start), condition=condition, body=inner
  y = f32[900] get-tuple-element(loop), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT all = (s32[], f32[900]) tuple(next, y)
}

negated {
  x = f32[900] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[900]) tuple(zero, x)
  loop = (s32[], f32[900]) while(start), condition=condition, body=inner
  y = f32[900] get-tuple-element(loop), index=1
  ROOT minus = f32[900] negate(y)
}

same {
  x = f32[900] parameter(0)
  ROOT copy = f32[900] copy(x)
}

ENTRY main {
  choice = pred[] parameter(0)
  x = f32[900] parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[900]) tuple(zero, x)
  loop = (s32[], f32[900]) while(start), condition=condition, body=outer
  y = f32[900] get-tuple-element(loop), index=1
  chosen = f32[900] conditional(choice, y, y), true_computation=negated, false_computation=same
  ROOT sum = f32[900] add(chosen, x)
}
)";

TEST(ExportedCall, AModulesWorkspaceHasRoomForItsLoops) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(kModule));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::ModulePlan plan,
                            LowerAndSchedule(module, 1));
  const ExportedLibrary library = ExportedLibrary::OfPlan(plan, {.threads = 1});
  EXPECT_STREQ(library.info().name, "nested");
  std::vector<float> x(900);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::vector<float> sum(900);
  const void* arguments[] = {nullptr, x.data()};
  void* results[] = {sum.data()};
  hone_context context = Context();
  GuardedWorkspace workspace(library.info().workspace_bytes);
  workspace.AddTo(context);
  ASSERT_GT(library.info().workspace_bytes, 900 * 4);
  for (const bool choice : {true, false}) {
    arguments[0] = &choice;
    const int64_t before = BytesOfMalloc();
    ASSERT_EQ(library.Call(&context, arguments, results), HONE_OK);
    EXPECT_EQ(BytesOfMalloc(), before);
    EXPECT_TRUE(workspace.GuardsAreIntact());
    // 9 or 12 times doubled and reversed.
    for (size_t i = 0; i < x.size(); ++i) {
      const float y = choice ? -4096 * x[i] : 512 * x[x.size() - 1 - i];
      ASSERT_EQ(sum[i], y + x[i]) << i;
    }
  }
}

// ---- Threads ----------------------------------------------------------------

struct ThreadsOfTheCaller {
  explicit ThreadsOfTheCaller(hone_context& context) {
    context.parallel_for_data = this;
    context.parallel_for = [](void* data, hone_body body, void* body_data,
                              int64_t count) {
      ++static_cast<ThreadsOfTheCaller*>(data)->loops;
      std::vector<std::thread> threads;
      for (int64_t i = 0; i < count; ++i) {
        threads.emplace_back([=] { body(body_data, i, i + 1); });
      }
      for (std::thread& thread : threads) thread.join();
    };
  }
  int loops = 0;
};

// Many more bodies at once than the workspace has room for.
TEST(ExportedCall, RunsOnThreadsOfTheCaller) {
  hone_context context = Context();
  context.threads = 2;
  ThreadsOfTheCaller threads(context);
  for (int i = 0; i < 20; ++i) {
    ExampleArrays arrays;
    EXPECT_EQ(arrays.Call(&context), HONE_OK);
    EXPECT_TRUE(arrays.AreRight());
  }
  EXPECT_EQ(threads.loops, 20);
}

TEST(ExportedCall, CallersAtTheSameTime) {
  Example().set_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&wrong] {
      for (int i = 0; i < 50; ++i) {
        ExampleArrays arrays;
        if (arrays.Call(nullptr) != HONE_OK || !arrays.AreRight()) ++wrong;
        const void* arguments[] = {nullptr};
        void* results[] = {arrays.y.data(), arrays.z.data()};
        if (Example().Call(nullptr, arguments, results) !=
            HONE_ERROR_NULL_ARGUMENT) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hone::backends
