/* fake_nccl.h - functions of fake_nccl.c that are not NCCL's; a test looks them up in the library that petscpack has
   opened. */
#pragma once

/* Calls of ncclCommInitRank(): begun, ended, made beside the thread that opened the library; communicators destroyed */
typedef struct {
  int begun, ended, beside, destroyed;
} FakeNcclCounts;
typedef FakeNcclCounts FakeNcclCount(void);    /* fakeNcclCounts() */
typedef void           FakeNcclHold(int hold); /* fakeNcclHold(): ncclCommInitRank() waits until the hold ends */
