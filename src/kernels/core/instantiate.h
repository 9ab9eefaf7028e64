/*
  Includes the file named by SPMV_BODY (a path relative to src/kernels) once per pair of types, with

    SPMV_INDEX, SPMV_SCALAR   the C types
    SPMV_NAME(f)              f_i32_f64 and so on (f_i32 when SPMV_INDEX_ONLY is defined, f_f64 with SPMV_SCALAR_ONLY)

  There is no include guard, since a file may instantiate several bodies. The three macros and SPMV_BODY are undefined
  at the end.
*/
#define SPMV_JOIN2(a, b)    a##_##b
#define SPMV_JOIN(a, b)     SPMV_JOIN2(a, b)
#define SPMV_JOIN3(a, b, c) SPMV_JOIN(SPMV_JOIN(a, b), c)

#if defined(SPMV_INDEX_ONLY)
  #define SPMV_NAME(f)   SPMV_JOIN(f, SPMV_INDEX_TAG)
  #define SPMV_INDEX     int32_t
  #define SPMV_INDEX_TAG i32
  #include SPMV_BODY
  #undef SPMV_INDEX
  #undef SPMV_INDEX_TAG
  #define SPMV_INDEX     int64_t
  #define SPMV_INDEX_TAG i64
  #include SPMV_BODY
  #undef SPMV_INDEX
  #undef SPMV_INDEX_TAG
#elif defined(SPMV_SCALAR_ONLY)
  #define SPMV_NAME(f)    SPMV_JOIN(f, SPMV_SCALAR_TAG)
  #define SPMV_SCALAR     double
  #define SPMV_SCALAR_TAG f64
  #include SPMV_BODY
  #undef SPMV_SCALAR
  #undef SPMV_SCALAR_TAG
  #define SPMV_SCALAR     float
  #define SPMV_SCALAR_TAG f32
  #include SPMV_BODY
  #undef SPMV_SCALAR
  #undef SPMV_SCALAR_TAG
#else
  #define SPMV_NAME(f)    SPMV_JOIN3(f, SPMV_INDEX_TAG, SPMV_SCALAR_TAG)
  #define SPMV_SCALAR     double
  #define SPMV_SCALAR_TAG f64
  #define SPMV_INDEX      int32_t
  #define SPMV_INDEX_TAG  i32
  #include SPMV_BODY
  #undef SPMV_INDEX
  #undef SPMV_INDEX_TAG
  #define SPMV_INDEX     int64_t
  #define SPMV_INDEX_TAG i64
  #include SPMV_BODY
  #undef SPMV_SCALAR
  #undef SPMV_SCALAR_TAG
  #define SPMV_SCALAR     float
  #define SPMV_SCALAR_TAG f32
  #include SPMV_BODY
  #undef SPMV_INDEX
  #undef SPMV_INDEX_TAG
  #define SPMV_INDEX     int32_t
  #define SPMV_INDEX_TAG i32
  #include SPMV_BODY
  #undef SPMV_INDEX
  #undef SPMV_INDEX_TAG
  #undef SPMV_SCALAR
  #undef SPMV_SCALAR_TAG
#endif

#undef SPMV_NAME
#undef SPMV_BODY
#undef SPMV_INDEX_ONLY
#undef SPMV_SCALAR_ONLY
#undef SPMV_JOIN3
#undef SPMV_JOIN
#undef SPMV_JOIN2

/* Selects f_i32_f64 ... by the types of a plan or CSR */
#undef SPMV_SELECT
#define SPMV_SELECT(f, index_type, scalar_type)                                                                        \
  ((scalar_type) == SPMV_F32 ? ((index_type) == SPMV_I64 ? f##_i64_f32 : f##_i32_f32)                                  \
                             : ((index_type) == SPMV_I64 ? f##_i64_f64 : f##_i32_f64))
/* Selects f_f64 or f_f32 */
#undef SPMV_SELECT_SCALAR
#define SPMV_SELECT_SCALAR(f, scalar_type) ((scalar_type) == SPMV_F32 ? f##_f32 : f##_f64)
