#include <emulated_cub.h>
