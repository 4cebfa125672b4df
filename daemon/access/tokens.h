#ifndef HONE_DAEMON_ACCESS_TOKENS_H_
#define HONE_DAEMON_ACCESS_TOKENS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "daemon/access/methods.h"

namespace hone::daemon {

// Who may call, by token. Only digests are known here: whoever reads the file
// of tokens cannot call.
class TokenTable {
 public:
  struct Client {
    std::string name;
    Roles roles;
  };

  // Parses lines "NAME ROLE[,ROLE] SHA256-OF-TOKEN"; empty lines and lines that
  // begin with # are left out.
  // Errors: InvalidArgument, "FILE:LINE: what, expected what", without digests.
  static absl::StatusOr<TokenTable> Parse(absl::string_view text,
                                          absl::string_view file_name);
  // Reads and parses. Errors: also NotFound; InvalidArgument if others than its
  // owner may write to the file.
  static absl::StatusOr<TokenTable> Read(const std::string& path);

  // Returns the client of a token; null if there is none. Takes the same time
  // for every token of a length.
  const Client* Find(absl::string_view token) const;

 private:
  struct Entry {
    Client client;
    std::string digest;
  };
  std::vector<Entry> entries_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_TOKENS_H_
