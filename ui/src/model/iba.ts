// SPDX-License-Identifier: BSD-2-Clause
//
// Words of InfiniBand for the numbers of frames, and texts of times.

export const NODE_TYPE = ['node', 'host', 'switch', 'router'];
export const SM_STATE = ['Not-active', 'Discovering', 'Standby', 'Master'];
export const LINK_STATE = ['Down', 'Init', 'Armed', 'Active', 'Cut'];
export const LOG_KIND = ['SM', 'SMI', 'SMA', 'fault', 'state'];
export const SPEED = ['SDR', 'DDR', 'QDR', 'FDR10', 'FDR', 'EDR', 'HDR', 'NDR', 'XDR'];
const WIDTH: Record<number, string> = { 1: '1x', 2: '4x', 4: '8x', 8: '12x', 16: '2x' };

export const METHOD: Record<number, string> = {
	0x01: 'Get', 0x02: 'Set', 0x81: 'GetResp', 0x05: 'Trap', 0x07: 'TrapRepress', 0x03: 'Send', 0x06: 'Report', 0x86: 'ReportResp',
};

export const ATTRIBUTE: Record<number, string> = {
	0x0001: 'ClassPortInfo', 0x0002: 'Notice', 0x0010: 'NodeDescription', 0x0011: 'NodeInfo', 0x0012: 'SwitchInfo', 0x0014: 'GUIDInfo',
	0x0015: 'PortInfo', 0x0016: 'P_KeyTable', 0x0017: 'SLtoVLMappingTable', 0x0018: 'VLArbitrationTable',
	0x0019: 'LinearForwardingTable', 0x001a: 'RandomForwardingTable', 0x001b: 'MulticastForwardingTable', 0x0020: 'SMInfo',
	0x0030: 'VendorDiag', 0x0031: 'LedInfo',
};

export const hex = (n: number | bigint, digits = 4): string => '0x' + n.toString(16).padStart(digits, '0');
export const guidText = (g: bigint): string => hex(g, 16);
export const methodName = (m: number): string => (m ? (METHOD[m] ?? hex(m, 2)) : '');
export const attributeName = (a: number): string => (a ? (ATTRIBUTE[a] ?? hex(a)) : '');
export const rateText = (width: number, speed: number): string => (width ? (WIDTH[width] ?? `${width}x`) + (SPEED[speed] ?? '?') : '?');

/* As schedules name a node. */
export function ident(type: number, guid: bigint): string {
	return `${type === 2 ? 'S' : type === 3 ? 'R' : 'H'}-${guid.toString(16).padStart(16, '0')}`;
}

const UNITS: [number, string][] = [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns']];

/* 12.345 ms: digits for a reading, not for a file. */
export function timeText(ps: number, digits = 4): string {
	const a = Math.abs(ps);
	for (const [one, unit] of UNITS) {
		if (a >= one)
			return `${Number((ps / one).toPrecision(digits))} ${unit}`;
	}
	return ps === 0 ? '0' : `${ps} ps`;
}

/* 0.012 345 678 s: all clocks of one width. */
export function clockText(ps: number): string {
	const ns = Math.floor(ps / 1000);
	const s = Math.floor(ns / 1e9);
	const rest = String(ns - s * 1e9).padStart(9, '0');
	return `${s}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

/* As schedules write times. */
export function scheduleTime(ps: bigint): string {
	for (const [one, unit] of [[1000000000n, 'ms'], [1000000n, 'us'], [1000n, 'ns']] as [bigint, string][]) {
		if (ps % one === 0n && ps >= one)
			return `${ps / one}${unit}`;
	}
	return ps === 0n ? '0' : `${Number(ps) / 1e6}us`;
}

export function countText(n: number): string {
	return n.toString().replace(/\B(?=(\d{3})+$)/g, ' ');
}

export function portsText(n: number): string {
	return n === 1 ? '1 port' : `${n} ports`;
}
