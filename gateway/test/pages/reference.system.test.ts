import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Client, eventually } from '@tocsin/testing';
import { describeWithProgram, describeWithServersAndBrowser } from '@tocsin/testing/suites';
import type { Browser, Page } from 'playwright-core';
import { findViolations, launchBrowser, openReference, type WatchedPage } from '../browser.ts';
import { startSystem, type System } from '../../../infra/verification/systems/system.ts';

describeWithServersAndBrowser('the API reference in a browser', () => {
  let system: System;
  let client: Client & { token: string };
  let browser: Browser;
  let origin: string;
  /** The tests before the phone's use one page one after the other: it takes seconds to load. */
  let desktop: WatchedPage;
  let page: Page;
  let phone: WatchedPage | undefined;

  beforeAll(async () => {
    system = await startSystem({ settings: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000' } });
    client = await system.as();
    await client.post('/api/v1/incidents', { title: 'Checkout is down', service: 'checkout', severity: 'sev1' });
    origin = `http://acme.localhost:${new URL(system.url).port}`;
    browser = await launchBrowser();
    desktop = await openReference(browser, origin, { colorScheme: 'light' });
    ({ page } = desktop);
    await page.waitForLoadState('networkidle');
  });
  afterAll(async () => {
    await phone?.close();
    await desktop.close();
    await browser.close();
    await system.stop();
  });

  /** No errors, no policy violations, and no requests to other origins. */
  const expectNoProblems = ({ problems, origins } = desktop) => {
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([origin]);
  };
  /** @param part a selector; all of the page by default */
  const expectAccessible = async (shown: Page, part?: string) => {
    const violations = await findViolations(shown, part);
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious.map(({ id, nodes }) => ({ id, at: nodes.map(({ target }) => String(target)) }))).toEqual([]);
  };
  /** The computed styles. Scripts for the page are text, because there is no DOM here. */
  const colours = async (shown: Page) =>
    shown.evaluate<Record<string, string>>(`(() => {
      const header = getComputedStyle(document.querySelector('.tocsin-header'));
      return {
        page: getComputedStyle(document.body).backgroundColor,
        header: header.backgroundColor,
        headerHeight: header.height,
        sidebar: getComputedStyle(document.querySelector('.t-doc__sidebar')).position,
      };
    })()`);
  /** The section of an operation on the page. */
  const sectionOf = (operation: string, shown = page) => shown.locator(`section[id$="tag/incidents/${operation}"]`);
  const shows = async (operation: string, shown = page) =>
    sectionOf(operation, shown)
      .getByRole('button', { name: /^Test Request/ })
      .waitFor();
  const stored = async () => page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
  const tokenField = () => page.getByRole('textbox', { name: 'Bearer Token' }).first();
  const find = async (operationId: string, summary: RegExp) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(operationId);
    await page.getByRole('option', { name: summary }).click();
  };

  test('opens from /, light when the reader prefers it, with its styles and without errors', async () => {
    expect(new URL(page.url()).pathname).toBe('/docs');
    expect(await page.title()).toBe('Tocsin API');
    expect(await colours(page)).toMatchObject({
      page: 'rgb(255, 255, 255)',
      header: 'rgb(255, 255, 255)',
      headerHeight: '44px',
      sidebar: 'sticky',
    });
    expectNoProblems();
  });

  test('shows guides as wide as their column, with whole words in tables and links that work', async () => {
    // Guides further down are shown when they are near; this one has tables.
    await page.locator('a[href="#tag/sign-in-providers"]').first().click();
    await page.locator('.markdown table').first().waitFor();
    const shown = await page.evaluate<{ hidden: boolean; wordBreak: string; overflow: string }>(`(() => ({
      hidden: [...document.querySelectorAll('.section-column:nth-of-type(2)')]
        .filter((column) => column.childElementCount === 0)
        .every((column) => column.clientWidth === 0),
      wordBreak: getComputedStyle(document.querySelector('.markdown td')).wordBreak,
      overflow: getComputedStyle(document.querySelector('.markdown table')).overflowX,
    }))()`);
    expect(shown).toEqual({ hidden: true, wordBreak: 'normal', overflow: 'auto' });
    const heading = page.getByRole('heading', { name: 'Sign-in providers', exact: true });
    await eventually(async () => ((await heading.boundingBox())?.y ?? -1) >= 0);
    expectNoProblems();
  });

  test('finds an operation by its ID, and shows a sample in curl, TypeScript and Python', async () => {
    await find('createIncident', /Create an incident/);
    await page.waitForURL(/#tag\/incidents\/POST\/api\/v1\/incidents$/);
    const section = sectionOf('POST/api/v1/incidents');
    const sample = section.getByRole('group', { name: /^Request Example/ }).locator('code');
    const address = `${origin}/api/v1/incidents`;
    await section.getByRole('button', { name: 'Shell Curl' }).click();
    const choices = await page.getByRole('option').allInnerTexts();
    expect(choices.map((choice) => choice.trim()).sort()).toEqual(['Curl', 'Fetch', 'http.client']);
    await page.keyboard.press('Escape');
    for (const [previous, choice, call] of [
      ['Shell Curl', 'Fetch', `fetch('${address}', {`],
      ['Node.js Fetch', 'http.client', `HTTPConnection("${new URL(origin).host}")`],
      ['Python http.client', 'Curl', `curl ${address}`],
    ] as const) {
      await section.getByRole('button', { name: previous }).click();
      await page.getByRole('option', { name: choice }).click();
      await eventually(async () => {
        const text = await sample.innerText();
        return text.includes(call) && text.includes('/api/v1/incidents') && text.includes('Bearer YOUR_SECRET_TOKEN');
      });
    }
    expectNoProblems();
  });

  describeWithProgram('python3')('a sample in Python', () => {
    test('runs as it is shown', async () => {
      const section = sectionOf('POST/api/v1/incidents');
      await section.getByRole('button', { name: 'Shell Curl' }).click();
      await page.getByRole('option', { name: 'http.client' }).click();
      const sample = section.getByRole('group', { name: /^Request Example/ }).locator('code');
      await eventually(async () => (await sample.innerText()).startsWith('import'));
      const program = (await sample.innerText())
        .replace('YOUR_SECRET_TOKEN', client.token)
        // Python resolves no names below localhost.
        .replace('HTTPConnection("acme.localhost', 'HTTPConnection("127.0.0.1')
        .replace('headers = {', 'headers = {"Host": "acme.localhost",');
      const { stdout } = await promisify(execFile)('python3', ['-c', program]);
      // The whole body has arrived: this workspace lacks the custom field of the example.
      expect(JSON.parse(stdout)).toMatchObject({ field: 'custom_field_values.0.field_id' });
    });
  });

  test('has no serious accessibility violation', async () => {
    await shows('POST/api/v1/incidents');
    await expectAccessible(page);
  });

  test('sends a request to its own host with the token, and shows the response', async () => {
    await tokenField().fill(client.token);
    await find('listIncidents', /List incidents/);
    await sectionOf('GET/api/v1/incidents')
      .getByRole('button', { name: /^Test Request/ })
      .click();
    const dialog = page.getByRole('dialog', { name: 'API Client' });
    const sent = page.waitForRequest((request) => request.url().includes('/api/v1/incidents'));
    await dialog.getByRole('button', { name: /^Send get request/ }).click();
    expect((await sent).url()).toBe(`${origin}/api/v1/incidents`);
    expect(await (await sent).headerValue('authorization')).toBe(`Bearer ${client.token}`);
    await dialog.getByRole('link', { name: '200 OK' }).waitFor();
    await dialog.getByText('"Checkout is down"').first().waitFor();
    await expectAccessible(page, '[role="dialog"]');
    expectNoProblems();
  });

  test('stores the token only when the reader chooses it', async () => {
    // The test before has entered it.
    await page.evaluate(`location.hash = 'tag/incidents/GET/api/v1/incidents'`);
    await page.reload();
    await shows('GET/api/v1/incidents');
    expect(await stored()).not.toContain(client.token);
    expect(await tokenField().inputValue()).toBe('');

    await tokenField().fill(client.token);
    const keep = page.getByLabel('Keep token in this browser');
    await keep.check();
    await eventually(async () => (await stored()).includes(client.token));
    await page.reload();
    await eventually(async () => (await tokenField().inputValue()) === client.token);
    expect(await keep.isChecked()).toBe(true);

    await keep.uncheck();
    expect(await stored()).not.toContain(client.token);
    expectNoProblems();
  });

  /** The page on a phone whose reader prefers dark. */
  const openOnPhone = async (): Promise<WatchedPage> => {
    const options = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;
    const at = `${origin}/docs#tag/incidents/POST/api/v1/incidents`;
    const opened = await openReference(browser, at, { ...options, colorScheme: 'dark' });
    await shows('POST/api/v1/incidents', opened.page);
    await opened.page.waitForLoadState('networkidle');
    return opened;
  };

  test('is dark when the reader prefers it, without a serious accessibility violation in an operation', async () => {
    phone = await openOnPhone();
    expect(await colours(phone.page)).toMatchObject({ page: 'rgb(15, 15, 15)', header: 'rgb(15, 15, 15)' });
    // Only the colours differ from those of the light page.
    await expectAccessible(phone.page, 'section[id$="tag/incidents/POST/api/v1/incidents"]');
    expectNoProblems(phone);
  });

  test('fits a phone', async () => {
    const opened = (phone ??= await openOnPhone());
    const width = async () => opened.page.evaluate<number>('document.documentElement.scrollWidth');
    expect(await width()).toBe(390);
    await sectionOf('POST/api/v1/incidents', opened.page)
      .getByRole('button', { name: /^Test Request/ })
      .click();
    const send = await opened.page
      .getByRole('button', { name: /^Send post request/ })
      .filter({ visible: true })
      .boundingBox();
    expect(send!.x + send!.width).toBeLessThanOrEqual(390);
    expect(await width()).toBe(390);
    expectNoProblems(opened);
  });
});
