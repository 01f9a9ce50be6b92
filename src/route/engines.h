/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The routing engines, one line each: X(NAME) stands for the file NAME.c, which defines the
 * `const struct rt_engine rt_NAME` of that name. The build takes the list of files from here; every
 * list of engines (help, settings, the manager's route supplies) is made from these lines. Include
 * it with X defined; with WITHOUT_LANES defined, engines that may need more than one VL are left out.
 */
/* clang-format off */
X(fera)
X(pira)
X(tree)
X(updn)
#ifndef WITHOUT_LANES
X(balanced)
X(torus)
X(dragonfly)
X(nue)
#endif
/* clang-format on */
