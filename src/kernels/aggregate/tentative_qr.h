/* tentative_qr.h - one aggregate, for the QR of the near-null space in it. */
#pragma once

#include <stdint.h>

typedef struct {
  const int32_t *member; /* its vertices, ascending */
  const int32_t *place;  /* [vertices]; how many before each are in an aggregate: their rows come first in P0 */
  int32_t        members;
  int            block_size, columns;
  int64_t        near_null_rows; /* of all vertices */
} SpmvQr;
