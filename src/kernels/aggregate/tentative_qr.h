/* tentative_qr.h - the arguments of the QR factorization of the near-null space in one aggregate. */
#pragma once

#include <stdint.h>

typedef struct {
  const int32_t *member; /* its vertices, ascending */
  const int32_t *place;  /* [vertices]; number of earlier vertices in an aggregate, whose rows come first in P0 */
  int32_t        members;
  int            block_size, columns;
  int64_t        near_null_rows; /* of all vertices */
} SpmvQr;
