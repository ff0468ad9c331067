import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { eventually, findChromium } from '@tocsin/testing';
import type { Result } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type ViewportSize,
} from 'playwright-core';

/** A page, with the problems and requests while it was open. */
export interface WatchedPage {
  page: Page;
  /** Console errors and warnings, uncaught exceptions, and violations of the Content-Security-Policy. */
  problems: string[];
  /** The origins of all requests. */
  origins: Set<string>;
  close(): Promise<void>;
}

/** Starts this machine's Chromium with an empty profile and without background requests to its vendor. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      // A page lives for seconds: what optimizes its code takes longer than it gives back.
      '--js-flags=--no-opt --no-maglev',
      // Fewer processes: a page is there in three quarters of the time.
      '--in-process-gpu',
      '--disable-site-isolation-trials',
      // A new page of a profile finds its scripts compiled.
      '--renderer-process-limit=1',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Opens an address in a new profile, and returns when the API reference is shown. */
export async function openReference(...options: Parameters<typeof openPage>): Promise<WatchedPage> {
  const opened = await openPage(...options);
  await opened.page.getByRole('heading', { name: 'Tocsin', level: 1 }).waitFor();
  return opened;
}

/** Opens an address in a new profile, which is closed with the page. */
export async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const profile = await newProfile(browser, options);
  return { ...(await openTab(profile, url)), close: async () => profile.close() };
}

/** A profile for one test after the other: a new page in it takes half the time of one in a new profile. */
export interface SharedProfile {
  context: BrowserContext;
  /** Closes its pages, goes online, and removes cookies and what an origin has stored. */
  clear(origin: string): Promise<void>;
}

export async function shareProfile(browser: Browser, options?: BrowserContextOptions): Promise<SharedProfile> {
  const context = await newProfile(browser, options);
  // Stays open, and so does the process that has compiled the scripts.
  const blank = await context.newPage();
  const storage = await context.newCDPSession(blank);
  return {
    context,
    clear: async (origin) => {
      for (const page of context.pages()) if (page !== blank) await page.close();
      await context.setOffline(false);
      await context.clearCookies();
      await storage.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    },
  };
}

export async function newProfile(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  // Shorter than the timeout of a test, so that a failure names the missing element.
  context.setDefaultTimeout(240_000);
  return context;
}

/** What a page has for itself, in whatever profile. */
export interface PageOptions {
  viewport?: ViewportSize;
  colorScheme?: 'light' | 'dark';
}

/** Opens an address in a new page of a profile. */
export async function openTab(
  profile: BrowserContext,
  url: string,
  { viewport, colorScheme }: PageOptions = {},
): Promise<WatchedPage> {
  const page = await profile.newPage();
  if (viewport !== undefined) await page.setViewportSize(viewport);
  if (colorScheme !== undefined) await page.emulateMedia({ colorScheme });
  const problems: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    // Says something of this machine: an interface came or went.
    if (message.text().includes('net::ERR_NETWORK_CHANGED')) return;
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:') origins.add(origin);
  });
  // The console does not show violations that a script catches, such as an attempt to use eval.
  await page.exposeFunction('tocsinViolation', (violation: string) => problems.push(`violation: ${violation}`));
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) => {
    window.tocsinViolation(event.violatedDirective + ' ' + event.blockedURI);
  });`);
  await page.goto(url);
  return { page, problems, origins, close: async () => page.close() };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe finds on a page, or in the part that a selector names. Our pages have no frames. */
export async function findViolations(page: Page, part?: string): Promise<Result[]> {
  // Its source is large, and a document keeps it.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(AXE);
  // A colour that is changing has no contrast to judge.
  await eventually(async () =>
    page.evaluate<boolean>(`document.getAnimations().every((each) =>
      each.playState !== 'running' || each.effect.getComputedTiming().endTime === Infinity)`),
  );
  // Of what passes, it then describes one element instead of all.
  return page.evaluate<Result[]>(`axe.run(${part === undefined ? 'document' : JSON.stringify(part)},
    { resultTypes: ['violations'] }).then(({ violations }) => violations)`);
}
