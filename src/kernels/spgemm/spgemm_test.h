/* spgemm_test.h - the table of products that the tests go through, and a product from beginning to end */
#pragma once

#include "hooks.h"

typedef enum { PRODUCT_SMALL, PRODUCT_ALL } ProductTier;

/* On the host; values of the scalar type of the case */
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

/* On the host, whatever the types and the space of the product */
typedef struct {
  SpmvStatus  status;
  SpmvPattern pattern;              /* sizes; its arrays are not to be used */
  int64_t    *row_ptr, *col, bytes; /* bytes: that the product holds */
  double     *values, flops;
} ProductResult;

int64_t operand_row(const ProductOperand *, int64_t i);
int64_t operand_col(const ProductOperand *, int64_t k);
double  operand_value(const ProductOperand *, int64_t k);

/* Makes case i and returns 1, or 0 when it does not belong to the tier or its kind does not fit its matrices. In the
   small tier dense matrices of the same sizes fit memory. */
int  product_case_count(void);
int  product_case(int i, ProductTier, ProductCase *);
void product_case_free(ProductCase *);
/* Makes all values their magnitudes (1), or 1 (0) */
void product_case_sizes(ProductCase *, int magnitudes);
/* Sprinkles zeros, infinities and not-a-numbers over small integers */
void product_case_spoil(ProductCase *);

/* With hooks, allocations of the product go through them. Values are computed twice, first from others. */
ProductResult product_result(const ProductCase *, SpmvSpace, Hooks *);
void          product_result_free(ProductResult *);
