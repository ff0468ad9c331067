import { expect, test } from '@jest/globals';
import { type Console, expectSound, NARROW } from './harness.ts';

const KEYS = '/api/v1/settings/api-keys';
const DAY = 86_400_000;

export function testSettings({ open, client }: Console): void {
  test('who uses a key chooses its scopes, and it expires when it is told to', async () => {
    const page = await open('/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('What is it for?').fill('مراقبة الدفع 🚨');
    await dialog.getByLabel('Who uses it').selectOption('Reading only');
    expect(await dialog.getByLabel('incidents:write').isChecked()).toBe(false);
    await dialog.getByLabel('Who uses it').selectOption('A monitor');
    expect(await dialog.getByLabel('Send alerts').isChecked()).toBe(true);
    expect(await dialog.getByLabel('incidents:read').isChecked()).toBe(false);
    await dialog.getByLabel('It expires').selectOption('On a date');
    await expectSound(page, 'new-key');
    await page.setViewportSize(NARROW);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectSound(page, 'key-dark-narrow');
    const last = new Date(Date.now() + 20 * DAY).toISOString().slice(0, 10);
    await dialog.getByLabel('Last day').fill(last);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText(/^tcs_\w{49}$/).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'مراقبة الدفع 🚨' });
    await row.getByText('Send alerts alerts:write').waitFor();
    await row.getByText(/^Expires on /).waitFor();
    await expectSound(page, 'keys');
    const { api_keys: keys } = (await client().get(KEYS)).body;
    expect(keys).toContainEqual(
      expect.objectContaining({ scopes: ['alerts:write'], expires_at: `${last}T23:59:59.000Z` }),
    );
  });
}
