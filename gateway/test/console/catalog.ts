import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { type Console, expectSound, NARROW, WIDE } from './harness.ts';

export function testCatalog({ open, client, declare, origin }: Console): void {
  let cards: { id: number; human_id: string };

  beforeAll(async () => {
    await client().post('/api/v1/services', { name: 'Search' });
    cards = await declare('Cards are refused', { service: 'checkout' });
    const { id } = await declare('Refunds fail', { service: 'checkout' });
    await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'Alert on refunds' });
    await client().post(`/api/v1/incidents/${id}/resolve`, {});
  });

  test('a team has its services and open incidents, and a service its team, names and incidents', async () => {
    const page = await open('/catalog/teams/1');
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    await card('Open incidents').getByRole('link', { name: 'Cards are refused' }).waitFor();
    expect(await card('Open incidents').getByRole('link', { name: 'Refunds fail' }).count()).toBe(0);
    await card('Open follow-ups').getByText('Alert on refunds').waitFor();
    await expectSound(page, 'team');
    await page.getByRole('link', { name: 'Checkout' }).click();
    await page.getByText('checkout-prod').waitFor();
    await card('Incidents').getByRole('link', { name: 'Refunds fail' }).waitFor();
    await card('Open follow-ups')
      .getByRole('listitem')
      .filter({ hasText: 'Alert on refunds' })
      .getByRole('link')
      .waitFor();
    await expectSound(page, 'service');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'service-narrow');
    await page.setViewportSize(WIDE);
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
  });

  test('a service is changed where it stands, its slug is copied, and an incident of it is declared', async () => {
    const long = `${'Zahlungsdienstleistungen '.repeat(3)}بوابة الدفع 🔥`;
    const made = { name: 'Gate', slug: 'gate', owner_team_id: 1, tags: ['pci'] };
    const { id } = (await client().post('/api/v1/services', made)).body.service;
    const stored = async () => (await client().get(`/api/v1/services/${id}`)).body.service;
    const page = await open(`/catalog/services/${id}`);
    const edit = async (property: string, label: string, value: string) => {
      await page.getByRole('button', { name: `Edit ${property}:` }).click();
      await page.getByRole('textbox', { name: label }).fill(value);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('button', { name: `Edit ${property}:` }).waitFor();
    };
    await edit('Tags, with commas between them', 'Tags', 'pci, cards');
    await edit('Description', 'Description', 'Takes cards\nand gives money back');
    await edit('Name', 'Name', long);
    await page.getByRole('heading', { name: long, level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Edit Team:' }).click();
    await page.getByRole('combobox', { name: 'Team' }).selectOption('None');
    await page.keyboard.press('Enter');
    await eventually(async () => (await stored()).owner_team_id === undefined);
    expect(await stored()).toMatchObject({ name: long, tags: ['pci', 'cards'], revision: 5 });
    await page.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('gate');
    await expectSound(page, 'service-long');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize(NARROW);
    await expectSound(page, 'service-long-narrow-dark');

    await page.getByRole('button', { name: 'Declare here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Declare an incident' });
    await dialog.getByLabel('What is happening?').fill('Gate is shut');
    expect(await dialog.getByLabel('Service').inputValue()).toBe('gate');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Gate is shut' }).waitFor();
    expect((await client().get('/api/v1/incidents?limit=1')).body.incidents[0]).toMatchObject({ service: 'gate' });
  });

  test('the catalog has a list in each tab, with what is open, and services of a team', async () => {
    const page = await open('/catalog');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Checkout')
      .getByRole('link', { name: /^Checkout: \d+ open$/ })
      .waitFor();
    await row('Search').getByText('none').first().waitFor();
    let read = 0;
    page.on('request', (request) => (read += Number(request.url().includes('/api/v1/incidents'))));
    await page.getByRole('combobox', { name: 'Owner' }).selectOption('Payments');
    await row('Search').waitFor({ state: 'detached' });
    await row('Checkout').waitFor();
    await page.getByRole('button', { name: 'Teams', exact: true }).click();
    await row('Payments')
      .getByRole('link', { name: /^Payments: \d+ open$/ })
      .waitFor();
    await expectSound(page, 'catalog-teams');
    // The counts of all rows were read at once, for both lists.
    expect(read).toBe(0);
    await page.reload();
    await row('Payments').getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByRole('button', { name: 'Edit Description:' }).click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Who takes money');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Who takes money').waitFor();
    await page.goto(`${origin()}/app/catalog?team=1`);
    await row('Checkout')
      .getByRole('link', { name: /^Checkout: \d+ open$/ })
      .click();
    await page.getByRole('link', { name: 'Cards are refused' }).waitFor();
    expect(await page.getByRole('link', { name: 'Gate is shut' }).count()).toBe(0);
  });

  test('archiving asks', async () => {
    const page = await open('/catalog');
    const row = page.getByRole('row').filter({ hasText: 'Search' });
    // On a phone, what can be done with a row is in sight.
    await page.setViewportSize(NARROW);
    const { x = 0, width = NARROW.width } = (await row.getByRole('button', { name: 'Archive' }).boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(NARROW.width);
    await expectSound(page, 'catalog-narrow');
    await page.setViewportSize(WIDE);
    await row.getByRole('button', { name: 'Archive' }).click();
    const dialog = page.getByRole('dialog', { name: 'Archive Search?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await row.count()).toBe(1);
    await row.getByRole('button', { name: 'Archive' }).click();
    await expectSound(page, 'archive');
    await dialog.getByRole('button', { name: 'Archive' }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('the first steps can be put away, and pages link to what explains them', async () => {
    const page = await open('/start');
    await page.getByText('Let monitors declare incidents').waitFor();
    await expectSound(page, 'start');
    await page.getByRole('button', { name: 'Put away' }).click();
    await page.getByRole('link', { name: 'First steps' }).waitFor({ state: 'hidden' });
    await page.goto(`${origin()}/app/webhooks`);
    expect(await page.getByRole('link', { name: 'How it works' }).getAttribute('href')).toBe('/docs#tag/webhooks');
    // What an operator sets up is explained by the guide for it, not by operations of the API.
    const { tags } = (await client().get('/api/v1/openapi.json')).body as {
      tags: { name: string; description: string }[];
    };
    expect(tags.find(({ name }) => name === 'Sign-in providers')?.description).toMatch(/oidc connect[^]*Keycloak/);
    expect(tags.find(({ name }) => name === 'Connecting Slack')?.description).toMatch(
      /slack connect[^]*channels:manage/,
    );
    await page.goto(`${origin()}/app/start`);
    const guides = page.getByRole('link', { name: 'How it works' });
    await guides.first().waitFor();
    const targets = (await guides.all()).map(async (link) => link.getAttribute('href'));
    expect(await Promise.all(targets)).toEqual(['/docs#tag/sign-in-providers', '/docs#tag/connecting-slack']);
  });

  test('keys are listed, go to pages, and change an incident; a palette finds everything', async () => {
    const page = await open();
    const { keyboard } = page;
    await page.getByRole('link', { name: 'Cards are refused' }).waitFor();
    await keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Copy its address').waitFor();
    await expectSound(page, 'keys-help');
    await keyboard.press('Escape');
    await keyboard.press('g');
    await keyboard.press('p');
    await page.getByRole('heading', { name: 'People' }).waitFor();

    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Incident, service/ }).waitFor();
    await keyboard.type('cards');
    await page.getByRole('option', { name: /Cards are refused/ }).waitFor();
    await expectSound(page, 'palette');
    // The Enter that ends a word of an input method chooses nothing.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Enter', windowsVirtualKeyCode: 229 });
    await keyboard.type(' are');
    await page.getByRole('option', { name: /Cards are refused/ }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cards are refused' }).waitFor();
    await keyboard.press('a');
    await page.getByText(`You lead ${cards.human_id}.`).waitFor();
    await keyboard.press('v');
    await page.getByRole('combobox', { name: 'Severity' }).first().waitFor();
    await keyboard.type('SEV 1');
    await keyboard.press('Escape');
    await keyboard.press('e');
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    await keyboard.press('Escape');
    // What the keys of the incident do is in the palette, too, and what was chosen last comes first.
    for (const text of ['its lead', '']) {
      await keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /^Incident, service/ }).waitFor();
      await keyboard.type(text);
      await page.getByRole('option', { name: 'Change its lead', selected: true }).waitFor();
      await keyboard.press('Enter');
      const lead = page.getByRole('combobox', { name: 'Lead' });
      await lead.waitFor();
      await eventually(async () => page.evaluate<boolean>("document.activeElement.matches('select')"));
      await keyboard.press('Escape');
    }
    await keyboard.press('Control+k');
    await keyboard.type('statis');
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Statistics' }).waitFor();
    const me = (await client().get('/api/v1/me')).body.user.id;
    await eventually(async () => {
      const { incident } = (await client().get(`/api/v1/incidents/${cards.id}`)).body;
      return incident.incident_manager === String(me);
    });

    // Whoever speaks to the computer switches single keys off; those with Control stay.
    await keyboard.press('?');
    await page.getByLabel('Keys without Ctrl work').uncheck();
    await keyboard.press('Escape');
    await page.reload();
    await page.getByRole('heading', { name: 'Statistics' }).waitFor();
    for (const key of ['c', '?', 'g', 'p']) await keyboard.press(key);
    await keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /^Incident, service/ }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
    await keyboard.type('show the keys');
    await keyboard.press('Enter');
    await page.getByLabel('Keys without Ctrl work').check();
    await keyboard.press('Escape');
    await keyboard.press('g');
    await keyboard.press('p');
    await page.getByRole('heading', { name: 'People' }).waitFor();
  });
}
