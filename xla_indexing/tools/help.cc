#include "xla_indexing/tools/help.h"

namespace xla_indexing {

absl::string_view HelpText() {
  return R"(print-indexing: which elements of one tensor an element of another depends on

    print-indexing [flags] FILE...

reads HLO ('-' reads standard input) and prints indexing maps: for each operand of an instruction,
which of its elements an element of the output is computed from. A FILE is, by its content and not
its name, HLO text, of several modules where lines '// -----' separate them, a module of StableHLO
text, or a serialized HloModuleProto or HloProto of one, or any compressed by gzip; of at most 2^30
bytes.

What is analysed
  (nothing given)        the ROOT of the ENTRY computation of every module; a fusion or call is
                         looked into
  --instruction=NAME     the instruction of that name, in every computation that has one;
                         --computation=C picks the one in C. 'all': every instruction of
                         every computation (of C). In StableHLO '%5' is what is called so there
  --computation=NAME     alone: that computation taken as one fusion, maps between its ROOT and its
                         parameters
  --fuse                 the same for the ENTRY computation
  --output_id=N          only leaf N of the output
  --operand_id=N         only operand (parameter) N
                         Leaves are the arrays of a tuple numbered depth first; an array is its own
                         leaf 0. Past 262,144 pairs of leaves of a module and direction, a line
                         says how many more there may be.
  --no-verify            a module that is not valid is no error: what is wrong in it is reported as
                         warnings, the reads of a wrong instruction are 'unknown', and everything
                         else is analysed. A fusion or call whose operands have other shapes than
                         the parameters of its computation is analysed as that computation: its
                         maps lead to the parameters

What is said of it
  --direction=output-to-input   from output elements to the operand elements they read (default)
  --direction=input-to-output   from operand elements to the output elements they are used for
  --direction=both
  --exact                the tightest maps there are: several disjoint ones where one map would be
                         larger than what is read
  --dependence           what can change a value, instead of what is read: of a select whose predicate
                         is decided by indices and constants, only the value that it takes
  --assume_finite        likewise where all numbers that are not constants are finite and below 1e9 in
                         size, and none is rounded to 0: 0 * x is 0, exp(-inf) is 0, and -1e30
                         counts as -inf
  --simplify=auto        single operations in the form of their definition, with the runtime values
                         that the module fixes filled in; fusions and computations simplified
                         (default)
  --simplify=always      everything simplified; a variable of one value is replaced by it
  --simplify=never       single operations in the form of their definition, nothing filled in

How it is printed
  --format=text          a heading for each operand, then its maps, one a line (default)
  --names                operands' names behind their numbers in the headings: 'Output 0 operand 7
                         (w.12):'; JSON has them anyway
  --format=json          one JSON object for each module, one line each
  --summary              instead of maps: how many of them are exact, and what keeps the others from
                         being so, by opcode and reason; over all of FILE...
  --query=LIST           after the maps, answers to questions, with commas between them:
                         coalescing    how many requests, sectors and lines of memory the warps of
                                       a launch touch; lines below each map, and of the output's
                                       writes, where it is written: not of parameters,
                                       constants, tuples, get-tuple-elements and bitcasts
                         in-place      whether each output may be written into the buffer of an
                                       operand of equal size, in which order of loops, and how
                                       many elements are written then; lines below the maps
                         indices       what each gather and scatter is: a slice, pad, transpose,
                                       concatenation, .., and whether its indices are sorted,
                                       unique and in bounds; lines behind the maps
                         tiling        what tile of each operand a tile of the output needs: offset,
                                       size and stride by tile index k and sizes t, and the
                                       conditions under which that is just what is read; below
                                       the maps, the dimensions that can be cut, those that
                                       contractions go over among them
                         utilization   how many elements of each operand are read, how often, and
                                       bytes; a line below the maps, and totals of computations
  --emit=hlo             instead of the maps, the modules as HLO text; of --query=indices, with
                         gathers and scatters written as what they are
  --emit=mlir            instead of the maps, the ENTRY of each module, or --computation=NAME, as a
                         function of MLIR that computes it: loops, index arithmetic, loads, stores;
                         with --tile_sizes=A,B,.. tile by tile, and with --one_pass as well in one
                         pass
  --tile_sizes=A,B,..    of --query=tiling: sizes, one for each dimension of the output (of the
                         operand, for --direction=input-to-output), or by name (d0=64,d1=64,k=32):
                         the first tile as numbers, and the graph of tiles, with loops, what is
                         loaded and stored, and bytes
  --budget=BYTES         of --query=tiling: the tile sizes that take --machine=NAME the least time
                         while no more bytes than so many are held at a time; 48KiB, 1MiB or a number
  --one_pass             of --query=tiling and --emit=mlir: one loop for the maximum, the sum and the
                         weighted sum of a softmax or an attention, with what rescales sums when the
                         maximum grows
  --one_buffer=A,B,..    of --query=in-place: whether the results of these instructions of the ENTRY
                         computation (or of --computation) may lie in one buffer, one after the
                         other, A#2 for leaf 2 of a tuple; a parameter is taken to be donated; lines
                         behind the maps
  --threads_per_block=N, --elements_per_thread=N, --vector_width=N
                         of --query=coalescing: the loop over the output, its elements in the order
                         of memory (default: 128, 1 and 1); of --query=in-place: whether these
                         threads may work in place
  --mapping=emitter      of --query=coalescing: instead, the kernel that XLA's GPU backend would make
                         of it: its kind, its hero and its threads; lines about what these read and
                         write, behind the maps
  --thread_map=MAP       of --query=coalescing: instead, the map from thread and block coordinates
                         th_x, th_y, th_z, bl_x, bl_y, bl_z (or d0 and d1) and loops to elements of
                         the output; a range variable vec is the elements of a vector access; of
                         --query=in-place, too
  --warp_size=32|64, --sector_bytes=N, --line_bytes=N, --alignment=N, --coalescing_factor=X
                         of --query=coalescing: threads of a warp, sizes of memory, where operands
                         begin, and how many times the least sectors an access may touch and be
                         called coalesced, a decimal number from 1 to 1e308 (default: 32, 32, 128,
                         256, 1.25)
  --jobs=N               threads (default: one a processor); the output does not depend on it

What the kernels of a module move in memory
  --report               a table: for every fusion, and every instruction outside of fusions that
                         moves data, the bytes that it moves with the threads that XLA would give it,
                         those of them that no lane asked for, the least time that takes, how often it
                         runs and the operand that wastes most, what takes most time first and equal
                         ones in one row; what is wrong, and what would fix it; sums by loop, by
                         module of the model and by source. At the head, what to do: changes that
                         were tried on the module, with what they save
  --report=FILE.html     the same as a page to look at, which needs nothing else: pictures of the
                         elements that each kernel reads, its warps, tiles and maps
  --report=FILE.json     all of it as JSON, a line for each module
  --report=FILE.model_explorer.json
                         a figure of each kernel, --sort=time (default), moved or wasted, as node
                         data for Model Explorer
  --compare --report A B what became better and worse, by the places in the source, where A is a
                         module before a change and B after it
  --top=N                rows of each table (default: at most 20, of 1% of the time or bytes or more)
  --sort=COLUMN          time (default), wasted, moved, sectors, read, written, runs, reads, efficiency
                         or name
  --machine=NAME         h100 (default), h200, a100, mi300x or cpu: its memory and peaks; of
                         --budget, too
  --assume=auto|fused|unfused
                         a module without fusions is fused first, as XLA's passes for GPUs would in
                         the main (auto, the default); any module is; none is. Where there is no
                         schedule, the copies that XLA would make are added, but for unfused. With --emit=hlo
                         --assume=fused: the fused module as HLO text
                         --warp_size, --sector_bytes, --line_bytes and --alignment go with --report

A picture
  --picture=FILE.svg     (or -) what the element in the middle of the result reads of its operands,
                         as SVG: of --instruction=NAME, of --computation=NAME or, with neither, of
                         the ROOT of the ENTRY, or, where that is a tuple or another name of
                         arrays, of the whole ENTRY; of its leaf --output_id=N, by default the
                         first that has elements

Whether two computations read the same elements of their parameters, and the same elements meet
  --compare A B          the ENTRYs of two files of one module each: for each output and parameter,
                         and for each two parameters whose elements meet in a sum, product or step
                         of a dot, 'same', 'different' with a difference, or 'not decided'.
                         --computation=C takes that of both; --compare --computation=C,D FILE two of
                         one file

Why an element of the result depends on an element of a parameter
  --explain --output_element=I,.. --operand_element=I,.. FILE
                         a shortest chain of instructions through which the ENTRY, or
                         --computation=NAME, reads it: of leaf --output_id=N of the result, and of
                         leaf --operand_leaf=N of parameter --operand_id=N (default: 0).
                         With --report=FILE.html the page shows it

Without HLO
  --map=FILE             reads indexing maps, one a line ('-' reads standard input), and prints each
                         simplified; min and max split a map into pieces, one a line
  --keep_variables       range variables stay as they are; otherwise they are joined, and removed
                         where it only matters that some value exists
  --explain              below each map, indented, which rule replaced which expression by which
  --broadcast SHAPE...   the implicit broadcast of operands of these shapes, as numpy does it: the
                         shape of the result, each operand's dimensions in it, and its maps
  --emit=hlo             of --broadcast: instead, a module in which it is explicit
  --emit=promoted-hlo    the same as PyTorch/XLA writes it

  --help, --version

Reading a map

    (d0, d1)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 4], d1 in [0, 9], s0 in [0, 7],
                                                 rt0 in [0, 15]

  Element (d0, d1) of the output reads, of this operand, row d0 + rt0 and all columns s0 from 0 to 7.
    ( )   dimensions: the element the map starts from
    [ ]   ranges: the map reaches an element for each of their values
    { }   runtime values: read from a tensor while the program runs; the lines below a map say from
          which, at which element, and what is done to the value ('clamp [0, 15]').
          'w/body/c, as is; (d0)[s0] -> (s0)': what c is in iteration s0 of the loop w;
          'w, iterations': how often w runs
  Intervals are closed; further conditions on the domain follow them. A map that ends in
  '(over-approximate: why)' names more elements than are read; all others are exact.

Examples

  What does the result of a fused softmax read?

    $ print-indexing examples/softmax.hlo
    Output 0 operand 0:
    (d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]
    (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124], s0 in [0, 124]

  One instruction inside the fusion, both ways:

    $ print-indexing --instruction=row_max --direction=both examples/softmax.hlo

  A computation without the fusion around it, and everything there is, for a script:

    $ print-indexing --computation=softmax examples/softmax.hlo
    $ print-indexing --instruction=all --direction=both --format=json dump/*.hlo

  How much of a model is analysed exactly, and what is not:

    $ print-indexing --instruction=all --direction=both --summary dump/*.hlo

  How much of its operand does one row of the softmax use, and how often?

    $ print-indexing --query=utilization --instruction=row_max examples/softmax.hlo

  Which bytes do the warps touch that add a matrix and its transpose?

    $ print-indexing --query=coalescing examples/transpose_add.hlo

  Did a pass change what is read?

    $ print-indexing --compare before.hlo after.hlo

  Simplify a map:

    $ echo '(d0, d1) -> ((d0 * 16 + d1) floordiv 16), domain: d0 in [0, 6], d1 in [0, 14]' |
        print-indexing --map=-
    (d0, d1) -> (d0), domain: d0 in [0, 6], d1 in [0, 14]

  Multiply two arrays of different ranks:

    $ print-indexing --broadcast 'f32[10,1]' 'f32[6,8,1,5]'

Exit codes
  0  everything asked for was printed, operands reported as 'unknown' included
  1  an input could not be read or is not valid HLO (or no map); the others were still printed; the
     shapes do not go together; memory could not be had, or the output not be written
  2  the command line is wrong
With --explain: 0 it depends on it, 1 it does not, 2 the command line or an input is wrong, 3 not
decided. With --compare: 0 the same, 1 different, 2 the command line or an input is wrong, memory could not be
had or the output not be written, 3 not decided
)";
}

}  // namespace xla_indexing
