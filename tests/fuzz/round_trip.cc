#include "tests/fuzz/round_trip.h"

#include <string>

#include "base/check.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/proto/io.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace hone::hlo {

void CheckRoundTrips(const absl::StatusOr<Module>& module) {
  if (!module.ok() || !VerifyModule(*module).ok()) return;
  const std::string fingerprint = Fingerprint(*module);
  const absl::StatusOr<Module> text = ParseHloText(PrintModule(*module));
  HONE_CHECK(text.ok());
  HONE_CHECK(VerifyModule(*text).ok());
  HONE_CHECK(Fingerprint(*text) == fingerprint);
  const absl::StatusOr<std::string> bytes = SerializeHloProto(*module);
  if (!bytes.ok()) return;
  const absl::StatusOr<Module> proto = ParseHloProto(*bytes);
  HONE_CHECK(proto.ok());
  HONE_CHECK(VerifyModule(*proto).ok());
  HONE_CHECK(Fingerprint(*proto) == fingerprint);
}

}  // namespace hone::hlo
