// Says what is wrong where the headers are compiled for an older C++ than they are written in.
// Every public header includes this one first, by itself or through others.
#ifndef XLA_INDEXING_BASE_CPP20_H_
#define XLA_INDEXING_BASE_CPP20_H_

#if __cplusplus < 202002L
#error "xla_indexing needs C++20: compile with -std=c++20"
#endif

#endif  // XLA_INDEXING_BASE_CPP20_H_
