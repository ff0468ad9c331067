import path from 'node:path';
import type { DocsAssets } from '../docs-assets.ts';
import { escapeHtml } from '../error-page.ts';
import type { PublicPage } from '../public-pages.ts';
import { staticContent } from '../static-content.ts';
import { type GuideNode, type GuidePage, type GuidePages, readGuidePages } from './guide-pages.ts';

const FOLDER = '/docs/guides';
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The guides for people, and as JSON for the console, by path. */
export function guidePages({ add }: DocsAssets): ReadonlyMap<string, PublicPage> {
  const { groups } = readGuidePages();
  const fileOf = (name: string) => path.join(import.meta.dirname, name);
  const addresses = {
    style: add('guides', fileOf('guides.css')),
    script: add('guides', fileOf('guides.js')),
    icon: add('icon', fileOf('../reference/icon.svg')),
  };
  const html = (title: string, content: string) => publicPage(HTML, render({ ...addresses, title, content }));
  const json = (value: unknown) => publicPage(JSON_TYPE, JSON.stringify(value));
  const list = html('Guides', renderList(groups));
  const index = groups.map(({ title, guides }) => ({
    title,
    guides: guides.map(({ name, title: text }) => ({ name, title: text })),
  }));
  return new Map([
    [FOLDER, list],
    [`${FOLDER}/`, list],
    [`${FOLDER}.json`, json({ groups: index })],
    ...groups
      .flatMap(({ guides }) => guides)
      .flatMap((guide): [string, PublicPage][] => [
        [`${FOLDER}/${guide.name}`, html(guide.title, renderGuide(guide))],
        [`${FOLDER}/${guide.name}.json`, json({ guide })],
      ]),
  ]);
}

function publicPage(type: string, text: string): PublicPage {
  const bytes = Buffer.from(text);
  const content = staticContent(() => bytes, { type, caching: 'revalidated' });
  return {
    limited: true,
    send: async (request, response) => {
      response.setHeader('Content-Security-Policy', SECURITY_POLICY);
      response.setHeader('Referrer-Policy', 'no-referrer');
      await content.send(request, response);
    },
  };
}

const renderList = (groups: GuidePages['groups']) =>
  `<main class="guide"><h1>Guides</h1><article>${groups
    .map(({ title, guides }) => {
      const items = guides.map(({ name, title: text }) => link(`${FOLDER}/${name}`, escapeHtml(text)));
      return `<h2>${escapeHtml(title)}</h2>${listOf(items)}`;
    })
    .join('')}</article></main>`;

function renderGuide({ title, nodes }: GuidePage): string {
  const parts = nodes.flatMap((node) =>
    typeof node !== 'string' && node.tag === 'h2' ? link(`#${node.id ?? ''}`, node.children.map(toHtml).join('')) : [],
  );
  const contents = parts.length === 0 ? '' : `<nav class="contents" aria-label="Contents">${listOf(parts)}</nav>`;
  const article = `<article>${nodes.map(toHtml).join('')}</article>`;
  return `<main class="guide"><h1>${escapeHtml(title)}</h1>${contents}${article}</main>`;
}

const link = (href: string, html: string) => `<a href="${escapeHtml(href)}">${html}</a>`;
const listOf = (items: readonly string[]) => `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;

function toHtml(node: GuideNode): string {
  if (typeof node === 'string') return escapeHtml(node);
  const { tag, id, href, start, children } = node;
  const attributes = Object.entries({ id, href, start, ...(tag === 'pre' && { tabindex: 0 }) })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escapeHtml(String(value))}"`);
  const html = `<${tag}${attributes.join('')}>${children.map(toHtml).join('')}</${tag}>`;
  // The keyboard scrolls what is wider than the page.
  return tag === 'table' ? `<div class="wide" role="region" aria-label="Table" tabindex="0">${html}</div>` : html;
}

const render = (page: Readonly<Record<'style' | 'script' | 'icon' | 'title' | 'content', string>>) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(page.title)} · Tocsin</title>
    <link rel="icon" href="${page.icon}" />
    <link rel="stylesheet" href="${page.style}" />
    <script defer src="${page.script}"></script>
  </head>
  <body>
    <header>
      <a class="brand" href="/docs"><img src="${page.icon}" alt="" width="20" height="20" />Tocsin</a>
      <nav aria-label="Tocsin">
        <a href="${FOLDER}">Guides</a>
        <a href="/docs">API reference</a>
        <a href="/app/">Console</a>
      </nav>
    </header>
    ${page.content}
  </body>
</html>
`;
