// Counts how deep calls nest: the depth is greater by one for as long as the object exists.
#ifndef XLA_INDEXING_AFFINE_EXPR_NESTED_H_
#define XLA_INDEXING_AFFINE_EXPR_NESTED_H_

namespace xla_indexing::internal {

class Nested {
 public:
  explicit Nested(int* depth) : depth_(*depth) { ++depth_; }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int& depth_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_NESTED_H_
