// What the generated kernels are made of, and the program around them.
//
//   kernels NAME DIRECTORY [times]
//
// launches the kernel NAME once, on DIRECTORY/p (floats) and, where it reads indices, DIRECTORY/i (32-bit integers),
// and writes its result to DIRECTORY/out.
//
// nvcc compiles it for a GPU. With `times`, the fewest microseconds of so many further launches are printed.
//
// Another compiler compiles it for the processor: the threads of a block are threads of the processor, blocks run one
// after the other, and every access is recorded. A *request* is what the lanes of a warp access at one site of the
// source in one step of the loops. For each site a line is printed,
//
//   site  requests  sectors  wavefronts
//
// sectors: the different 32 bytes that a request touches, summed over requests; wavefronts: the most different words of
// 4 bytes in one of 32 banks, summed likewise. They are counted from the addresses, one by one: nothing here knows
// about indexing maps.
#ifndef XLA_INDEXING_SCRIPTS_GPU_SUPPORT_H_
#define XLA_INDEXING_SCRIPTS_GPU_SUPPORT_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include <barrier>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#define __device__
#define __global__
#define __shared__ static

struct dim3 {
  unsigned x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

inline thread_local dim3 threadIdx, blockIdx;
inline std::barrier<>* block_barrier = nullptr;
inline void __syncthreads() { block_barrier->arrive_and_wait(); }
#endif

// An integer whose division rounds down, as that of indexing maps does.
struct Index {
  int value;

  __device__ Index(int value) : value(value) {}

  __device__ friend Index operator+(Index a, Index b) { return a.value + b.value; }
  __device__ friend Index operator-(Index a, Index b) { return a.value - b.value; }
  __device__ friend Index operator-(Index a) { return -a.value; }
  __device__ friend Index operator*(Index a, Index b) { return a.value * b.value; }
  __device__ friend Index operator/(Index a, Index b) {
    return a.value / b.value - (a.value % b.value < 0 ? 1 : 0);
  }
  __device__ friend Index operator%(Index a, Index b) {
    const int rest = a.value % b.value;
    return rest < 0 ? rest + b.value : rest;
  }
  __device__ friend bool operator<=(Index a, Index b) { return a.value <= b.value; }
  __device__ Index& operator++() {
    ++value;
    return *this;
  }
  template <typename T>
  __device__ friend T* operator+(T* begin, Index index) {
    return begin + index.value;
  }
};

__device__ inline bool Within(Index index, int least, int most) {
  return least <= index.value && index.value <= most;
}

__device__ inline Index Clamp(Index index, int least, int most) {
  return index.value < least ? least : index.value > most ? most : index.value;
}

// The index of an array of words at whose byte address the bits from `source` on are XORed into those from `target` on.
template <int bits, int target, int source>
__device__ Index Swizzled(Index word) {
  const unsigned byte = static_cast<unsigned>(word.value) * 4;
  return static_cast<int>((byte ^ (((byte >> source) & ((1U << bits) - 1)) << target)) / 4);
}

__device__ inline const float4* VectorAt(const float* begin) {
  return reinterpret_cast<const float4*>(begin);
}
__device__ inline float4* VectorAt(float* begin) { return reinterpret_cast<float4*>(begin); }

#ifdef __CUDACC__
__device__ inline void Record(int, Index, const void*, int) {}
#else
struct Touch {
  int site, block, warp, step;
  uintptr_t address;
  int bytes;
};
inline thread_local std::vector<Touch>* touches = nullptr;  // of this thread
inline thread_local int this_block = 0, this_warp = 0;

inline void Record(int site, Index step, const void* address, int bytes) {
  touches->push_back(
      {site, this_block, this_warp, step.value, reinterpret_cast<uintptr_t>(address), bytes});
}
#endif

template <typename T>
__device__ T Load(int site, Index step, const T* from) {
  Record(site, step, from, sizeof(T));
  return *from;
}

template <typename T>
__device__ void Store(int site, Index step, T* to, T value) {
  Record(site, step, to, sizeof(T));
  *to = value;
}

struct Launch {
  const char* name;
  void (*kernel)(const float* p, const int* i, float* out);
  dim3 grid, block;
  size_t p, i, out;  // numbers of elements
};

[[noreturn]] inline void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

// Copies a whole file from or to memory.
inline void Transfer(const std::string& path, const char* mode, void* memory, size_t bytes) {
  std::FILE* const file = std::fopen(path.c_str(), mode);
  if (file == nullptr) Fail("cannot open " + path);
  const size_t done =
      mode[0] == 'r' ? std::fread(memory, 1, bytes, file) : std::fwrite(memory, 1, bytes, file);
  if (std::fclose(file) != 0 || done != bytes) Fail("cannot transfer all of " + path);
}

#ifdef __CUDACC__

inline void Check(cudaError_t error) {
  if (error != cudaSuccess) Fail(cudaGetErrorString(error));
}

inline void* Allocate(size_t bytes) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, bytes));
  Check(cudaMemset(memory, 0xff, bytes));  // NaN, where nothing is written
  return memory;
}

inline void Execute(const Launch& launch, const std::string& directory, int times) {
  const size_t bytes[] = {launch.p * sizeof(float), launch.i * sizeof(int),
                          launch.out * sizeof(float)};
  const std::string paths[] = {directory + "/p", directory + "/i", directory + "/out"};
  void* arrays[3];
  for (int k = 0; k < 3; ++k) arrays[k] = Allocate(bytes[k]);
  std::vector<char> host;
  for (int k = 0; k < (launch.i > 1 ? 2 : 1); ++k) {
    host.resize(bytes[k]);
    Transfer(paths[k], "rb", host.data(), bytes[k]);
    Check(cudaMemcpy(arrays[k], host.data(), bytes[k], cudaMemcpyHostToDevice));
  }
  const auto start = [&] {
    launch.kernel<<<launch.grid, launch.block>>>(static_cast<const float*>(arrays[0]),
                                                 static_cast<const int*>(arrays[1]),
                                                 static_cast<float*>(arrays[2]));
    Check(cudaGetLastError());
  };
  start();
  Check(cudaDeviceSynchronize());
  host.resize(bytes[2]);
  Check(cudaMemcpy(host.data(), arrays[2], bytes[2], cudaMemcpyDeviceToHost));
  Transfer(paths[2], "wb", host.data(), bytes[2]);

  cudaEvent_t before, after;
  Check(cudaEventCreate(&before));
  Check(cudaEventCreate(&after));
  float fewest = 0;
  for (int k = 0; k < times; ++k) {
    Check(cudaEventRecord(before));
    start();
    Check(cudaEventRecord(after));
    Check(cudaEventSynchronize(after));
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, before, after));
    if (k == 0 || milliseconds < fewest) fewest = milliseconds;
  }
  if (times > 0) std::printf("%.2f\n", fewest * 1000);
}

#else

inline void* Allocate(size_t bytes) {
  const size_t alignment = 256;
  void* const memory =
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) Fail("no memory");
  std::memset(memory, 0xff, bytes);  // NaN, where nothing is written
  return memory;
}

// Prints what the requests of each site cost.
inline void PrintCosts(const std::vector<std::vector<Touch>>& recorded) {
  struct Request {
    std::set<uintptr_t> sectors, words;
  };
  std::map<std::tuple<int, int, int, int>, Request> requests;
  for (const std::vector<Touch>& of_thread : recorded) {
    for (const Touch& touch : of_thread) {
      Request& request = requests[{touch.site, touch.block, touch.warp, touch.step}];
      for (int byte = 0; byte < touch.bytes; ++byte) {
        request.sectors.insert((touch.address + byte) / 32);
        request.words.insert((touch.address + byte) / 4);
      }
    }
  }
  struct Cost {
    size_t requests = 0, sectors = 0, wavefronts = 0;
  };
  std::map<int, Cost> costs;
  for (const auto& [key, request] : requests) {
    size_t in_bank[32] = {};
    size_t most = 0;
    for (const uintptr_t word : request.words) {
      const size_t words = ++in_bank[word % 32];
      if (words > most) most = words;
    }
    Cost& cost = costs[std::get<0>(key)];
    ++cost.requests;
    cost.sectors += request.sectors.size();
    cost.wavefronts += most;
  }
  for (const auto& [site, cost] : costs) {
    std::printf("%d %zu %zu %zu\n", site, cost.requests, cost.sectors, cost.wavefronts);
  }
}

inline void Execute(const Launch& launch, const std::string& directory, int /*times*/) {
  auto* const p = static_cast<float*>(Allocate(launch.p * sizeof(float)));
  auto* const i = static_cast<int*>(Allocate(launch.i * sizeof(int)));
  auto* const out = static_cast<float*>(Allocate(launch.out * sizeof(float)));
  Transfer(directory + "/p", "rb", p, launch.p * sizeof(float));
  if (launch.i > 1) Transfer(directory + "/i", "rb", i, launch.i * sizeof(int));

  const dim3 block = launch.block, grid = launch.grid;
  const unsigned count = block.x * block.y * block.z;
  std::barrier<> barrier(count);
  block_barrier = &barrier;
  std::vector<std::vector<Touch>> recorded(count);
  std::vector<std::thread> threads;
  for (unsigned id = 0; id < count; ++id) {
    threads.emplace_back([&, id] {
      threadIdx = {id % block.x, id / block.x % block.y, id / block.x / block.y};
      this_warp = static_cast<int>(id / 32);
      touches = &recorded[id];
      for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b) {
        blockIdx = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
        this_block = static_cast<int>(b);
        launch.kernel(p, i, out);
        __syncthreads();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  PrintCosts(recorded);
  Transfer(directory + "/out", "wb", out, launch.out * sizeof(float));
}

#endif

template <size_t count>
int Run(const Launch (&launches)[count], int argc, char** argv) {
  if (argc != 3 && argc != 4) Fail("usage: kernels NAME DIRECTORY [times]");
  for (const Launch& launch : launches) {
    if (std::string(argv[1]) != launch.name) continue;
    Execute(launch, argv[2], argc == 4 ? std::atoi(argv[3]) : 0);
    return 0;
  }
  Fail(std::string("there is no kernel ") + argv[1]);
}

#endif  // XLA_INDEXING_SCRIPTS_GPU_SUPPORT_H_
