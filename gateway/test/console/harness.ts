import { afterEach, expect } from '@jest/globals';
import { type Client } from '@tocsin/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildConsole } from '../../../infra/console/build-console.ts';
import { startSystem, type System, type SystemOptions } from '../../../infra/verification/systems/system.ts';
import {
  findViolations,
  launchBrowser,
  newProfile,
  openTab,
  type PageOptions,
  shareProfile,
  type SharedProfile,
  type WatchedPage,
} from '../browser.ts';
import { running } from '../../../infra/verification/systems/running.ts';

export const WIDE = { width: 1_440, height: 900 };
export const NARROW = { width: 360, height: 740 };
/** The owner for whom the client acts. */
export const OWNER = 'person-1@acme.example';

/** The revision that a change is based on. */
export const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

/** What is the same for all profiles. */
const PROFILE: BrowserContextOptions = {
  viewport: WIDE,
  timezoneId: 'UTC',
  reducedMotion: 'reduce',
  permissions: ['clipboard-read', 'clipboard-write'],
  // Of providers that people sign in with.
  ignoreHTTPSErrors: true,
};

interface OpenOptions extends PageOptions {
  email?: string;
  /** Gives the page a profile of its own, with these options; default: the one that the tests of the file share. */
  profile?: BrowserContextOptions;
}

/** A system with the console and a browser. */
interface RunningConsole {
  system: System;
  /** Acts for `OWNER`. */
  client: Client & { token: string };
  browser: Browser;
  origin: string;
  stop(): Promise<void>;
}

async function startConsole(options: SystemOptions): Promise<RunningConsole> {
  await buildConsole();
  const settings = { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000', ...options.settings };
  const system = await startSystem({ ...options, settings });
  const client = await system.as({ role: 'owner' });
  const browser = await launchBrowser();
  return {
    ...{ system, client, browser, origin: `http://acme.localhost:${new URL(system.url).port}` },
    stop: async () => {
      await browser.close();
      await system.stop();
    },
  };
}

export type Console = ReturnType<typeof consoleInBrowser>;

/** A system with the console and a browser, for all tests of one file. What a test opens is closed after it. */
export function consoleInBrowser(options: () => SystemOptions = () => ({})) {
  const console = running(async () => startConsole(options()));
  const opened: WatchedPage[] = [];
  /** By the email of who is signed in; of visitors, by an empty one. */
  const shared = new Map<string, SharedProfile>();
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.close();
    for (const profile of shared.values()) await profile.clear(console.origin);
  });
  const profileOf = async (email: string): Promise<SharedProfile> => {
    const profile = shared.get(email) ?? (await shareProfile(console.browser, PROFILE));
    shared.set(email, profile);
    return profile;
  };
  /** A link that signs somebody in. */
  const linkFor = async (email: string) => {
    const { url } = (await console.system.admin('login-link', '--workspace', 'acme', '--email', email)) as {
      url: string;
    };
    return `${console.origin}/app/sign-in${new URL(url).hash}`;
  };
  /** The cookie of a new session. */
  const sessionOf = async (email: string) => {
    const token = new URL(await linkFor(email)).hash.slice(1);
    const { headers } = await console.system
      .anonymously()
      .with({ Authorization: `Bearer ${token}`, 'Sec-Fetch-Site': 'same-origin' })
      .post('/app/session');
    const [name = '', value = ''] = (headers.get('set-cookie')?.split(';')[0] ?? '').split('=');
    const cookie = { name, value, domain: new URL(console.origin).hostname, path: '/' };
    return { ...cookie, expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const };
  };
  /** Opens an address as somebody who has never been here. */
  const visit = async (url: string, options?: PageOptions): Promise<WatchedPage> => {
    const { context, clear } = await profileOf('');
    await clear(console.origin);
    const watched = await openTab(context, url, options);
    opened.push(watched);
    return watched;
  };
  /** Opens a path of the console as somebody who is signed in. */
  const openWatched = async (
    path = '/',
    { email = OWNER, profile, ...options }: OpenOptions = {},
  ): Promise<WatchedPage> => {
    const context =
      profile === undefined
        ? (await profileOf(email)).context
        : await newProfile(console.browser, { ...PROFILE, ...profile });
    if ((await context.cookies()).length === 0) await context.addCookies([await sessionOf(email)]);
    const watched = await openTab(context, `${console.origin}/app${path}`, options);
    if (profile !== undefined) watched.close = async () => context.close();
    opened.push(watched);
    await watched.page.getByRole('main').waitFor();
    return watched;
  };
  return {
    ...{ linkFor, visit, openWatched },
    open: async (...given: Parameters<typeof openWatched>): Promise<Page> => (await openWatched(...given)).page,
    system: () => console.system,
    client: () => console.client,
    origin: () => console.origin,
    /** Problems of the pages that are open. */
    problems: () => opened.flatMap(({ problems }) => problems),
    /** Adds a person who responds to incidents, and returns their email. */
    addPerson: async (name: string) => {
      const email = `${name.toLowerCase()}@acme.example`;
      await console.client.post('/api/v1/settings/users', { name, email, role: 'member', seat: 'responder' });
      return email;
    },
    declare: async (title: string, more: object = {}) =>
      (await console.client.post('/api/v1/incidents', { title, ...more })).body.incident,
    incident: async (id: number) => (await console.client.get(`/api/v1/incidents/${id}`)).body.incident,
    note: async (id: number, event: object) =>
      (await console.client.post(`/api/v1/incidents/${id}/timeline`, event)).body.event,
  };
}

/** Shows the properties of an incident that are empty. */
export async function openFolds(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Edit Title/ }).waitFor();
  const folded = page.getByRole('button', { name: /\d empty /, expanded: false });
  while ((await folded.count()) > 0) await folded.first().click();
}

/** What axe finds, and by how much the page is wider than its window. */
export const findings = async (page: Page) => ({
  overflow: await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
  violations: (await findViolations(page)).map(
    ({ id, nodes }) => `${id} ${nodes.map(({ target, any }) => `${String(target)} ${any[0]?.message}`).join('; ')}`,
  ),
});

export const CLEAN = { overflow: 0, violations: [] };

/** Expects a page to be accessible, and to fit its width; takes a picture if `TOCSIN_LOOK` names a folder. */
export async function expectSound(page: Page, name: string): Promise<void> {
  const folder = process.env['TOCSIN_LOOK'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
  expect({ name, ...(await findings(page)) }).toEqual({ name, ...CLEAN });
}
