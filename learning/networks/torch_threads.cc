#include "learning/networks/torch_threads.h"

#include "absl/synchronization/mutex.h"
#include <cblas.h>
#include <torch/torch.h>

namespace hone::learning {

void UseOneThread() {
  static const bool done = [] {
    at::set_num_threads(1);
    openblas_set_num_threads(1);
    return true;
  }();
  (void)done;
}

void WithSeed(uint64_t seed, const std::function<void()>& make) {
  UseOneThread();
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  torch::manual_seed(seed);
  make();
}

}  // namespace hone::learning
