/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The routing engines, one line each: X(NAME) stands for the file NAME.c, which defines the
 * `const struct rt_engine rt_NAME` of that name. The build takes the list of files from here; every
 * list of engines (help, settings, the manager's route supplies) is made from these lines. Include
 * it with X defined. Engines that compute nothing (rt_engine.given) come last.
 */
/* clang-format off */
X(fera)
X(pira)
X(tree)
X(updn)
X(balanced)
X(torus)
X(dragonfly)
X(nue)
X(file)
/* clang-format on */
