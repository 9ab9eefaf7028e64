/*
  rbp_device_positions.cu - finds the blocks of format packed that share an encoding, and computes the offsets of the
  values and of the encoding of each block.
*/
#include "rbp_device_analyze.cuh"

namespace
{
/* The block whose encoding a block uses: the smallest block with the same fingerprint */
__device__ inline int64_t find_owner(const RbpDeviceAnalysis &a, int64_t block)
{
  const RbpFingerprint     fingerprint = a.fingerprints[block];
  const unsigned long long key         = rbp_fingerprint_key(fingerprint);
  int64_t                  slot        = rbp_fingerprint_slot(a.table, key);

  while (a.table.key[slot] != key) slot = (slot + 1) & (a.table.slots - 1);
  const int64_t        first = a.table.first[slot];
  const RbpFingerprint other = a.fingerprints[first];
  return fingerprint.low == other.low && fingerprint.high == other.high ? first : block;
}

/* Finds the owners of encodings for a tile of blocks, and running sums within the tile; one thread block per tile */
__global__ void __launch_bounds__(RBP_TILE) rbp_find_positions(const RbpDeviceAnalysis a, int planes)
{
  typedef cub::BlockScan<RbpPositions, RBP_TILE> Scan;
  __shared__ typename Scan::TempStorage          temp;
  __shared__ RbpPositions                        tile;
  const int64_t                                  block = blockIdx.x * (int64_t)RBP_TILE + threadIdx.x;
  RbpPositions                                   here  = {}, all;

  if (block < rbp_block_count(a)) {
    const int64_t owner      = find_owner(a, block);
    const int64_t words      = owner == block ? a.blocks[block].words : 0;
    a.positions.owner[block] = (int32_t)owner;
    here = {{(int64_t)a.blocks[block].stride * planes, words, owner != block, a.encoding[block] ? 0 : (words + 3) / 4}};
  }
  Scan(temp).InclusiveScan(here, here, SpmvAddNumbers(), all);
  if (block < a.blocks_most) a.positions.in_tile[block] = here;
  if (threadIdx.x == 0) tile = all;
  __syncthreads();
  if (!spmv_sum_up<RBP_TILE>(tile, a.positions.tiles, &a.totals->arrived[1]) || threadIdx.x > 0) return;
  *a.sizes = {a.span_sums[a.spans - 1], a.positions.tiles[gridDim.x - 1]};
}
} // namespace

SpmvStatus rbp_position_blocks(RbpDeviceAnalysis *a, SpmvExec *exec)
{
  RbpDeviceShape *s = &a->shape;
  const int64_t   n = a->blocks_most, tiles = spmv_blocks(n, RBP_TILE);
  RbpSizes        sizes;

  if (n == 0) return SPMV_SUCCESS;
  SPMV_TRY(spmv_arena_array(&a->arena, n, "positions of blocks", &a->positions.in_tile, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, tiles, "positions of blocks", &a->positions.tiles, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, n, "owners of encodings", &a->positions.owner, exec));
  SPMV_TRY(spmv_arena_array(&a->arena, 1, "sizes", &a->sizes, exec));
  SPMV_LAUNCH(exec, rbp_find_positions, tiles, RBP_TILE, 0, *a, s->group_rows * s->unit_columns);
  SPMV_TRY(spmv_fetch(&sizes, a->sizes, sizeof sizes, exec));
  s->blocks        = sizes.spans.of[RBP_SPAN_BLOCKS];
  s->value_count   = sizes.positions.of[RBP_POSITION_VALUES];
  s->pattern_words = sizes.positions.of[RBP_POSITION_WORDS];
  s->shared_blocks = sizes.positions.of[RBP_POSITION_SHARED];
  s->padding       = s->value_count - a->pattern.nnz;
  return sizes.positions.of[RBP_POSITION_BUFFER] ? rbp_describe_again(a, sizes.positions.of[RBP_POSITION_BUFFER], exec)
                                                 : SPMV_SUCCESS;
}
