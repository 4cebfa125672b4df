#ifndef HONE_BASE_TRACE_CONTEXT_H_
#define HONE_BASE_TRACE_CONTEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hone {

// Returns true for a `traceparent` of W3C Trace Context (level 1, section 3.2):
// "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".
bool IsTraceparent(absl::string_view text);

// Returns the traceparent of the request that this thread works for; empty if
// it has none.
absl::string_view CurrentTraceparent();

// Sets the traceparent of this thread while it lives. Scopes nest.
class TraceScope {
 public:
  // `traceparent` is copied; one that is malformed counts as none.
  explicit TraceScope(absl::string_view traceparent);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  std::string previous_;
};

}  // namespace hone

#endif  // HONE_BASE_TRACE_CONTEXT_H_
