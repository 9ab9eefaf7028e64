/*
  dia.h - format dia: the diagonals that hold nonzeros, each stored over all rows.

  Slot i * diagonals + d is row i of diagonal d, in column i + offsets[d]. Its bit in occupied is 1 where the matrix has
  a nonzero. All other slots are padding: their values are never read, and their columns may lie outside the matrix.
*/
#ifndef SPMV_DIA_H
#define SPMV_DIA_H

#include "plan/plan.h"

typedef struct {
  SpmvPlan base;
  int64_t  diagonals;
  int64_t *offsets;  /* [diagonals], column minus row, ascending */
  void    *values;   /* [rows * diagonals], base.scalar_type */
  uint8_t *occupied; /* [(rows * diagonals + 7) / 8], bit slot % 8 of byte slot / 8 */
} DiaPlan;

/* What an analysis leaves for build */
typedef struct {
  int64_t  diagonals;
  uint8_t *marks; /* [rows + cols], 1 at column - row + rows for every diagonal that holds a nonzero */
} DiaAnalysis;

static inline int dia_is_occupied(const DiaPlan *plan, int64_t slot)
{
  return plan->occupied[slot / 8] >> (slot % 8) & 1;
}

#endif
