import { afterAll, describe, expect, test } from '@jest/globals';
import { startGatewayHarness } from '../gateway-harness.ts';

const gateway = await startGatewayHarness({ env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '1000' } });
afterAll(async () => gateway.close());

const { groups } = (await gateway.send({ path: '/docs/guides.json' })).body as {
  groups: { title: string; guides: { name: string; title: string }[] }[];
};
const names = groups.flatMap(({ guides }) => guides.map(({ name }) => name));

describe('the guides', () => {
  test.each(['/docs/guides', '/docs/guides/'])('are listed at %s on every host', async (path) => {
    for (const host of ['acme.localhost', 'nobody.localhost:8080', '127.0.0.1:8080']) {
      const page = await gateway.send({ path, host });
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      for (const name of names) expect(page.text).toContain(`href="/docs/guides/${name}"`);
    }
  });

  test('are pages without markup of their texts, whose policy allows files of this origin only', async () => {
    expect(names).toContain('alerts');
    const page = await gateway.send({ path: '/docs/guides/alerts' });
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    );
    expect(page.headers['cache-control']).toBe('no-cache');
    expect(page.text).toContain('<h1>Alerts of monitors</h1>');
    expect(page.text).toContain('<h2 id="heartbeats">Heartbeats</h2>');
    expect(page.text).toContain('<a href="/docs#tag/alerts">contract</a>');
    const { text } = await gateway.send({ path: '/docs/guides/verifying-a-release' });
    expect(text).toContain('@sha256:&lt;digest&gt;');
    const tag = page.headers.etag!;
    expect((await gateway.send({ path: '/docs/guides/alerts', headers: { 'If-None-Match': tag } })).status).toBe(304);
  });

  test('link to pages, parts and files that exist', async () => {
    const pages = await Promise.all(names.map(async (name) => gateway.send({ path: `/docs/guides/${name}` })));
    const idsOf = new Map(
      pages.map(({ text }, index) => [names[index], [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]),
    );
    for (const [index, { text }] of pages.entries()) {
      for (const [, href = ''] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (/^https?:/.test(href)) continue;
        const url = new URL(href, `http://acme.localhost/docs/guides/${names[index]}`);
        if (url.pathname === '/docs' || url.pathname === '/app/') continue;
        expect({ href, status: (await gateway.send({ path: url.pathname })).status }).toEqual({ href, status: 200 });
        const ids = idsOf.get(url.pathname.split('/').at(-1));
        if (url.hash !== '') expect(ids).toContain(decodeURIComponent(url.hash.slice(1)));
      }
    }
  });

  test('are the same as JSON, and no other name is a guide', async () => {
    const { guide } = (await gateway.send({ path: '/docs/guides/alerts.json' })).body as {
      guide: { name: string; title: string; nodes: unknown[] };
    };
    expect(guide).toMatchObject({ name: 'alerts', title: 'Alerts of monitors' });
    expect(guide.nodes[0]).toMatchObject({ tag: 'p' });
    // As any path that has no page.
    expect((await gateway.send({ path: '/docs/guides/nothing' })).status).toBe(401);
  });
});
