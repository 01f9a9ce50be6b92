// SPDX-License-Identifier: BSD-2-Clause
//
// A browser and a static server with the headers of weft ui, for tests of the page in build/mock.
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';

export const UI = join(dirname(fileURLToPath(import.meta.url)), '../..');
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'";
const TYPE = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css' };

export function serve(dir) {
	const server = createServer((req, res) => {
		const path = new URL(req.url, 'http://x').pathname, name = path === '/' ? 'index.html' : path.slice(1);
		if (!/^[\w.]+$/.test(name) || !existsSync(join(dir, name))) {
			res.writeHead(404).end('not found');
			return;
		}
		res.writeHead(200, { 'Content-Type': TYPE[name.split('.').pop()] ?? 'text/plain', 'Content-Security-Policy': CSP });
		res.end(readFileSync(join(dir, name)));
	});
	return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}/` })));
}

/* Errors of the page, refused resources too, are collected in errors. */
export async function browse({ width = 1280, height = 720, scheme = 'dark', dpr = 1 } = {}) {
	const chromium = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
	if (!chromium)
		throw new Error('no chromium; set CHROMIUM');
	const browser = await puppeteer.launch({ executablePath: chromium, headless: true, protocolTimeout: 600000, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', `--window-size=${width},${height}`, '--disable-dev-shm-usage', '--js-flags=--expose-gc', '--enable-precise-memory-info'] });
	const page = await browser.newPage(), errors = [];
	page.on('pageerror', (e) => errors.push(String(e)));
	page.on('console', (m) => ['error', 'warning'].includes(m.type()) && !/GPU stall|GL Driver Message/.test(m.text()) && errors.push(m.text()));
	await page.setViewport({ width, height, deviceScaleFactor: dpr });
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	return { browser, page, errors };
}

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
export const ready = (page) => page.waitForSelector('body[data-ready=true]', { timeout: 120000 });
