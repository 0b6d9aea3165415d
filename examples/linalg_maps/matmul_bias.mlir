// A matmul, a bias for each column, and the positive part.
func.func @matmul_bias(%a: tensor<512x1024xf32>, %b: tensor<1024x256xf32>, %bias: tensor<256xf32>) -> tensor<512x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x256xf32>) -> tensor<512x256xf32>
  %product = linalg.matmul ins(%a, %b : tensor<512x1024xf32>, tensor<1024x256xf32>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%product, %bias : tensor<512x256xf32>, tensor<256xf32>) outs(%empty : tensor<512x256xf32>) {
  ^bb0(%x: f32, %y: f32, %unused: f32):
    %sum = arith.addf %x, %y : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<512x256xf32>
  return %result : tensor<512x256xf32>
}
