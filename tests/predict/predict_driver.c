/*
  predict_driver.c - what the cost model says of products that somebody has measured, for bench/fit_model.py --check.

  Each line of the standard input is a product: 0 for the host or 1 for the GPU, the format, rows, columns, nonzeros,
  bytes, bytes of partial sums, and the facts of the pattern; each line of the output is its time in seconds.
*/
#include <inttypes.h>
#include <spmv_predict.h>
#include <stdio.h>

int main(void)
{
  SpmvWorkload      w;
  SpmvPatternFacts *f = &w.facts;
  SpmvPrediction    p;
  char              format[32];
  int               space;

  while (scanf("%d %31s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64,
               &space, format, &w.rows, &w.cols, &w.nnz, &w.bytes, &w.work_bytes, &f->repeated, &f->loose, &f->uneven,
               &f->far) == 11) {
    w.space  = space ? SPMV_DEVICE : SPMV_HOST;
    w.format = format;
    if (!spmv_predict(&w, &p)) return 1;
    printf("%.17g\n", p.product);
  }
  return 0;
}
