import { beforeAll, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver } from '@tocsin/testing';
import { type Console, expectSound, NARROW, WIDE } from './harness.ts';

/** @param receiver one of webhooks */
export function testCatalog({ open, client, declare, origin }: Console, receiver: Receiver): void {
  let cards: { id: number; human_id: string };

  beforeAll(async () => {
    await client().post('/api/v1/services', { name: 'Search' });
    cards = await declare('Cards are refused', { service: 'checkout' });
    const { id } = await declare('Refunds fail', { service: 'checkout' });
    await client().post(`/api/v1/incidents/${id}/resolve`, {});
  });

  test('a team has its services and open incidents, and a service its team, names and incidents', async () => {
    const page = await open('/catalog/teams/1');
    await page.getByRole('link', { name: 'Cards are refused' }).waitFor();
    expect(await page.getByRole('link', { name: 'Refunds fail' }).count()).toBe(0);
    await expectSound(page, 'team');
    await page.getByRole('link', { name: 'Checkout' }).click();
    await page.getByText('checkout-prod').waitFor();
    await page.getByRole('link', { name: 'Refunds fail' }).waitFor();
    await expectSound(page, 'service');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'service-narrow');
    await page.setViewportSize(WIDE);
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
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

  test('says why a receiver was not verified', async () => {
    const page = await open('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Address').fill(receiver.url('/hook'));
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    receiver.respond = () => behave.answer(403);
    await page.getByRole('button', { name: 'Verify' }).click();
    const dialog = page.getByRole('dialog', { name: 'Not verified' });
    await dialog.getByText('It answered 403 instead of 2xx.').waitFor();
    await expectSound(page, 'not-verified');
    receiver.respond = () => behave.answer(204);
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('The receiver answered. The webhook is active.').waitFor();
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
