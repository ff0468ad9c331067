import { expect, test } from '@jest/globals';
import { type Console, expectSound, NARROW } from './harness.ts';

export function testGuides({ open, origin, client }: Console): void {
  test('the palette finds a guide, whose examples have the address of the workspace', async () => {
    const page = await open();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('alerts of mon');
    await page.getByRole('option', { name: 'Alerts of monitors Guide' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Alerts of monitors', level: 1 }).waitFor();
    await page.getByText(`${origin()}/api/v1/settings/api-keys`).waitFor();
    expect(await page.getByRole('article').textContent()).not.toContain('acme.tocsin.example.com');
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Heartbeats' }).click();
    expect(page.url()).toBe(`${origin()}/app/guides/alerts#heartbeats`);
    await expectSound(page, 'guide');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'guide-dark-narrow');
  });

  test('an address without a page has a search of everything', async () => {
    const page = await open('/nothing');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    const search = page.getByRole('combobox', { name: 'Incident, service, team, page or verb' });
    await search.fill('trackers');
    await page.getByRole('option', { name: 'Trackers Page' }).waitFor();
    await expectSound(page, 'not-found');
    await search.press('Enter');
    await page.getByRole('heading', { name: 'Trackers', level: 1 }).waitFor();
  });

  test('guides link to each other and to the reference, and are listed', async () => {
    const page = await open('/guides');
    await page.getByRole('heading', { name: 'For those who run it' }).waitFor();
    await expectSound(page, 'guides');
    await page.getByRole('link', { name: 'Operations', exact: true }).click();
    const article = page.getByRole('article');
    await article.getByRole('link', { name: 'load balancer' }).click();
    await page.getByRole('heading', { name: 'TLS and reverse proxies', level: 1 }).waitFor();
    expect(page.url()).toBe(`${origin()}/app/guides/tls-and-proxies#several-gateways`);
    await page.goto(`${origin()}/app/guides/alerts`);
    const reference = article.getByRole('link', { name: 'contract' }).first();
    expect(await reference.getAttribute('href')).toBe('/docs#tag/alerts');
    await page.goto(`${origin()}/app/guides/nothing`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  });

  test('who may make keys makes that of a guide on its page', async () => {
    const page = await open('/guides/alerts');
    await page.getByRole('button', { name: 'Make its key' }).click();
    await page.getByLabel('What is it for?').fill('Alertmanager');
    await page.keyboard.press('Control+Enter');
    await page.getByText(/^tcs_\w{49}$/).waitFor();
    const { api_keys: keys } = (await client().get('/api/v1/settings/api-keys')).body;
    expect(keys).toContainEqual(expect.objectContaining({ name: 'Alertmanager', scopes: ['alerts:write'] }));
    await page.goto(`${origin()}/app/guides/upgrading`);
    await page.getByRole('heading', { name: 'Upgrading', level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: 'Make its key' }).count()).toBe(0);
  });
}
