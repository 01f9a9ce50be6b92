// SPDX-License-Identifier: BSD-2-Clause
//
// Builds the page: node build.mjs [--unit | --mock | --static] [--out DIR]
//
// Without an option: dist/{index.html,app.js,app.css}, the page as weft serves it. --mock: the same page on an engine
// made of TypeScript, for tests in a browser (build/mock). --unit: the unit tests for node --test (build/unit).
// --static: the page without a server, but for engine.wasm (scripts/ui-static.sh), and the host alone for tests (build/static-test/host.mjs).
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
process.chdir(here);
const args = process.argv.slice(2);
const outAt = args.indexOf('--out');

const common = {
	bundle: true,
	target: 'es2022',
	format: 'esm',
	legalComments: 'none',
	charset: 'utf8',
	logLevel: 'warning',
};

async function page(entry, out, minify) {
	mkdirSync(out, { recursive: true });
	await build({ ...common, entryPoints: [entry], outfile: join(out, 'app.js'), minify, format: 'iife',
		banner: { js: '/* SPDX-License-Identifier: BSD-2-Clause; uPlot: MIT, (c) Leon Sorokin */' } });
	await build({ ...common, entryPoints: ['src/app.css'], outfile: join(out, 'app.css'), minify,
		banner: { css: '/* SPDX-License-Identifier: BSD-2-Clause; uPlot: MIT, (c) Leon Sorokin */' } });
	copyFileSync('src/index.html', join(out, 'index.html'));
}

/* A site may have no headers of its own: the policy is in the page. */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'";

async function staticPage(out) {
	await page('src/static/main.ts', out, true);
	await build({ ...common, entryPoints: ['src/static/worker.ts'], outfile: join(out, 'worker.js'), minify: true, format: 'iife',
		banner: { js: '/* SPDX-License-Identifier: BSD-2-Clause */' } });
	const html = join(out, 'index.html');
	writeFileSync(html, readFileSync(html, 'utf8').replace('<meta charset="utf-8">', `$&\n<meta http-equiv="Content-Security-Policy" content="${POLICY}">`));
	await build({ ...common, platform: 'node', entryPoints: ['test/static/host.ts'], outfile: `${out}-test/host.mjs` });
}

async function unit(out) {
	const tests = readdirSync('test').filter((f) => f.endsWith('.test.ts'));
	await build({ ...common, platform: 'node', entryPoints: tests.map((f) => join('test', f)), outdir: out,
		outExtension: { '.js': '.mjs' }, sourcemap: 'inline' });
}

const out = outAt >= 0 ? args[outAt + 1] : undefined;
if (args.includes('--unit'))
	await unit(out ?? 'build/unit');
else if (args.includes('--mock'))
	await page('test/mock/main.ts', out ?? 'build/mock', false);
else if (args.includes('--static'))
	await staticPage(out ?? 'build/static');
else {
	const dir = out ?? 'dist';
	await page('src/main.ts', dir, true);
	for (const f of ['index.html', 'app.js', 'app.css']) {
		const text = readFileSync(join(dir, f), 'utf8');
		if (!text.endsWith('\n'))
			writeFileSync(join(dir, f), text + '\n');
	}
}
