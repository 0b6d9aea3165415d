module @regions attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1]0,1}"}, %arg1: tensor<f32>, %arg2: tensor<i32>) -> (tensor<4xf32>, tensor<4x3xf32>) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %1:2 = stablehlo.while(%iterArg = %0, %iterArg_0 = %arg2) : tensor<4xf32>, tensor<i32>
    cond {
      %4 = stablehlo.compare LT, %iterArg_0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %5 = func.call @f(%iterArg, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %6 = stablehlo.add %iterArg_0, %c : tensor<i32>
      stablehlo.return %5, %6 : tensor<4xf32>, tensor<i32>
    }
    %2 = "stablehlo.case"(%1#1) ({
      stablehlo.return %arg0 : tensor<4x3xf32>
    }, {
      %4 = chlo.erf_inv %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>
      stablehlo.return %4 : tensor<4x3xf32>
    }) : (tensor<i32>) -> tensor<4x3xf32>
    %3 = "stablehlo.sort"(%2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %4 = stablehlo.multiply %arg3, %arg1 : tensor<f32>
      %5 = stablehlo.compare LT, %4, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %1#0, %3 : tensor<4xf32>, tensor<4x3xf32>
  }
  func.func private @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
