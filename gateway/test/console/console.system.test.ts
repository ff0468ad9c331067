import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually } from '@tocsin/testing';
import { describeWithServersAndBrowser } from '@tocsin/testing/suites';
import type { Page } from 'playwright-core';
import { withClient } from '../../../infra/installation/databases.ts';
import { workspaceApi } from '../../../infra/demo/api.ts';
import { addSampleData } from '../../../infra/demo/sample-data.ts';
import { ROOT } from '../../../infra/installation/environment.ts';
import type { System } from '../../../infra/verification/systems/system.ts';
import { CLEAN, consoleInBrowser, findings, NARROW, WIDE } from './harness.ts';

const PICTURES = path.join(ROOT, 'docs/console');
const TAKES_PICTURES = process.env['TOCSIN_PICTURES'] === '1';
/** Of the script and the style sheet of the first screen, compressed by gzip. */
const MAX_BYTES = 175_000;

/** Every screen, with a text that is there once it has its data, and a box that is checked before. */
const SCREENS = {
  incidents: ['/', 'Checkout answers slowly'],
  archived: ['/?view=archived', 'Nothing is archived'],
  nothing: ['/?q=nothing-has-this-text', 'No incident matches'],
  incident: ['/incidents/1', 'The connection pool of the order database is exhausted'],
  missing: ['/incidents/999999999', 'There is nothing here'],
  'as-of': ['/incidents/1?revision=1', 'as it was at revision 1'],
  postmortem: ['/incidents/1/postmortem', 'Nobody has begun to write'],
  'follow-ups': ['/follow-ups?view=all', 'Alert before the pool is full'],
  statistics: ['/statistics?span="90"', 'Time to recovery by team'],
  catalog: ['/catalog', 'Takes the money'],
  teams: ['/catalog?tab=teams', 'Payments'],
  restore: ['/catalog', 'Old shop', 'Show archived'],
  team: ['/catalog/teams/1', 'person-1@acme.example'],
  service: ['/catalog/services/1', 'Names in monitoring'],
  fields: ['/fields', 'Root cause'],
  alerts: ['/alerts?monitor=uptime-kuma', 'event_action: Must be one of'],
  destinations: ['/destinations', 'No destination so far'],
  trackers: ['/trackers', 'No tracker so far'],
  webhooks: ['/webhooks', 'No webhook so far'],
  users: ['/users', 'person-1@acme.example'],
  keys: ['/keys', 'This one'],
  configuration: ['/configuration', 'Service tiers'],
  start: ['/start', 'Verify the webhook'],
} as const satisfies Record<string, readonly [at: string, text: string, box?: string]>;
type Screen = keyof typeof SCREENS;

/** Each width and each theme once; the pictures show all. */
const LOOKS = [
  ['light', 'wide', WIDE],
  ['dark', 'narrow', NARROW],
  ...(TAKES_PICTURES
    ? ([
        ['light', 'narrow', NARROW],
        ['dark', 'wide', WIDE],
      ] as const)
    : []),
] as const;

/** The pictures in docs/console. */
const SHOWN: readonly [Screen, 'light' | 'dark', 'wide' | 'narrow'][] = [
  ['incidents', 'light', 'wide'],
  ['incidents', 'dark', 'narrow'],
  ['incident', 'light', 'wide'],
  ['incident', 'dark', 'wide'],
  ['incident', 'light', 'narrow'],
  ['follow-ups', 'light', 'wide'],
  ['statistics', 'light', 'wide'],
  ['restore', 'light', 'wide'],
  ['alerts', 'light', 'wide'],
  ['team', 'dark', 'wide'],
  ['users', 'light', 'wide'],
  ['keys', 'dark', 'wide'],
  ['configuration', 'light', 'wide'],
  ['start', 'light', 'narrow'],
];

describeWithServersAndBrowser('the console in a browser', () => {
  const { open, openWatched, visit, origin, client, system, linkFor, declare } = consoleInBrowser();

  beforeAll(async () => {
    const { port, host } = new URL(origin());
    const { token } = client();
    await addSampleData(workspaceApi({ baseUrl: `http://127.0.0.1:${port}`, host, token }));
    await addAlerts(system(), client());
    await addHistory(system());
    await addAftermath(client());
    const { service } = (await client().post('/api/v1/services', { name: 'Old shop' })).body;
    await client().delete(`/api/v1/services/${service.id}`);
    const { user } = (await client().get('/api/v1/me')).body;
    await client().post('/api/v1/teams/1/members', { user_id: user.id, role: 'lead' });
  });

  const show = async (page: Page, screen: Screen) => {
    const [at, text, box] = SCREENS[screen] as readonly [string, string, string?];
    await page.goto(`${origin()}/app${at}`);
    if (box !== undefined) await page.getByLabel(box).first().check();
    await page.getByText(text).first().waitFor();
  };
  /** The parts that are wider than their boxes, and so must be scrolled sideways. */
  const scrolling = async (page: Page) =>
    page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
      .filter((part) => /auto|scroll/.test(getComputedStyle(part).overflowX) && part.scrollWidth > part.clientWidth)
      .map((part) => part.getAttribute('aria-label') ?? part.className)`);

  /** What a thumb would miss: buttons, fields, boxes with their labels, and links of the menu, lower than 44 pixels. */
  const smallTargets = async (page: Page) =>
    page.evaluate<
      string[]
    >(`[...document.querySelectorAll('button, select, input, textarea, summary, nav a, a[class*=button]')]
      .map((part) => [part, part.matches('[type=checkbox], [type=radio]') ? part.closest('label') ?? part : part])
      .filter(([part, target]) => part.checkVisibility({ visibilityProperty: true }) && target.getBoundingClientRect().height < 43.5)
      .map(([part, target]) => part.tagName + ' ' + (part.getAttribute('aria-label') ?? part.textContent.slice(0, 30)) + ' ' + target.className + ' ' + target.getBoundingClientRect().height)`);

  test('every screen, light and wide, dark and narrow, is accessible, fits, and has no errors', async () => {
    const { page, problems, origins } = await openWatched();
    const small: string[] = [];
    for (const screen of Object.keys(SCREENS) as Screen[]) {
      await show(page, screen);
      for (const [colorScheme, width, viewport] of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        const look = [screen, colorScheme, width];
        expect({ look, ...(await findings(page)) }).toEqual({ look, ...CLEAN });
        if (width === 'wide') expect({ look, scrolling: await scrolling(page) }).toEqual({ look, scrolling: [] });
        else small.push(...(await smallTargets(page)).map((target) => `${screen}: ${target}`));
        if (TAKES_PICTURES && SHOWN.some((each) => each.join() === look.join())) {
          await mkdir(PICTURES, { recursive: true });
          await page.screenshot({ path: path.join(PICTURES, `${look.join('-')}.png`) });
        }
      }
    }
    expect(small).toEqual([]);
    // The one screen that is not there is an error for the browser.
    expect(problems.filter((problem) => !problem.includes('404'))).toEqual([]);
    expect([...origins]).toEqual([origin()]);
  });

  test('the dialogues are accessible', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Declare incident' }).click();
    await page.getByRole('dialog', { name: 'Declare an incident' }).waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await page.keyboard.press('Escape');
    await page.goto(`${origin()}/app/keys`);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('What is it for?').fill('A test');
    expect(await findings(page)).toEqual(CLEAN);
    await page.getByRole('button', { name: 'Create' }).click();
    expect(await page.getByText(/^tcs_\w{49}$/).textContent()).toMatch(/^tcs_/);
  });

  test('an incident is declared, described, led, changed and resolved with the keyboard alone', async () => {
    const page = await open();
    const { keyboard } = page;
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await keyboard.press('c');
    await page.getByLabel('What is happening?').waitFor();
    await keyboard.type('Payments are refused');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payments are refused' }).waitFor();
    await keyboard.press('n');
    await keyboard.type('The provider answers with 503');
    await keyboard.press('Control+Enter');
    await page.getByText('The provider answers with 503').locator('visible=true').last().waitFor();
    await keyboard.press('Escape');
    await keyboard.press('s');
    await page.getByRole('combobox', { name: 'Status' }).waitFor();
    await keyboard.type('Monitoring');
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Edit Status: Monitoring' }).waitFor();
    await keyboard.press('a');
    await page.getByRole('button', { name: 'Edit Lead: You' }).waitFor();
    await keyboard.press('r');
    await page.getByRole('dialog').waitFor();
    await keyboard.type('The provider is back');
    await keyboard.press('Control+Enter');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByText('The provider is back').waitFor();
    const focused = page.getByRole('region', { name: 'What is left' });
    await focused.waitFor();
    expect(await focused.evaluate((section) => section === section.ownerDocument.activeElement)).toBe(true);
    const { user } = (await client().get('/api/v1/me')).body;
    const { body } = await client().get('/api/v1/incidents?q=payments+are+refused');
    expect(body.incidents).toEqual([
      expect.objectContaining({ status: 'resolved', severity: 'sev3', incident_manager: String(user.id) }),
    ]);
  });

  test('statistics are compared with the time before, and lead to the incidents behind them', async () => {
    const page = await open('/statistics');
    const figure = (name: string) => page.locator('dl > div').filter({ hasText: name });
    await figure('Incidents').filter({ hasText: 'in the 30 days before' }).waitFor();
    const { statistics } = (await client().get('/api/v1/incidents/statistics')).body;
    const { mean_seconds: mean } = statistics.all.time_to_recovery;
    expect(mean).toBeGreaterThan(0);
    const minutes = Math.round(mean / 60);
    expect(await figure('MTTR').textContent()).toContain(`${Math.floor(minutes / 60)} h`);
    expect(await figure('MTTR').textContent()).toMatch(/ (more|less|before)/);
    const row = page
      .getByRole('region', { name: 'Time to recovery by service' })
      .getByRole('row', { name: /Checkout/ });
    expect(await row.textContent()).toMatch(/more|less|as before/);
    await row.getByRole('link', { name: 'Checkout' }).click();
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('service')).toBe('checkout');
    await page.goBack();
    await page.getByText('Show as a table').click();
    const last = page.getByRole('region', { name: 'Incidents as a table' }).getByRole('row').last();
    const count = Number((await last.getByRole('cell').allTextContents()).at(-1));
    await last.getByRole('link').click();
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    await eventually(async () => (await page.locator('[data-rows] > li').count()) === count);
  });

  test('repeated clicks declare one incident', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Declare incident' }).click();
    await page.getByLabel('What is happening?').fill('Clicked often');
    await page.evaluate(`(() => {
      const button = document.querySelector('dialog button[type=submit]');
      for (let count = 0; count < 5; count += 1) button.click();
    })()`);
    await page.getByRole('heading', { name: 'Clicked often' }).waitFor();
    expect((await client().get('/api/v1/incidents?q=clicked+often')).body.incidents).toHaveLength(1);
  });

  test('of two people who change the same, the second one sees both versions', async () => {
    const incident = await declare('Contested');
    const page = await open(`/incidents/${incident.id}`);
    await page.getByRole('button', { name: 'Edit Title' }).click();
    await page.getByLabel('Title').fill('Mine');
    const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
    const theirs = await client().patch(`/api/v1/incidents/${incident.id}`, { title: 'Theirs' }, at(incident.revision));
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this, too' });
    await dialog.getByRole('cell', { name: 'Theirs' }).waitFor();
    await dialog.getByRole('cell', { name: 'Mine' }).waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await dialog.getByRole('button', { name: 'Save mine' }).click();
    await page.getByRole('button', { name: 'Edit Title: Mine' }).waitFor();
    expect((await client().get(`/api/v1/incidents/${incident.id}`)).body.incident.title).toBe('Mine');
    // Another property does not contradict.
    await page.getByRole('button', { name: /^Edit Severity/ }).click();
    await page.getByRole('combobox', { name: 'Severity' }).selectOption('sev1');
    const { revision } = (await client().get(`/api/v1/incidents/${incident.id}`)).body.incident;
    expect(revision).toBeGreaterThan(theirs.body.incident.revision);
    await client().patch(`/api/v1/incidents/${incident.id}`, { impact_summary: 'Nobody pays' }, at(revision));
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => {
      const { body } = await client().get(`/api/v1/incidents/${incident.id}`);
      return body.incident.severity === 'sev1' && body.incident.impact_summary === 'Nobody pays';
    });
  });

  test('changes of others arrive, also after the stream has died', async () => {
    const incident = await declare('Watched from afar');
    const page = await open();
    const row = page.getByRole('listitem').filter({ hasText: 'Watched from afar' });
    await row.getByText('Open').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await client().patch(
      `/api/v1/incidents/${incident.id}`,
      { status: 'monitoring' },
      { 'If-Service-Resource-Version': String(incident.revision) },
    );
    await row.getByText('Monitoring').waitFor();
    await system().stopApp('webhook');
    await page.getByText(/^(Connecting|Not live)/).waitFor();
    await system().startApp('webhook');
    await page.getByText('Live', { exact: true }).waitFor();
    await declare('Declared meanwhile');
    await page.getByText('was declared since').waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('link', { name: 'Declared meanwhile' }).waitFor();
  });

  test('a session that is revoked is over at once, and a used link does not work', async () => {
    const page = await open();
    const { body } = await client().get('/api/v1/settings/sessions?limit=100');
    for (const { id } of body.sessions) await client().post(`/api/v1/settings/sessions/${id}/revoke`);
    await page.getByText('You are signed out').waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    const link = await linkFor('person-1@acme.example');
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).toBe(`${origin()}/app/`);
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('You are not signed in').waitFor();
  });

  test('a link asks before it signs another user out, and their open page notices', async () => {
    const person = { email: 'ben@acme.example', name: 'Ben Other' };
    await client().post('/api/v1/settings/users', person);
    const page = await open();
    const me = async () =>
      page.evaluate<string>("fetch('/api/v1/me').then((response) => response.json()).then(({ user }) => user.email)");
    expect(await me()).toBe('person-1@acme.example');
    const other = await page.context().newPage();
    await other.goto(await linkFor(person.email));
    await other.getByRole('button', { name: 'Sign in as Ben Other' }).waitFor();
    expect(await findings(other)).toEqual(CLEAN);
    expect(await me()).toBe('person-1@acme.example');
    await other.getByRole('button', { name: 'Sign in as Ben Other' }).click();
    await other.getByText('Ben Other', { exact: true }).waitFor();
    await page.getByText('Ben Other', { exact: true }).waitFor();
  });

  test('who is signed out is offered the provider of the workspace', async () => {
    const workspace = ['--workspace', 'acme'];
    const registration = ['--client-id', 'tocsin', '--client-secret', 'secret-of-the-client'];
    await system().admin('oidc', 'connect', ...workspace, '--issuer', 'https://id.acme.example', ...registration);
    const { page } = await visit(`${origin()}/app/`);
    const link = page.getByRole('link', { name: 'Sign in with your organization' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe('/app/oidc');
    await page.getByText('You go to id.acme.example, and come back.').waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await system().admin('oidc', 'disconnect', ...workspace);
    await page.reload();
    await page.getByText('Ask an owner or admin of the workspace').waitFor();
    expect(await link.count()).toBe(0);
  });

  test('a team gets a member, who becomes its lead and leaves', async () => {
    const { id } = (await client().post('/api/v1/teams', { name: 'Night shift' })).body.team;
    const roles = async () =>
      (await client().get(`/api/v1/teams/${id}/members`)).body.members.map(({ role }: { role: string }) => role);
    const page = await open('/catalog?tab=teams');
    await page.getByRole('link', { name: 'Night shift: 0 members' }).click();
    await page.getByText('No member so far').waitFor();
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel('Who?').selectOption('Person 1, person-1@acme.example');
    expect(await findings(page)).toEqual(CLEAN);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('cell', { name: 'Member', exact: true }).waitFor();
    expect(await roles()).toEqual(['member']);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Role').selectOption('Lead');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Lead', exact: true }).waitFor();
    expect(await roles()).toEqual(['lead']);
    await page.getByRole('link', { name: 'Services and teams' }).click();
    await page.getByRole('button', { name: 'Teams', exact: true }).click();
    await page.getByRole('link', { name: 'Night shift: 1 member' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No member so far').waitFor();
    expect(await roles()).toEqual([]);
  });

  test('a monitor is set up, and what became of its alerts is found, with the keyboard', async () => {
    const page = await open();
    const { keyboard } = page;
    await page.getByRole('link', { name: 'Alerts', exact: true }).focus();
    await keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Monitor' }).focus();
    await keyboard.type('Gatus');
    await page.getByText(`url: ${origin()}/api/v1/alerts?on_end=resolve`).waitFor();
    await page.getByText('event_action: Must be one of').waitFor();
    await page.getByRole('combobox', { name: 'Outcome' }).focus();
    await keyboard.type('Declared');
    await page.getByText('event_action: Must be one of').waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Key' }).selectOption('Prometheus');
    // The address has all of it.
    await page.reload();
    await page.getByText(`url: ${origin()}/api/v1/alerts`).waitFor();
    await page.getByRole('region', { name: 'Notifications', exact: true }).getByRole('link', { name: /^INC-/ }).click();
    await page.getByRole('heading', { name: 'The disk of db-1 is full' }).waitFor();
    await page.getByText('Monitor Prometheus').first().waitFor();
    const runbook = page.getByRole('link', { name: 'Runbook' });
    expect(await runbook.getAttribute('href')).toBe('https://wiki.example.com/disk-full');
    expect(await findings(page)).toEqual(CLEAN);
    await page.goto(`${origin()}/app/`);
    await page.getByLabel('Who has looked').selectOption('Alerts nobody has looked at');
    await page.getByRole('link', { name: 'Checkout answers slowly' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'The disk of db-1 is full' }).waitFor();
    expect(await page.locator('[data-rows] a').allTextContents()).toEqual(['The disk of db-1 is full']);
  });

  test('a body of a monitor is tried, and nothing is carried out; a heartbeat is listed, and forgotten', async () => {
    const page = await open('/alerts');
    await client().post('/api/v1/alerts/heartbeat?name=nightly%20backup&within=90000', undefined);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Try a body' }).click();
    const attempt = async (body: string) => {
      await dialog.getByLabel('Body').fill(body);
      await dialog.getByRole('button', { name: 'Try' }).click();
    };
    await attempt('{"id": disk}');
    await dialog.getByText('The body is no JSON').waitFor();
    await attempt('{"id": "tried", "status": "burning", "title": "x"}');
    await dialog.getByText('Status: Must be one of').waitFor();
    await attempt('{"id": "tried", "status": "firing", "title": "Tried only"}');
    await dialog.getByText('Declared').waitFor();
    await dialog.getByLabel('Form').selectOption('PagerDuty');
    await attempt('{"event_action": "trigger", "dedup_key": "tried too", "payload": {"summary": "Tried only"}}');
    await dialog.getByText('tried too').waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await client().get('/api/v1/incidents?q=Tried%20only')).body.incidents).toEqual([]);

    await page.reload();
    await page.getByRole('cell', { name: 'nightly backup' }).waitFor();
    await page.getByRole('button', { name: 'Forget' }).click();
    await dialog.getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('cell', { name: 'nightly backup' }).waitFor({ state: 'detached' });
    expect((await client().get('/api/v1/alerts/heartbeats')).body.heartbeats).toEqual([]);
  });

  test('what is archived is found and restored', async () => {
    const page = await open();
    for (const [list, at, body] of [
      ['services', '/catalog', { name: 'Retired service' }],
      ['teams', '/catalog?tab=teams', { name: 'Retired team' }],
      ['custom-fields', '/fields', { name: 'Retired field', field_type: 'string' }],
    ] as const) {
      await client().post(`/api/v1/${list}`, body);
      await page.goto(`${origin()}/app${at}`);
      const row = page.getByRole('row').filter({ hasText: body.name });
      await row.getByRole('button', { name: 'Archive' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
      await row.waitFor({ state: 'detached' });
      for (const box of await page.getByLabel('Show archived').all()) await box.check();
      await row.getByText('Archived', { exact: true }).waitFor();
      expect(await row.getByRole('button', { name: 'Edit' }).count()).toBe(0);
      // The address has it.
      await page.reload();
      await row.getByRole('button', { name: 'Restore' }).click();
      await row.getByRole('button', { name: 'Edit' }).waitFor();
      expect(await row.getByText('Archived', { exact: true }).count()).toBe(0);
    }
  });

  test('who has left, names that an import kept and removed options are shown and can be taken out', async () => {
    const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
    const leaver = { name: 'Lea Leaver', email: 'leaver@acme.example', role: 'member', seat: 'responder' };
    const { user } = (await client().post('/api/v1/settings/users', leaver)).body;
    const zones = { name: 'Zones', slug: 'zones', field_type: 'multi_select', config: { options: ['north', 'south'] } };
    const { field } = (await client().post('/api/v1/custom-fields', zones)).body;
    const item = {
      ...{ external: { source: 'dispatch', id: '1' }, title: 'From elsewhere', status: 'open', severity: 'sev3' },
      ...{ created_at: '2026-01-01T00:00:00Z', author: { name: 'Eve' }, values: { zones: ['north', 'south'] } },
      people: { manager: { name: 'Eve' }, responders: [{ name: 'Eve' }, { name: leaver.name, email: leaver.email }] },
    };
    const [{ incident_id: id }] = (await client().post('/api/v1/imports/incidents', { incidents: [item] })).body
      .results;
    await client().patch(`/api/v1/settings/users/${user.id}`, { active: false }, at(user.revision));
    const config = { options: ['north'] };
    await client().patch(`/api/v1/custom-fields/${field.id}`, { config }, at(field.revision));
    const incident = async () => (await client().get(`/api/v1/incidents/${id}`)).body.incident;

    const page = await open(`/incidents/${id}`);
    const save = async () => page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit Responders: Eve, Lea Leaver' }).click();
    await page.getByLabel('Eve (no longer available)').uncheck();
    await save();
    await page.getByRole('button', { name: 'Edit Responders: Lea Leaver' }).click();
    await page.getByLabel('Lea Leaver (no longer available)').uncheck();
    await save();
    await page.getByRole('button', { name: 'Edit Responders: Nobody' }).waitFor();
    await page.getByRole('button', { name: 'Edit Lead: Eve' }).click();
    const lead = page.getByRole('combobox', { name: 'Lead' });
    expect(await lead.locator('option:checked').textContent()).toBe('Eve (no longer available)');
    await lead.selectOption('None');
    await save();
    await page.getByRole('button', { name: 'Edit Zones' }).click();
    await page.getByLabel('south (no longer available)').uncheck();
    expect(await findings(page)).toEqual(CLEAN);
    await save();
    await eventually(async () => (await incident()).custom_fields.zones.length === 1);
    expect(await incident()).toMatchObject({
      ...{ incident_manager: '', incident_responders: [], custom_fields: { zones: ['north'] } },
    });
  });

  test('who may not change something sees why', async () => {
    await system().as({ role: 'viewer', seat: 'none' });
    const { body } = await client().get('/api/v1/settings/users?role=viewer');
    const page = await open('/', { email: body.users[0].email });
    await page.getByText('You have no responder seat').waitFor();
    expect(await page.getByRole('button', { name: 'Declare incident' }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('link', { name: 'Checkout answers slowly' }).click();
    await page.getByRole('heading', { name: 'Checkout answers slowly' }).waitFor();
    await page.getByRole('region', { name: 'Follow-ups' }).getByText('Raise the limit of connections').waitFor();
    expect(await page.getByRole('button', { name: /^(Resolve|Edit|Relation|Follow-up)/ }).count()).toBe(0);
    await page.goto(`${origin()}/app/catalog/teams/1`);
    await page.getByText('person-1@acme.example').waitFor();
    expect(await page.getByRole('button', { name: /^(Add|Edit|Remove)/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('You cannot see this page').waitFor();
    expect(await findings(page)).toEqual(CLEAN);
  });

  test('says when it is offline, and shows what it has', async () => {
    const page = await open();
    await page.getByRole('link', { name: 'Checkout answers slowly' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline. What you see may be old.').waitFor();
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('heading', { name: 'You are offline' }).waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('person-1@acme.example').waitFor();
  });

  test('comes back from an incident to the same place of the same list', async () => {
    const page = await open('/?view=all&sort=severity');
    // The next page comes when the end of the first one is near.
    await page.locator('[data-rows] a').nth(29).scrollIntoViewIfNeeded();
    const last = page.locator('[data-rows] a').nth(45);
    await last.scrollIntoViewIfNeeded();
    const before = await page.evaluate<number>('scrollY');
    expect(before).toBeGreaterThan(500);
    await last.click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.goBack();
    await last.waitFor();
    await eventually(async () => Math.abs((await page.evaluate<number>('scrollY')) - before) < 4);
  });

  test('a list of thousands goes on by itself, says how many there are, and counts them once', async () => {
    await addHistory(system(), 111, 2_110);
    const page = await open('/?view=all');
    const requests: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/v1/incidents') requests.push(`${searchParams.get('include_counts')}`);
    });
    const rows = page.locator('[data-rows] > li');
    const { body } = await client().get('/api/v1/incidents?include_counts=true&limit=1');
    const { matched } = body.collection_counts;
    expect(matched).toBeGreaterThan(2_000);
    await page.getByText(`${matched.toLocaleString('en')} incidents, of which 30 are shown.`).waitFor();
    for (let shown = await rows.count(); shown < 2_000; shown = await rows.count()) {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
      await eventually(async () => (await rows.count()) > shown);
    }
    expect(new Set(requests)).toEqual(new Set(['null']));
    expect(requests.length).toBeLessThanOrEqual(20);
    await rows.nth(1_500).scrollIntoViewIfNeeded();
    const milliseconds = await page.evaluate<number>(`new Promise((resolve) => {
      const started = performance.now();
      document.querySelectorAll('[data-rows] > li')[1500].querySelector('input').click();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
    })`);
    await page.getByText('1 selected').waitFor();
    console.log(`console, a box in a list of 2,000: ${Math.round(milliseconds)} ms`);
    const chosen = await rows.nth(1_500).getByRole('link').textContent();
    await rows.nth(1_500).getByRole('link').click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.goBack();
    await eventually(async () =>
      page.evaluate<boolean>(`[...document.querySelectorAll('[data-rows] > li')].some((row) => {
        const { top } = row.getBoundingClientRect();
        return top > 0 && top < innerHeight && row.querySelector('a').textContent === ${JSON.stringify(chosen)};
      })`),
    );
  });

  test('the first screen is one script and one style sheet, and both are small', async () => {
    const { page } = await openWatched('/', { profile: {} });
    const loaded = new Map<string, Promise<Buffer>>();
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (/\.(js|css)$/.test(pathname)) loaded.set(pathname, response.body());
    });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Network.clearBrowserCache');
    for (const rate of [1, 4]) {
      await cdp.send('Emulation.setCPUThrottlingRate', { rate });
      const started = performance.now();
      await page.goto(`${origin()}/app/`);
      await page.getByRole('link', { name: 'Checkout answers slowly' }).waitFor();
      console.log(`console, first load at 1/${rate} of the processor: ${Math.round(performance.now() - started)} ms`);
    }
    await page.getByText('Live', { exact: true }).waitFor();
    const names = [...loaded.keys()].map((name) => name.replace(/-[\w-]{8}\./, '.')).sort();
    expect(names).toEqual(['/app/assets/index.js', '/app/assets/style.css']);
    const bodies = await Promise.all(loaded.values());
    const bytes = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
    console.log(`console, first screen: ${bytes} bytes`);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  });

  test('a page whose script is no longer there reloads once, and then says so', async () => {
    const page = await open();
    let documents = 0;
    let isGone = true;
    page.on('framenavigated', () => (documents += 1));
    await page.route('**/app/assets/fields-*.js', async (route) =>
      isGone ? route.fulfill({ status: 404 }) : route.continue(),
    );
    await page.getByRole('link', { name: 'Custom fields' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    // The router changes the address, and the page reloads.
    expect(documents).toBe(2);
    expect(await findings(page)).toEqual(CLEAN);
    // Nothing answers: the page that is open stays.
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.context().setOffline(false);
    isGone = false;
    await page.goto(`${origin()}/app/fields`);
    await page.getByText('Root cause').first().waitFor();
  });
});

/** A monitor whose first notification declares an incident, and whose second one is refused. */
async function addAlerts(system: System, client: Client): Promise<void> {
  const key = { name: 'Prometheus', scopes: ['alerts:write'] };
  const { token } = (await client.post('/api/v1/settings/api-keys', key)).body;
  const monitor = system.anonymously().with({ Authorization: `Bearer ${token}` });
  const links = [{ url: 'https://wiki.example.com/disk-full', label: 'Runbook' }];
  await monitor.post('/api/v1/alerts', { id: 'disk db-1', status: 'firing', title: 'The disk of db-1 is full', links });
  await monitor.post('/api/v1/alerts/pagerduty', { event_action: 'page' });
}

/** What is left to do after the first incident, and what it has to do with the second one. */
async function addAftermath(client: Client): Promise<void> {
  const { user } = (await client.get('/api/v1/me')).body;
  const path = '/api/v1/incidents/1';
  const ticket = { external_url: 'https://tickets.example.com/browse/PAY-12', owner: String(user.id) };
  const followUp = { title: 'Raise the limit of connections', due_on: '2026-01-31', description: 'Ask **Platform**' };
  await client.post(`${path}/follow-ups`, { ...followUp, ...ticket });
  await client.post(`${path}/follow-ups`, { title: 'Alert before the pool is full', due_on: '2099-12-24' });
  await client.post(`${path}/follow-ups`, { title: 'Write to the customers', status: 'done' });
  await client.post(`${path}/relations`, { type: 'caused_by', incident_id: 2 });
}

const TITLES = [
  'Logins fail for some customers',
  'Emails arrive late',
  'Images do not load in Asia',
  'Payments of one bank are refused',
  'The search index is behind',
  'Exports time out',
  'Prices are shown without tax',
  'Push messages are sent twice',
];

/** Incidents of the last three months that are over, as a busy workspace has them. */
const addHistory = async (system: System, first = 1, last = 110): Promise<void> =>
  withClient(system.database.adminUrl, async (database) => {
    await database.query(
      `with drawn as (
         select n, ($1::text[])[1 + n % cardinality($1)] as title, (n * 7919) % 100 as dice,
           now() - n * interval '19 hours' - interval '2 days' as created_at,
           (array['checkout', 'search', 'reports'])[1 + (n * 31) % 3] as service
         from generate_series($2::int, $3::int) as n)
       insert into incident.incidents (workspace_id, number, title, title_folded, service, service_folded, severity,
         severity_mode, status, issue_type, customer_impact_status, team_id, first_responded_at, ended_at,
         status_changed_at, created_at, created_by)
       select (select id from gateway.workspaces), 1000 + n, title, lower(title), service, service,
         'sev' || case when dice < 8 then 1 when dice < 28 then 2 when dice < 72 then 3 else 4 end, 'manual',
         'resolved', 'postmortem', 'none',
         (select id from catalog.teams order by name limit 1 offset case service when 'checkout' then 0 else 1 end),
         created_at + (dice + 2) * interval '47 seconds', created_at + (dice + 5) * (dice + 5) * interval '4 seconds',
         created_at + interval '1 hour', created_at, '1'
       from drawn`,
      [TITLES, first, last],
    );
    await database.query('update incident.incident_counters set last = 10000');
  });
