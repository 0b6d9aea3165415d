// Many functions in one module, on as many threads as MLIR likes: the same text every time.
// RUN: %python %S/../many_functions.py > %t.mlir
// RUN: %opt --mlir-disable-threading --pass-pipeline='builtin.module(func.func(indexing-annotate,indexing-narrow,canonicalize,indexing-lower,cse))' %t.mlir > %t.one 2> /dev/null
// RUN: for i in 1 2 3 4 5; do %opt --pass-pipeline='builtin.module(func.func(indexing-annotate,indexing-narrow,canonicalize,indexing-lower,cse))' %t.mlir > %t.many 2> /dev/null && cmp %t.one %t.many || exit 1; done
// RUN: FileCheck %s < %t.one
// CHECK-COUNT-400: func.func
// CHECK-NOT: indexing.apply
