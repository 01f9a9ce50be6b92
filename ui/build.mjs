// SPDX-License-Identifier: BSD-2-Clause
//
// Builds the page: node build.mjs [--unit | --mock] [--out DIR]
//
// Without an option: dist/{index.html,app.js,app.css}, the page as weft serves it. --mock: the same page on an engine
// made of TypeScript, for tests in a browser (build/mock). --unit: the unit tests for node --test (build/unit).
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
else {
	const dir = out ?? 'dist';
	await page('src/main.ts', dir, true);
	for (const f of ['index.html', 'app.js', 'app.css']) {
		const text = readFileSync(join(dir, f), 'utf8');
		if (!text.endsWith('\n'))
			writeFileSync(join(dir, f), text + '\n');
	}
}
