import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { afterAll, describe, expect, test } from '@jest/globals';
import { startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000' } });
afterAll(async () => gateway.close());

const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path!);

describe('the API reference', () => {
  test.each(['/docs', '/docs/'])('is served at %s on every host', async (path) => {
    for (const host of ['acme.localhost', 'localhost', 'nobody.localhost:8080', '127.0.0.1:8080']) {
      const page = await gateway.send({ path, host });
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.text).toContain('<title>Tocsin API</title>');
    }
  });

  test.each(['acme.localhost', 'localhost', '[::1]:8080'])('is where / redirects to on %s', async (host) => {
    const response = await gateway.send({ path: '/', host });
    expect([response.status, response.headers.location, response.text]).toEqual([302, '/docs', '']);
  });

  test('allows scripts, styles and requests of its own origin, with a new nonce for each response', async () => {
    const policies = [];
    for (let count = 0; count < 2; count += 1) {
      const { headers, text } = await gateway.send({ path: '/docs' });
      const nonce = /<meta property="csp-nonce" content="([\w+/]{22}==)" \/>/.exec(text)![1]!;
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers['cache-control']).toBe('no-store');
      policies.push(headers['content-security-policy']);
    }
    expect(new Set(policies).size).toBe(2);
  });

  test('refers to no other origin', async () => {
    const { text } = await gateway.send({ path: '/docs' });
    expect(text).not.toMatch(/https?:|\/\/[\w.]/);
  });

  test('loads immutable files, compressed with an encoding that the browser accepts', async () => {
    const { text } = await gateway.send({ path: '/docs' });
    const assets = new Set(assetsOf(text));
    expect([...assets].map((path) => path.replace(/[.][0-9a-f]{16}[.]/, '.'))).toEqual([
      '/docs/assets/icon.svg',
      '/docs/assets/style.css',
      '/docs/assets/policy.js',
      '/docs/assets/scalar.js',
      '/docs/assets/start.js',
    ]);
    for (const path of assets) {
      const plain = await gateway.send({ path });
      expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(plain.headers.vary).toBe('Accept-Encoding');
      expect(plain.headers['content-type']).toMatch(/^(?:text\/javascript|text\/css|image\/svg\+xml)(?:;|$)/);
      expect(Number(plain.headers['content-length'])).toBe(plain.bytes.length);
      expect(path).toContain(createHash('sha256').update(plain.bytes).digest('hex').slice(0, 16));

      for (const [accepted, encoding, decompress] of [
        ['gzip, deflate', 'gzip', gunzip],
        ['gzip, deflate, br, zstd', 'br', brotliDecompress],
        ['gzip, br;q=0', 'gzip', gunzip],
      ] as const) {
        const packed = await gateway.send({ path, headers: { 'Accept-Encoding': accepted } });
        expect([packed.status, packed.headers['content-encoding']]).toEqual([200, encoding]);
        expect(Number(packed.headers['content-length'])).toBe(packed.bytes.length);
        expect((await promisify(decompress)(packed.bytes)).equals(plain.bytes)).toBe(true);
      }
      const head = await gateway.send({ path, method: 'HEAD' });
      expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
        200,
        String(plain.bytes.length),
        0,
      ]);
    }
  });

  test('has no other files', async () => {
    for (const path of ['/docs/assets/', '/docs/assets/scalar.js', '/docs/assets/../page.ts', '/docs/index.html']) {
      expect((await gateway.send({ path })).status).toBe(401);
    }
  });
});
