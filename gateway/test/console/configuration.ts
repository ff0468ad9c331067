import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { at, type Console, expectSound, NARROW, WIDE } from './harness.ts';

export function testConfiguration({ open, origin, client, declare }: Console): void {
  test('names, colours and order are changed, by keyboard too', async () => {
    const page = await open('/configuration');
    const { keyboard } = page;
    const focused = async () => page.evaluate<string>("document.activeElement.getAttribute('aria-label')");
    const up = page.getByRole('button', { name: 'Move SEV 2 up' });
    await up.focus();
    await keyboard.press('Enter');
    // It goes on where it is, and there is nothing above the first one.
    expect(await focused()).toBe('Move SEV 2 up');
    expect(await up.getAttribute('aria-disabled')).toBe('true');
    await keyboard.press('Enter');
    await page.getByLabel('Colour of SEV 2').fill('#0a7a55');
    await page.getByLabel('Colour of Open').fill('#7a0a55');
    const down = page.getByRole('button', { name: /^Move .* down$/ });
    await page.getByRole('region', { name: 'Service tiers' }).locator(down).first().focus();
    await keyboard.press('Enter');
    await page.getByRole('region', { name: 'Severities' }).getByLabel('Restricted').last().check();
    await expectSound(page, 'configuration-changed');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'configuration-changed-narrow');

    const name = page.getByLabel('Name of on-hold');
    await name.fill(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    const reason = page.getByText('Must not be blank');
    await reason.waitFor();
    expect([await reason.count(), await name.getAttribute('aria-invalid')]).toEqual([1, 'true']);
    await name.fill('Paused');
    await reason.waitFor({ state: 'detached' });
    const before = (await client().get('/api/v1/settings/configuration')).body.configuration;
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The configuration is saved.').waitFor();
    const { configuration } = (await client().get('/api/v1/settings/configuration')).body;
    type Entry = { key: string; min_score: number; restricted: boolean };
    const keys = (list: Entry[]) => list.map(({ key }) => key);
    expect(keys(configuration.severities)).toEqual(['sev2', 'sev1', 'sev3', 'sev4']);
    expect(configuration.severities.map(({ restricted }: Entry) => restricted)).toEqual([false, false, false, true]);
    expect(configuration.severities.map(({ min_score: score }: Entry) => score)).toEqual([90, 70, 40, 0]);
    const [first, second, ...otherKeys] = keys(before.service_tiers);
    expect(keys(configuration.service_tiers)).toEqual([second, first, ...otherKeys]);
    expect(configuration.workflow_statuses[2]).toMatchObject({ key: 'on-hold', label: 'Paused' });

    const { human_id: reference } = await declare('In colour', { severity: 'sev2' });
    await page.goto(`${origin()}/app/incidents/${reference}`);
    // The names and colours of the configuration arrive after the incident.
    await page.locator('[data-edit=severity]', { hasText: 'SEV 2' }).waitFor();
    await page.locator('[data-edit=status]', { hasText: 'Open' }).waitFor();
    const style = async (name: string) =>
      page.evaluate<string[]>(`((style) => [style.backgroundColor, style.color])
        (getComputedStyle(document.querySelector('[data-edit=${name}] [style]')))`);
    expect(await style('severity')).toEqual(['rgb(10, 122, 85)', 'rgb(255, 255, 255)']);
    expect((await style('status'))[1]).toBe('rgb(122, 10, 85)');
    await expectSound(page, 'chosen-colours');
  });

  test('everything else of the configuration is set, and refusals stand at their fields', async () => {
    const stored = async () => (await client().get('/api/v1/settings/configuration')).body.configuration;
    const before = await stored();
    const page = await open('/configuration');
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    const [first] = before.severities;
    await page.getByLabel(`When to choose ${first.label}`).fill('Nobody can pay');
    await page.getByLabel(`Lowest score of ${first.label}`).fill('many');
    await page.getByLabel(`What ${before.service_tiers[0].label} means`).fill('Sells');
    await card('Statuses').getByLabel('Escalates').nth(1).check();
    const zone = page.getByLabel('Zone of the workspace');
    await zone.fill('Mars/Olympus');
    await card('Timeline groups').getByRole('button', { name: 'Add' }).click();
    await page.getByLabel('Timeline group 1').fill('Detection');
    await card('Timeline groups').getByRole('button', { name: 'Add' }).click();
    await page.getByLabel('Timeline group 2').fill('تصعيد 🔥');
    await page.getByRole('button', { name: 'Move تصعيد 🔥 up' }).click();
    for (const currency of ['eur', 'gbp']) {
      await card('Exchange rates').getByRole('button', { name: 'Add' }).click();
      await page
        .getByLabel(/^Currency of rate/)
        .last()
        .fill(currency);
    }
    await page.getByLabel('Worth of one EUR').fill('1.0825');
    await page.getByLabel('When the rate of EUR was right').fill('2026-03-01T10:00');
    // Whoever removes with the keyboard goes on in the list.
    const remove = page.getByRole('button', { name: 'Remove the rate of GBP' });
    await remove.press('Enter');
    expect(await page.evaluate<string>('document.activeElement.value')).toBe('EUR');
    await expectSound(page, 'configuration-all');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'configuration-all-narrow');

    const save = page.getByRole('button', { name: 'Save' });
    await save.click();
    const score = page.getByLabel(`Lowest score of ${first.label}`);
    await eventually(async () => (await score.getAttribute('aria-invalid')) === 'true');
    await score.fill('95.5');
    await save.click();
    await eventually(async () => (await zone.getAttribute('aria-invalid')) === 'true');
    await page.getByText('Must be the name of a time zone').waitFor();
    await zone.fill('Europe/Berlin');
    await save.click();
    await page.getByText('The configuration is saved.').waitFor();
    const after = await stored();
    expect(after).toMatchObject({
      time_zone: 'Europe/Berlin',
      exchange_rates: [{ currency: 'EUR', rate: 1.0825, as_of: '2026-03-01T10:00:00.000Z' }],
      timeline_groups: [{ name: 'تصعيد 🔥' }, { name: 'Detection' }],
    });
    expect(after.severities[0]).toMatchObject({ min_score: 95.5, description: 'Nobody can pay' });
    expect(after.service_tiers[0]).toMatchObject({ description: 'Sells' });
    expect(after.workflow_statuses[1]).toMatchObject({ is_escalation_threshold: true });
    // What nobody touched is as it was.
    expect({ ...after.severities[1] }).toEqual(before.severities[1]);
    await client().put('/api/v1/settings/configuration', { ...before, revision: undefined }, at(after.revision));
  });

  test('the template of post-mortems is written in sections, with live parts and a preview', async () => {
    const stored = async () => (await client().get('/api/v1/settings/configuration')).body.configuration;
    const before = await stored();
    const page = await open('/configuration');
    const card = page.getByRole('region', { name: 'Template of post-mortems' });
    await card.getByText('It is the built-in one until you change it.').waitFor();
    await card.getByRole('button', { name: 'Change section Summary' }).press('Enter');
    const text = card.getByLabel('Text of the section');
    await text.fill('What customers **noticed**:');
    await card.getByLabel('Live part').selectOption('Impact summary');
    await card.getByRole('button', { name: 'Insert' }).press('Enter');
    expect(await text.inputValue()).toBe('What customers **noticed**:\n\n{{summary}}');
    await card.getByRole('group', { name: 'Preview' }).getByText('Impact summary').waitFor();
    await card.getByRole('button', { name: 'Move section People up' }).press('Enter');
    await card.getByRole('button', { name: 'Remove section Evidence' }).press('Enter');
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Change section Follow-ups');
    await card.getByRole('button', { name: 'Add a section' }).press('Enter');
    await card.getByLabel('Heading').fill('Lessons');
    await card.getByLabel('Text of the section').fill('{{lessons}}');
    await expectSound(page, 'template');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'template-narrow');
    const save = page.getByRole('button', { name: 'Save' });
    await save.click();
    await page.getByText(/Must not have the placeholder \{\{lessons/).waitFor();
    await card.getByLabel('Text of the section').fill('What do we learn?');
    await save.click();
    await page.getByText('The configuration is saved.').waitFor();
    const { postmortem_template: template, revision } = await stored();
    const headings = [...template.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      ...['Summary', 'People', 'Moments', 'Services', 'Custom fields', 'Activity', 'Related incidents', 'Follow-ups'],
      'Lessons',
    ]);
    expect(template).toContain('## Summary\n\nWhat customers **noticed**:\n\n{{summary}}\n\n## People\n');
    await card.getByRole('button', { name: 'Use the built-in template' }).click();
    await save.click();
    await card.getByText('It is the built-in one until you change it.').waitFor();
    await eventually(async () => (await stored()).revision > revision);
    expect({ ...(await stored()), revision: 0 }).toEqual({ ...before, revision: 0 });
  });

  test('an owner sets how long archived incidents are kept, and everybody sees when one is deleted', async () => {
    const { id, human_id: reference } = await declare('Archived and old');
    await client().post(`/api/v1/incidents/${id}/archive`);
    const page = await open('/configuration');
    const card = page.getByRole('region', { name: 'Retention' });
    await card.getByText('For ever').first().waitFor();
    await page.getByRole('link', { name: 'Retention' }).click();
    await eventually(async () => ((await card.boundingBox())?.y ?? Infinity) < WIDE.height);
    await card.getByRole('button', { name: 'Change retention' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change retention' });
    const days = dialog.getByLabel('Archived incidents');
    await days.fill('29');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Must be at least 30').waitFor();
    await expectSound(page, 'retention-refused');
    await days.fill('30');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText(/^30 days, from .+ on$/).waitFor();
    await expectSound(page, 'retention');
    await page.goto(`${origin()}/app/`);
    await page.getByText(/^\d+ archived incidents? (?:is|are) deleted for good from .+ on, by the/).waitFor();
    await page.goto(`${origin()}/app/incidents/${reference}`);
    await page.getByText(/^archived .+, deleted for good from .+ on$/).waitFor();
    const { revision } = (await client().get('/api/v1/settings/retention')).body.retention;
    const forEver = { days: { archived_incidents: null } };
    await client().put('/api/v1/settings/retention', forEver, { 'If-Service-Resource-Version': String(revision) });
  });
}
