/* SPDX-License-Identifier: BSD-2-Clause */
/* jansson asks for this file, which its configure script makes: what it would find is given by the compiler's options. */
