// SPDX-License-Identifier: BSD-2-Clause
//
// Netlist text (ibnetdiscover's format) from and to a document. Reads what weft writes: captures with errors go through
// the engine first, which writes them clean. Positions that a person gave are comments, "# weft-ui at GUID X Y".
import { type DocLink, type DocNode, type Doc, type PortRef, emptyDoc, linkKey } from './document.ts';

const TYPE: Record<string, 1 | 2 | 3> = { ca: 1, switch: 2, rt: 3 };

interface Pending {
	guid: string;
	vendid: string;
	devid: string;
	vfs: number;
	sriov: string;
	linearcap: number;
	randomcap: number;
	mcastcap: number;
}

export class NetlistError extends Error {}

export function parseNetlist(text: string): Doc {
	const doc = emptyDoc();
	const idents = new Map<string, string>();
	const ends: { from: string; port: number; to: string; toPort: number; rate: string; length: string }[] = [];
	let head: Pending = fresh(), node: DocNode | null = null, lineNo = 0;
	for (const raw of text.split('\n')) {
		lineNo++;
		const line = raw.replace(/\r$/, '');
		const at = /^# weft-ui at (0x[0-9a-f]+) (-?[\d.e+-]+) (-?[\d.e+-]+)$/.exec(line);
		if (at)
			doc.at.set(normal(at[1]!), { x: Number(at[2]), y: Number(at[3]) });
		if (readHead(line, head))
			continue;
		const decl = /^(Switch|Ca|Rt)\s+(\d+)\s+"([^"]*)"(?:.*#\s*"(.*)"([^"]*))?/i.exec(line);
		if (decl) {
			node = declared(decl, head, lineNo);
			doc.nodes.set(node.guid, node);
			idents.set(decl[3]!, node.guid);
			head = fresh();
			continue;
		}
		const port = /^\[(\d+)\](?:\((?:0x)?[0-9a-f]+\))?\s+"([^"]*)"\s*\[(\d+)\](?:\([0-9a-fx]+\))?(?:\s*#(.*))?/i.exec(line);
		if (port && node) {
			const rate = /\s(\d+x[A-Z0-9]+)(?:\s+([\d.]+(?:cm|m|km)))?\s*$/.exec(port[4] ?? '');
			ends.push({ from: node.guid, port: Number(port[1]), to: port[2]!, toPort: Number(port[3]), rate: rate?.[1] ?? '', length: rate?.[2] ?? '' });
			const lmc = /\blmc (\d)/.exec(port[4] ?? '');
			if (lmc && node.type !== 2)
				node.lmc = Number(lmc[1]);
		}
	}
	for (const e of ends) {
		const to = idents.get(e.to);
		if (to !== undefined)
			addEnd(doc, { node: e.from, port: e.port }, { node: to, port: e.toPort }, e.rate, e.length);
	}
	return doc;
}

function fresh(): Pending {
	return { guid: '', vendid: '0x0', devid: '0x0', vfs: 0, sriov: 'vswitch', linearcap: 0, randomcap: 0, mcastcap: 0 };
}

export function normal(guid: string): string {
	return '0x' + guid.replace(/^0x/i, '').toLowerCase().padStart(16, '0');
}

function readHead(line: string, head: Pending): boolean {
	const m = /^(vendid|devid|sysimgguid|switchguid|caguid|rtguid|sriov|linearcap|randomcap|mcastcap)=(\S+)(?:\s+vfs=(\d+))?/.exec(line);
	if (!m)
		return false;
	if (m[1] === 'vendid' || m[1] === 'devid')
		head[m[1]] = m[2]!;
	else if (m[1] === 'sriov') {
		head.sriov = m[2]!;
		head.vfs = Number(m[3] ?? 0);
	} else if (m[1] === 'linearcap' || m[1] === 'randomcap' || m[1] === 'mcastcap')
		head[m[1]] = Number(m[2]);
	else if (m[1] !== 'sysimgguid')
		head.guid = normal(m[2]!.replace(/\(.*$/, ''));
	return true;
}

function declared(m: RegExpExecArray, head: Pending, line: number): DocNode {
	const type = TYPE[m[1]!.toLowerCase()]!;
	const guid = head.guid || (/^[SHR]-[0-9a-f]{16}$/i.test(m[3]!) ? normal(m[3]!.slice(2)) : '');
	if (!guid)
		throw new NetlistError(`line ${line}: a node without GUID`);
	const lmc = /\blmc (\d)/.exec(m[5] ?? '');
	return {
		guid, type, name: m[4] ?? m[3]!, ports: Number(m[2]), lmc: lmc ? Number(lmc[1]) : 0, vfs: head.vfs, sriov: head.sriov,
		vendid: head.vendid, devid: head.devid, enhanced: /enhanced port 0/.test(m[5] ?? ''),
		linear: head.linearcap, random: head.randomcap, mcast: head.mcastcap,
	};
}

function addEnd(doc: Doc, p: PortRef, q: PortRef, rate: string, length: string): void {
	const [a, b] = p.node < q.node || (p.node === q.node && p.port <= q.port) ? [p, q] : [q, p];
	const link: DocLink = { a, b, rate, length };
	const known = doc.links.get(linkKey(link));
	if (known) {
		known.rate ||= rate;
		known.length ||= length;
	} else
		doc.links.set(linkKey(link), link);
}

const WORD = ['Ca', 'Ca', 'Switch', 'Rt'], GUID = ['ca', 'ca', 'switch', 'rt'];

export function docIdent(n: DocNode): string {
	return `${n.type === 2 ? 'S' : n.type === 3 ? 'R' : 'H'}-${n.guid.slice(2)}`;
}

export function portGuid(n: DocNode, port: number): string {
	return '0x' + (BigInt(n.guid) + (n.type === 2 ? 0n : BigInt(port))).toString(16).padStart(16, '0');
}

const short = (guid: string): string => guid.replace(/^0x0*/, '') || '0';
const clean = (name: string): string => name.replace(/[\r\n"]/g, ' ');

export function writeNetlist(doc: Doc): string {
	const ports = new Map<string, { port: number; far: PortRef; link: DocLink }[]>();
	for (const n of doc.nodes.keys())
		ports.set(n, []);
	for (const l of doc.links.values()) {
		ports.get(l.a.node)?.push({ port: l.a.port, far: l.b, link: l });
		ports.get(l.b.node)?.push({ port: l.b.port, far: l.a, link: l });
	}
	const out: string[] = [];
	for (const n of doc.nodes.values()) {
		out.push('', `vendid=${n.vendid}`, `devid=${n.devid}`, `sysimgguid=0x${short(n.guid)}`);
		out.push(`${GUID[n.type]}guid=0x${short(n.guid)}` + (n.type === 2 ? `(${short(n.guid)})` : ''));
		if (n.vfs)
			out.push(`sriov=${n.sriov} vfs=${n.vfs}`);
		for (const [word, size] of n.type === 2 ? [['linearcap', n.linear], ['randomcap', n.random], ['mcastcap', n.mcast]] as const : [])
			if (size)
				out.push(`${word}=${size}`);
		out.push(`${WORD[n.type]}\t${n.ports} "${docIdent(n)}"\t\t# "${clean(n.name)}"` +
			(n.type === 2 ? ` ${n.enhanced ? 'enhanced' : 'base'} port 0 lid 0 lmc ${n.lmc}` : ''));
		for (const p of ports.get(n.guid)!.sort((x, y) => x.port - y.port))
			out.push(portLine(doc, n, p.port, p.far, p.link));
	}
	for (const [guid, p] of doc.at)
		out.push(`# weft-ui at ${guid} ${+p.x.toFixed(3)} ${+p.y.toFixed(3)}`);
	return out.join('\n').replace(/^\n/, '') + '\n';
}

function portLine(doc: Doc, n: DocNode, port: number, far: PortRef, l: DocLink): string {
	const f = doc.nodes.get(far.node)!;
	const own = n.type === 2 ? '' : `(${short(portGuid(n, port))})`, theirs = f.type === 2 ? '' : `(${short(portGuid(f, far.port))})`;
	const rate = (l.rate ? ` ${l.rate}` : ' 4xQDR') + (l.length ? ` ${l.length}` : '');
	return `[${port}]${own}\t"${docIdent(f)}"[${far.port}]${theirs}\t\t# ${n.type === 2 ? '' : `lid 0 lmc ${n.lmc} `}"${clean(f.name).slice(0, 64)}" lid 0${rate}`;
}
