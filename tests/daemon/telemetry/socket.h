#ifndef HONE_TESTS_DAEMON_TELEMETRY_SOCKET_H_
#define HONE_TESTS_DAEMON_TELEMETRY_SOCKET_H_

#include <string>

#include "gtest/gtest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone::testing {

// A client of a port on loopback.
class Socket {
 public:
  explicit Socket(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address),
                         sizeof(address)) == 0;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(fd_); }

  bool connected() const { return connected_; }
  void Send(const std::string& text) {
    EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Reads to the end.
  std::string Receive() {
    std::string all;
    char bytes[4096];
    for (ssize_t size; (size = recv(fd_, bytes, sizeof(bytes), 0)) > 0;) {
      all.append(bytes, static_cast<size_t>(size));
    }
    return all;
  }

 private:
  const int fd_;
  bool connected_ = false;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_TELEMETRY_SOCKET_H_
