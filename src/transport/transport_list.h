/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The transports: name, and what it reaches by which settings; `kind: auto` tries them in this order.
 * A new transport is a file transport_NAME.c that defines tp_NAME, and a line here: meson.build takes
 * the names of files from it, transport.c its table, and src/settings the words and the help of
 * transport.kind. No include guard: each reader defines TRANSPORT() for itself.
 */
/* clang-format off */
TRANSPORT(umad, "a local device by libibumad (device and port, or port_guid)")
TRANSPORT(ibsim, "ibsim or 'weft fabric' (server, and device: a node)")
/* clang-format on */
