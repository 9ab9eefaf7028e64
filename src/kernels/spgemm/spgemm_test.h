/* spgemm_test.h - the table of products for the tests, and a function that computes one from beginning to end. */
#pragma once

#include "hooks.h"

typedef enum { PRODUCT_SMALL, PRODUCT_ALL } ProductTier;

/* A matrix on the host */
typedef struct {
  SpmvPattern pattern;
  SpmvScalar  scalar;
  void       *values;
} ProductOperand;

typedef struct {
  const char    *name;
  SpmvSpgemmKind kind;
  SpmvScalar     scalar;
  ProductOperand a, b;
} ProductCase;

/* A result, copied to the host and converted to 64-bit indices and double */
typedef struct {
  SpmvStatus  status;
  SpmvPattern pattern; /* only its sizes are valid */
  int64_t    *row_ptr, *col;
  int64_t     bytes, live_bytes; /* memory of the product, as it says and as the hooks say */
  double     *values, flops;
} ProductResult;

int64_t operand_row(const ProductOperand *, int64_t i);
int64_t operand_col(const ProductOperand *, int64_t k);
double  operand_value(const ProductOperand *, int64_t k);

/* Makes case i and returns 1; returns 0 if the case is not in the tier, or its kind does not fit its matrices. The
   small tier has matrices for which dense matrices of the same sizes fit into memory. */
int  product_case_count(void);
int  product_case(int i, ProductTier, ProductCase *);
void product_case_free(ProductCase *);
/* Replaces all values by their absolute values (magnitudes = 1) or by 1 (0) */
void product_case_sizes(ProductCase *, int magnitudes);
/* Replaces the values by small integers with some zeros, infinities and NaNs */
void product_case_spoil(ProductCase *);

/* Computes a product; it allocates by the hooks unless they are NULL. Values are computed twice, first from other
   values, so that stale ones would be noticed. */
ProductResult product_result(const ProductCase *, SpmvSpace, Hooks *);
void          product_result_free(ProductResult *);
