/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the numbers of the wire: classes, methods, attributes, states, rates. Constants only; the
 * ways in are iba_*_name() and iba_format_word(). Prints nothing: print.c does.
 */
#include "iba/iba.h"

struct word {
	unsigned v;
	const char *name;
};

static const char *word_find(const struct word *t, size_t n, unsigned v)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].v == v)
			return t[i].name;
	return "?";
}
#define WORD(table, v) word_find(table, ARRAY_LEN(table), v)

static const struct word class_words[] = {
	{IBA_CLASS_SUBN_LID, "SubnLidRouted"},
	{IBA_CLASS_SUBN_DR, "SubnDirectedRoute"},
	{IBA_CLASS_SUBN_ADM, "SubnAdm"},
	{IBA_CLASS_PERF, "Perf"},
	{0x05, "BoardMgt"},
	{0x06, "DevMgt"},
	{0x07, "ComMgt"},
	{0x08, "Snmp"},
	{IBA_CLASS_MIRROR, "WeftMirror"},
};

static const struct word method_words[] = {
	{IBA_GET, "SubnGet"},	       {IBA_SET, "SubnSet"},
	{IBA_SEND, "SubnSend"},	       {IBA_TRAP, "SubnTrap"},
	{IBA_REPORT, "SubnReport"},    {IBA_TRAP_REPRESS, "SubnTrapRepress"},
	{IBA_GET_RESP, "SubnGetResp"}, {IBA_REPORT_RESP, "SubnReportResp"},
};

#define ATTR_WORD(stem, FIELDS, wire, ID, id, name) {id, name},
static const struct word attr_words[] = {IBA_SUBN_ATTRS(ATTR_WORD)};
static const struct word perf_words[] = {IBA_PERF_ATTRS(ATTR_WORD)};

static const struct word node_type_words[] = {
	{IBA_NODE_CA, "CA"},
	{IBA_NODE_SWITCH, "Switch"},
	{IBA_NODE_ROUTER, "Router"},
};

static const struct word port_state_words[] = {
	{IBA_PORT_NO_CHANGE, "NoChange"}, {IBA_PORT_DOWN, "Down"},
	{IBA_PORT_INIT, "Init"},	  {IBA_PORT_ARMED, "Armed"},
	{IBA_PORT_ACTIVE, "Active"},	  {IBA_PORT_ACT_DEFER, "ActiveDefer"},
};

static const struct word phys_state_words[] = {
	{IBA_PHYS_NO_CHANGE, "NoChange"}, {IBA_PHYS_SLEEP, "Sleep"},
	{IBA_PHYS_POLLING, "Polling"},	  {IBA_PHYS_DISABLED, "Disabled"},
	{IBA_PHYS_TRAINING, "Training"},  {IBA_PHYS_LINK_UP, "LinkUp"},
	{IBA_PHYS_RECOVERY, "Recovery"},  {7, "PhyTest"},
};

static const struct word notice_type_words[] = {
	{IBA_NOTICE_FATAL, "Fatal"},	    {IBA_NOTICE_URGENT, "Urgent"},
	{IBA_NOTICE_SECURITY, "Security"},  {IBA_NOTICE_SM, "SubnetManagement"},
	{IBA_NOTICE_INFO, "Informational"}, {0x7f, "Empty"},
};

static const struct word sm_state_words[] = {
	{IBA_SM_NOT_ACTIVE, "NotActive"},
	{IBA_SM_DISCOVERING, "Discovering"},
	{IBA_SM_STANDBY, "Standby"},
	{IBA_SM_MASTER, "Master"},
};

#define TRAP_WORD(ID, number, stem, name) {number, name},
static const struct word trap_words[] = {IBA_TRAPS(TRAP_WORD)};

static const struct word width_words[] = {
	{IBA_WIDTH_1X, "1x"},	{IBA_WIDTH_4X, "4x"}, {IBA_WIDTH_8X, "8x"},
	{IBA_WIDTH_12X, "12x"}, {IBA_WIDTH_2X, "2x"},
};

static const struct word speed_words[] = {
	{1, "SDR 2.5 Gb/s"},
	{2, "DDR 5 Gb/s"},
	{4, "QDR 10 Gb/s"},
};

static const struct word speed_ext_words[] = {
	{0, "none"},
	{1, "FDR 14.0625 Gb/s"},
	{2, "EDR 25.78125 Gb/s"},
	{4, "HDR 53.125 Gb/s"},
	{8, "NDR 106.25 Gb/s"},
};

static const struct word mtu_words[] = {
	{1, "256 bytes"}, {2, "512 bytes"}, {3, "1024 bytes"}, {4, "2048 bytes"}, {5, "4096 bytes"},
};

static const struct word vls_words[] = {
	{1, "VL0"}, {2, "VL0-1"}, {3, "VL0-3"}, {4, "VL0-7"}, {5, "VL0-14"},
};

/* Of a path: bit/s of all lanes together. */
static const struct word rate_words[] = {
	{2, "2.5 Gb/s"},  {3, "10 Gb/s"},   {4, "30 Gb/s"},   {5, "5 Gb/s"},	{6, "20 Gb/s"},
	{7, "40 Gb/s"},	  {8, "60 Gb/s"},   {9, "80 Gb/s"},   {10, "120 Gb/s"}, {11, "14 Gb/s"},
	{12, "56 Gb/s"},  {13, "112 Gb/s"}, {14, "168 Gb/s"}, {15, "25 Gb/s"},	{16, "100 Gb/s"},
	{17, "200 Gb/s"}, {18, "300 Gb/s"}, {19, "28 Gb/s"},  {20, "50 Gb/s"},	{21, "400 Gb/s"},
	{22, "600 Gb/s"}, {23, "800 Gb/s"},
};

static const struct word selector_words[] = {
	{0, "greater than"},
	{1, "less than"},
	{2, "exactly"},
	{3, "the best"},
};

/* Common status without D and the class-specific byte (13.4.7). */
static const struct word status_words[] = {
	{IBA_STATUS_OK, "ok"},
	{IBA_STATUS_BUSY, "busy"},
	{0x0002, "redirect"},
	{IBA_STATUS_BAD_VERSION, "version not supported"},
	{IBA_STATUS_BAD_METHOD, "method not supported"},
	{IBA_STATUS_BAD_METHOD_ATTR, "method and attribute combination not supported"},
	{IBA_STATUS_BAD_FIELD, "invalid field in attribute or modifier"},
};

const char *iba_class_name(unsigned v)
{
	return WORD(class_words, v);
}

const char *iba_method_name(unsigned v)
{
	return WORD(method_words, v);
}

const char *iba_attr_name(unsigned v)
{
	return WORD(attr_words, v);
}

const char *iba_perf_attr_name(unsigned v)
{
	return WORD(perf_words, v);
}

const char *iba_status_name(unsigned status)
{
	return WORD(status_words, status & 0xff);
}

const char *iba_node_type_name(unsigned v)
{
	return WORD(node_type_words, v);
}

const char *iba_port_state_name(unsigned v)
{
	return WORD(port_state_words, v);
}

const char *iba_trap_name(unsigned trap_number)
{
	return WORD(trap_words, trap_number);
}

const char *iba_format_word(enum iba_format f, uint64_t v)
{
	unsigned u = v > UINT32_MAX ? UINT32_MAX : (unsigned)v; /* no table holds UINT32_MAX */

	switch (f) {
	case IBA_FMT_DEC:
	case IBA_FMT_HEX:
	case IBA_FMT_GUID:
	case IBA_FMT_TEXT:
	case IBA_FMT_GID:
		return NULL;
	case IBA_FMT_CLASS:
		return iba_class_name(u);
	case IBA_FMT_METHOD:
		return iba_method_name(u);
	case IBA_FMT_ATTR:
		return iba_attr_name(u);
	case IBA_FMT_NODE_TYPE:
		return iba_node_type_name(u);
	case IBA_FMT_PORT_STATE:
		return iba_port_state_name(u);
	case IBA_FMT_PHYS_STATE:
		return WORD(phys_state_words, u);
	case IBA_FMT_NOTICE_TYPE:
		return WORD(notice_type_words, u);
	case IBA_FMT_SM_STATE:
		return WORD(sm_state_words, u);
	case IBA_FMT_WIDTH:
		return WORD(width_words, u);
	case IBA_FMT_SPEED:
		return WORD(speed_words, u);
	case IBA_FMT_SPEED_EXT:
		return WORD(speed_ext_words, u);
	case IBA_FMT_MTU:
		return WORD(mtu_words, u);
	case IBA_FMT_VLS:
		return WORD(vls_words, u);
	case IBA_FMT_RATE:
		return WORD(rate_words, u);
	case IBA_FMT_SELECTOR:
		return WORD(selector_words, u);
	}
	return NULL;
}
