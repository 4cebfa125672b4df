#ifndef HONE_BACKENDS_TPU_SIM_BUNDLED_TPUS_H_
#define HONE_BACKENDS_TPU_SIM_BUNDLED_TPUS_H_

#include "absl/strings/string_view.h"

#include "base/registry.h"

namespace hone::backends {

// One line of tpus.def: a file of tpus/, which is part of the program.
struct BundledTpu {
  absl::string_view id;
  absl::string_view text;  // TOML (ParseTpu)
};

const Registry<BundledTpu>& BundledTpus();

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_BUNDLED_TPUS_H_
