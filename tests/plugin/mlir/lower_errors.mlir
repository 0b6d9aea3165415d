// RUN: %opt --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(indexing-lower)' %s

func.func @too_large(%i: index) -> index {
  // expected-error @below {{cannot be lowered: }}
  %0 = indexing.apply #indexing.map<"(d0) -> (d0 * 1000), domain: d0 in [0, 9000000000000000000]">(%i)
  return %0 : index
}
