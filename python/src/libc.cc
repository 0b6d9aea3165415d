// What the archives take from the newest glibc, from older ones.
//
// LLVM's support library asks arc4random, of glibc 2.36, for a random number. With the function defined here the
// extension module needs no glibc newer than 2.34 (what needs that one is said in BUILD.md).

#include <sys/random.h>

#include <cstdint>

extern "C" uint32_t arc4random() {
  uint32_t number = 0;
  // Short of that, any number serves: it makes up names of temporary files, of which the library has none.
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) number = 4;
  return number;
}
