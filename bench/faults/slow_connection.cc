#include "bench/faults/slow_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone::bench {

SlowConnection::SlowConnection(int port, const std::string& bytes)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address),
              sizeof(address)) == 0) {
    (void)send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
}

SlowConnection::~SlowConnection() { close(socket_); }

}  // namespace hone::bench
