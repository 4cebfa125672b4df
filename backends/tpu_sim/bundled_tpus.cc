#include "backends/tpu_sim/bundled_tpus.h"

#include "base/embedded_file.h"

// HONE_TPU_FILES is the folder tpus/.
#define HONE_TPU(symbol, name) \
  HONE_EMBED_FILE(symbol, HONE_TPU_FILES "/" name ".toml");
#include "backends/tpu_sim/tpus.def"
#undef HONE_TPU

namespace hone::backends {

const Registry<BundledTpu>& BundledTpus() {
  static const auto* const tpus = new Registry<BundledTpu>("TPU", {
#define HONE_TPU(symbol, name) {name, HONE_EMBEDDED_FILE(symbol)},
#include "backends/tpu_sim/tpus.def"
#undef HONE_TPU
                                                                  });
  return *tpus;
}

}  // namespace hone::backends
