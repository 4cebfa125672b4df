#ifndef HONE_BENCH_FAULTS_SLOW_CONNECTION_H_
#define HONE_BENCH_FAULTS_SLOW_CONNECTION_H_

#include <string>

namespace hone::bench {

// A TCP connection on loopback that sends some bytes and then nothing.
class SlowConnection {
 public:
  SlowConnection(int port, const std::string& bytes);
  ~SlowConnection();
  SlowConnection(const SlowConnection&) = delete;
  SlowConnection& operator=(const SlowConnection&) = delete;

 private:
  const int socket_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_SLOW_CONNECTION_H_
