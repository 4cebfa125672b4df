#include "tuning/producer.h"

#include <array>

#include "absl/strings/str_cat.h"
#include <unistd.h>

namespace hone::tuning {

const std::string& Producer() {
  static const auto* const producer = [] {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return new std::string(
        absl::StrCat("hone ", HONE_VERSION, " on ", host.data()));
  }();
  return *producer;
}

}  // namespace hone::tuning
