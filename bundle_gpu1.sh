#!/bin/bash
set -u; say() { printf "%s\n" "$*"; }
mkdir -p /tmp/b && tar -C /tmp/b -xf bundle.tar.xz
export CUDA_HOME=/usr/local/cuda
cd /tmp/b/bundle
R=/tmp/out; mkdir -p $R $R/cpu
(LIMIT_cg=110 CG_ARGS="--matrix stencil7:46" LIMIT_sanitizer=150 CONF_SAMPLE=19 CONF_SAMPLE_FULL=0 LIMIT_conformance=60 ./gpu_run.sh $R cg conformance sanitizer) > $R/run1.txt 2>&1
cp $R/summary.txt $R/summary1.txt
LIMIT_mg=170 MG_MATRICES="tri_rcm:853 tet3_rcm:69 p1_rcm:114 p1_rcm:159" ./gpu_run.sh $R mg > $R/run2.txt 2>&1
LIMIT_mg=50 MG_MATRICES="tet3_rcm:69" MG_TYPES=aijcusparse MG_ARGS="-matptap_backend_cpu" ./gpu_run.sh $R/cpu mg > $R/run3.txt 2>&1
tar -C /tmp -cJf $OUT/out.tar.xz out
cat $R/summary1.txt; grep -E "FAIL|failed|ERROR" $R/run1.txt $R/cg.log $R/sanitizer.log | head -20; cat $R/summary.txt; grep -E "gamg|iterations of" $R/cpu/mg-parts/*.log $R/mg-parts/*.log | cut -c1-150 | head -80
