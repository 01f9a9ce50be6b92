/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a host's kernel asks of subnet administration, by libibumad: sa_client COMMAND [ARG]...
 *
 *	class                       Get(ClassPortInfo)
 *	join|leave MGID STATE       Set or Delete(MCMemberRecord) of the own port; MGID: 32 hexadecimal digits
 *	path GUID                   Get(PathRecord) from the own port to that one
 *	service NAME SECONDS        Set(ServiceRecord) of the own port, with this lease
 *	inform TRAP                 Set(InformInfo): subscribes to this trap
 *	reports SECONDS TRAP        the same, then prints each report that comes, and answers it
 *	guids get|set|delete LID BLOCK [PLACE GUID]...
 *	                            GUIDInfoRecord of that block; the places are those of the component mask.
 *	                            LID 0: that of the own port
 *
 * Prints one line a response: "status 0x0000 ..."; exit status 1: there is none, or its status is not 0.
 */
#include <infiniband/umad.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	MAD = 256,
	DATA = 56,
	GET = 1,
	SET = 2,
	REPORT = 6,
	DELETE = 0x15,
	RESPONSE = 0x80,
	SA = 3,
	VERSION = 2
};
enum {
	CLASS = 1,
	NOTICE = 2,
	INFORM = 3,
	GUIDS = 0x30,
	SERVICE = 0x31,
	PATH = 0x35,
	MEMBER = 0x38
};

static umad_port_t port;
static int fd, agent;
static uint8_t *umad;

static void put(uint8_t *at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | at[i];
	return v;
}

static uint8_t *begin(uint8_t method, uint16_t attribute, uint64_t mask)
{
	uint8_t *m = umad_get_mad(umad);

	memset(umad, 0, umad_size() + MAD);
	m[0] = 1;
	m[1] = SA;
	m[2] = VERSION;
	m[3] = method;
	put(m + 8, (uint64_t)getpid() * 16, 8);
	put(m + 16, attribute, 2);
	put(m + 48, mask, 8);
	return m;
}

static int send_it(void)
{
	umad_set_addr(umad, port.sm_lid, 1, 0, 0x80010000);
	return umad_send(fd, agent, umad, MAD, 1000, 2);
}

/* The response, in umad; false: there is none. */
static bool answer(void)
{
	int len = MAD;

	if (send_it() || umad_recv(fd, umad, &len, 5000) < 0 || umad_status(umad)) {
		puts("no response");
		return false;
	}
	printf("status 0x%04x", (unsigned)get((uint8_t *)umad_get_mad(umad) + 4, 2));
	return true;
}

static bool is_good(void)
{
	return !get((uint8_t *)umad_get_mad(umad) + 4, 2);
}

static void own_gid(uint8_t *at)
{
	put(at, 0xfe80000000000000, 8);
	memcpy(at + 8, &port.port_guid, 8); /* it is in the order of the wire */
}

static bool ask_class(void)
{
	begin(GET, CLASS, 0);
	if (!answer())
		return false;
	printf(" version %u\n", ((uint8_t *)umad_get_mad(umad))[DATA + 1]);
	return is_good();
}

static bool membership(uint8_t method, const char *mgid, unsigned state)
{
	const uint64_t few = 1 | 2 | 1 << 16,
		       all = few | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13;
	uint8_t *m = begin(method, MEMBER, method == SET ? all : few), *r = m + DATA;

	for (unsigned i = 0; i < 16 && strlen(mgid) == 32; i++) {
		char two[3] = {mgid[2 * i], mgid[2 * i + 1], 0};

		r[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	own_gid(r + 16);
	put(r + 32, 0xb1b, 4);
	put(r + 40, 0xffff, 2);
	r[48] = (uint8_t)state;
	if (!answer())
		return false;
	printf(" mlid 0x%04x state %u\n", (unsigned)get(r + 36, 2), r[48] & 15);
	return is_good();
}

static bool path(const char *guid)
{
	uint8_t *m = begin(GET, PATH, 1 << 2 | 1 << 3 | 1 << 12), *r = m + DATA;

	put(r + 8, 0xfe80000000000000, 8);
	put(r + 16, strtoull(guid, NULL, 0), 8);
	own_gid(r + 24);
	r[49] = 1; /* one path */
	if (!answer())
		return false;
	printf(" dlid %u slid %u\n", (unsigned)get(r + 40, 2), (unsigned)get(r + 42, 2));
	return is_good();
}

static bool service(const char *name, unsigned seconds)
{
	uint8_t *m = begin(SET, SERVICE, 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6), *r = m + DATA;

	put(r, 0x1000000000000000 | get((uint8_t *)&port.port_guid, 8), 8);
	own_gid(r + 8);
	put(r + 24, 0xffff, 2);
	put(r + 28, seconds, 4);
	snprintf((char *)r + 48, 64, "%s", name);
	if (!answer())
		return false;
	printf(" lease %u\n", (unsigned)get(r + 28, 4));
	return is_good();
}

static bool inform(unsigned trap)
{
	uint8_t *m = begin(SET, INFORM, 0), *r = m + DATA;

	put(r + 16, 0xffff, 2); /* any LID */
	r[22] = r[23] = 1;	/* generic, subscribe */
	put(r + 24, 0xffff, 2); /* any type */
	put(r + 26, trap, 2);
	put(r + 28, 1, 3);	  /* QP 1 */
	put(r + 33, 0xffffff, 3); /* any producer */
	if (!answer())
		return false;
	puts("");
	return is_good();
}

static bool guids(int argc, char **argv)
{
	uint8_t method = !strcmp(argv[2], "set") ? SET : !strcmp(argv[2], "delete") ? DELETE : GET;
	uint8_t *m = begin(method, GUIDS, 0), *r = m + DATA;
	uint64_t mask = 1 | 2;

	put(r, strtoull(argv[3], NULL, 0) ? strtoull(argv[3], NULL, 0) : port.base_lid, 2);
	r[2] = (uint8_t)atoi(argv[4]);
	for (int i = 5; i + 1 < argc; i += 2) {
		unsigned place = (unsigned)atoi(argv[i]) & 7;

		mask |= 1u << (4 + place);
		put(r + 8 + 8 * place, strtoull(argv[i + 1], NULL, 0), 8);
	}
	put(m + 48, mask, 8);
	if (!answer())
		return false;
	for (unsigned i = 0; is_good() && i < 8; i++)
		printf(" %llx", (unsigned long long)get(r + 8 + 8 * i, 8));
	puts("");
	return is_good();
}

static double now(void)
{
	struct timeval t;

	gettimeofday(&t, NULL);
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static bool reports(double seconds, unsigned trap)
{
	double end = now() + seconds;
	bool any = false;

	if (!inform(trap))
		return false;
	fflush(stdout);
	while (now() < end) {
		uint8_t *m = umad_get_mad(umad);
		int len = MAD;

		if (umad_recv(fd, umad, &len, 200) < 0 || m[3] != REPORT)
			continue;
		printf("report %u %016llx%016llx\n", (unsigned)get(m + DATA + 4, 2),
		       (unsigned long long)get(m + DATA + 16, 8),
		       (unsigned long long)get(m + DATA + 24, 8));
		fflush(stdout);
		any = true;
		m[3] = REPORT | RESPONSE;
		send_it();
	}
	return any;
}

static bool run(int argc, char **argv)
{
	const char *what = argv[1];

	if (!strcmp(what, "class"))
		return ask_class();
	if (argc == 4 && !strcmp(what, "join"))
		return membership(SET, argv[2], (unsigned)atoi(argv[3]));
	if (argc == 4 && !strcmp(what, "leave"))
		return membership(DELETE, argv[2], (unsigned)atoi(argv[3]));
	if (argc == 3 && !strcmp(what, "path"))
		return path(argv[2]);
	if (argc == 4 && !strcmp(what, "service"))
		return service(argv[2], (unsigned)atoi(argv[3]));
	if (argc == 3 && !strcmp(what, "inform"))
		return inform((unsigned)atoi(argv[2]));
	if (argc == 4 && !strcmp(what, "reports"))
		return reports(atof(argv[2]), (unsigned)atoi(argv[3]));
	if (argc >= 5 && !strcmp(what, "guids"))
		return guids(argc, argv);
	fprintf(stderr, "sa_client: expected a command, found '%s'\n", what);
	return false;
}

int main(int argc, char **argv)
{
	long methods[16 / sizeof(long)] = {1L << REPORT};

	if (argc < 2 || umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		return 2;
	fd = umad_open_port(NULL, 0);
	agent = fd < 0 ? -1 : umad_register(fd, SA, VERSION, 0, methods);
	umad = calloc(1, umad_size() + MAD);
	if (agent < 0 || !umad) {
		fprintf(stderr, "sa_client: cannot register\n");
		return 2;
	}
	return run(argc, argv) ? 0 : 1;
}
