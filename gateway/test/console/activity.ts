import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Page } from 'playwright-core';
import { at, CLEAN, type Console, findings, WIDE } from './harness.ts';

const PHONE = { viewport: { width: 360, height: 720 }, hasTouch: true, isMobile: true };
/** CSS pixels, of a target for a thumb. */
const TARGET = 44;

const TEXT = `**Latency** of \`checkout\` is *high*, see https://grafana.example.com/d/1.
1. drain db-1
2. restart the pool
> the provider: nothing is wrong
\`\`\`
select 1 <b>now</b>
\`\`\`
[a guide](https://wiki.example.com/db) [no link](javascript:alert(1)) <img src=x onerror=alert(1)>`;

export function testActivity({ open, client, system, declare, incident, note, addPerson, problems }: Console): void {
  const patch = async (id: number, changes: object) =>
    client().patch(`/api/v1/incidents/${id}`, changes, at((await incident(id)).revision));
  const stream = (page: Page) => page.getByRole('region', { name: 'Activity' });
  /** The times of all entries, from the top. */
  const times = async (page: Page) =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('section[aria-label=Activity] time')].map((each) => each.dateTime)",
    );

  /** An incident with texts, changes of people and lists, tags and an imported address. */
  const fill = async () => {
    const { user } = (await client().get('/api/v1/me')).body;
    const { id } = await declare('Checkout answers slowly', {
      ...{
        service: 'checkout',
        regions: ['eu'],
        severity: 'sev2',
        impact_summary: 'One order in ten takes ten seconds',
      },
    });
    await note(id, { body: 'The connection pool of the order database is exhausted', tags: ['database'] });
    await patch(id, { status: 'active', incident_manager: String(user.id) });
    await note(id, { body: TEXT, is_key: true });
    const { id: cause } = await declare('The order database has no connections left');
    await client().post(`/api/v1/incidents/${id}/relations`, { type: 'caused_by', incident_id: cause });
    for (const status of ['open', 'done'])
      await client().post(`/api/v1/incidents/${id}/follow-ups`, {
        title: 'A larger pool',
        status,
        due_on: '2099-01-01',
      });
    await patch(id, { severity: 'sev1', regions: ['us'] });
    return id;
  };

  test('has what was written and changed in one order, which is remembered, with names and safe Markdown', async () => {
    const id = await fill();
    const page = await open(`/incidents/${id}`);
    await stream(page).getByText('drain db-1').waitFor();
    const changes = stream(page).getByRole('listitem').filter({ hasText: 'changed the' });
    await changes.nth(1).waitFor();
    expect(await changes.first().textContent()).toContain('changed the severity from SEV 2 to SEV 1');
    expect(await changes.first().textContent()).toContain('added us to the regions and removed eu');
    expect(await changes.last().textContent()).toContain('changed the status from Open to Active');
    expect(await changes.last().textContent()).toContain('made you lead');
    expect(await stream(page).getByText('declared INC-').count()).toBe(1);
    expect(await stream(page).getByText('database', { exact: true }).count()).toBe(1);

    const event = page.getByRole('article').filter({ hasText: 'drain db-1' });
    expect(await event.locator('strong').textContent()).toBe('Latency');
    expect(await event.locator('em').textContent()).toBe('high');
    expect(await event.locator('ol > li').allTextContents()).toEqual(['drain db-1', 'restart the pool']);
    expect(await event.locator('blockquote').textContent()).toBe('the provider: nothing is wrong');
    expect(await event.locator('pre').textContent()).toBe('select 1 <b>now</b>');
    expect(await event.locator('img').count()).toBe(0);
    const links = await page.evaluate<string[][]>(
      "[...document.querySelectorAll('article p a')].map((link) => [link.href, link.rel])",
    );
    expect(links).toEqual([
      ['https://grafana.example.com/d/1', 'noopener noreferrer'],
      ['https://wiki.example.com/db', 'noopener noreferrer'],
    ]);
    expect(await stream(page).locator('time').first().getAttribute('title')).toMatch(/\d:\d\d:\d\d/);

    const newest = await times(page);
    expect(newest).toEqual([...newest].sort().reverse());
    await page.getByLabel('Order of the activity').selectOption('Oldest first');
    await eventually(async () => (await times(page)).join() === [...newest].reverse().join());
    await page.reload();
    await stream(page).getByText('drain db-1').waitFor();
    expect(await times(page)).toEqual([...newest].reverse());
    await page.getByLabel('What is shown').selectOption('Key events');
    await stream(page).getByText('exhausted').waitFor({ state: 'detached' });
    await stream(page).getByText('drain db-1').waitFor();
    await page.getByLabel('What is shown').selectOption('Changes');
    await stream(page).getByText('drain db-1').waitFor({ state: 'detached' });
    await page.getByLabel('What is shown').selectOption('Everything');
    await page.getByLabel('Search the timeline').fill('pool of the order');
    await stream(page).getByText('drain db-1').waitFor({ state: 'detached' });
    await stream(page).getByText('exhausted').waitFor();
    expect(await stream(page).getByText('changed the').count()).toBe(0);
    expect(await findings(page)).toEqual(CLEAN);
    expect(problems()).toEqual([]);
  });

  test('names a monitor that acts, and offers the first act of a person as the response', async () => {
    const { user } = (await client().get('/api/v1/me')).body;
    const key = { name: 'Alertmanager', scopes: ['alerts:write', 'incidents:read', 'incidents:write'] };
    const { token } = (await client().post('/api/v1/settings/api-keys', key)).body;
    const monitor = system()
      .anonymously()
      .with({ Authorization: `Bearer ${token}` });
    const alert = { id: 'disk', status: 'firing', title: 'The disk is full', service: 'disks' };
    const [{ incident: declared }] = (await monitor.post('/api/v1/alerts', alert)).body.results;
    const { revision } = await incident(declared.id);
    const changed = await monitor.patch(`/api/v1/incidents/${declared.id}`, { title: 'Full' }, at(revision));
    expect(changed.status).toBe(200);
    const page = await open(`/incidents/${declared.id}`);
    await page.getByText('by monitor Alertmanager').waitFor();
    await stream(page).getByText('changed the title').waitFor();
    const entries = async () => stream(page).getByRole('listitem').allTextContents();
    expect((await entries()).filter((entry) => entry.includes('Monitor Alertmanager'))).toEqual([
      expect.stringContaining('changed the title from The disk is full to Full'),
      expect.stringContaining('Firing: The disk is full'),
      expect.stringContaining(`declared ${declared.human_id}`),
    ]);
    expect(await page.getByText('First act of another person').count()).toBe(0);

    await page.getByRole('button', { name: /^Edit Lead/ }).click();
    await page.getByRole('combobox', { name: 'Lead' }).selectOption(user.name);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('First act of another person').waitFor();
    await eventually(async () => (await entries())[0]?.includes('You took the lead'));
    expect((await entries())[0]).not.toContain('key of');
    expect(await findings(page)).toEqual(CLEAN);
    const { first_acted_at: acted } = await incident(declared.id);
    const statistics = await open('/statistics');
    const measured = statistics
      .getByRole('region', { name: 'Time to response by service as a table' })
      .getByRole('row', { name: /disks/ });
    await measured.waitFor();
    expect((await measured.getByRole('cell').allTextContents()).at(-1)).toBe('1');
    const derived = statistics.getByText('1 of 1 by the first act of another person').first();
    await derived.waitFor();

    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('First act of another person').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit Responded: now' }).waitFor();
    expect(await incident(declared.id)).toMatchObject({ first_responded_at: acted });
    await statistics.reload();
    await measured.waitFor();
    expect(await derived.count()).toBe(0);
    expect(problems()).toEqual([]);
  });

  test('is read on without a gap, in both orders', async () => {
    const { id, ...declared } = await declare('Long');
    let { revision } = declared;
    for (let index = 0; index < 35; index += 1) {
      await note(id, { body: `Text ${index}` });
      revision += 1;
      for (const changes of [{ title: `Long ${index}` }, { regions: [`r${index}`] }, { service: `s${index}` }])
        ({ revision } = (await client().patch(`/api/v1/incidents/${id}`, changes, at(revision))).body.incident);
    }
    const page = await open(`/incidents/${id}`);
    for (const order of ['Newest first', 'Oldest first']) {
      await page.getByLabel('Order of the activity').selectOption(order);
      const more = page.getByRole('button', { name: /^(Show more|Loading)$/ });
      await stream(page).locator('time').first().waitFor();
      for (;;) {
        const shown = await times(page);
        expect(shown).toEqual(order === 'Newest first' ? [...shown].sort().reverse() : [...shown].sort());
        if ((await more.count()) === 0) break;
        await eventually(async () => {
          if ((await times(page)).length > shown.length || (await more.count()) === 0) return true;
          // A refresh that an event causes may have taken the place of the page that was asked for.
          await more.click({ timeout: 1_000 }).catch(() => undefined);
          return false;
        });
      }
      // 35 texts, as many runs of three changes, and the declaration.
      await eventually(async () => (await times(page)).length === 71);
    }
  });

  test('a time and an end are given when writing and when editing', async () => {
    const { id } = await declare('In the past');
    const page = await open(`/incidents/${id}`, { profile: { timezoneId: 'Europe/Berlin' } });
    await page.getByLabel('Write to the timeline').fill('The deployment began');
    await page.getByRole('button', { name: 'Set a time' }).click();
    await page.getByRole('textbox', { name: 'Began', exact: true }).fill('2026-03-01T10:00');
    await page.getByLabel('Ended').fill('2026-03-01T09:00');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await eventually(async () => (await page.getByLabel('Ended').getAttribute('aria-invalid')) === 'true');
    await page.getByLabel('Ended').fill('2026-03-01T10:30');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('until Mar 1, 2026, 10:30 AM').waitFor();
    const stored = async () => (await client().get(`/api/v1/incidents/${id}/timeline`)).body.events[0];
    expect(await stored()).toMatchObject({
      ...{ started_at: '2026-03-01T09:00:00.000Z', ended_at: '2026-03-01T09:30:00.000Z' },
    });
    await page.getByRole('article').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Ended').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => (await stored()).ended_at === null);
    expect(await stored()).toMatchObject({ started_at: '2026-03-01T09:00:00.000Z', body: 'The deployment began' });
  });

  test('what somebody else changed and deleted is shown with who did it, and can be restored', async () => {
    const { id } = await declare('Rewritten');
    await note(id, { body: 'Release 412 is **rolled back**' });
    const fay = await addPerson('Fay');
    const theirs = await open(`/incidents/${id}`, { email: fay });
    const mine = await open(`/incidents/${id}`);
    await mine.getByRole('article').getByText('rolled back').waitFor();

    await theirs.getByRole('article').getByRole('button', { name: 'Edit' }).click();
    await theirs.getByLabel('Text of the event').fill('Nothing happened');
    await theirs.getByRole('button', { name: 'Save' }).click();
    const article = mine.getByRole('article');
    await article.getByText('edited by Fay').waitFor();
    await article.getByRole('button', { name: 'Before' }).click();
    const before = article.getByRole('region', { name: 'Before' });
    await before.getByText('Release 412 is').waitFor();
    expect(await before.textContent()).toMatch(/^test \(key of .*\), began .*Release 412 is rolled back$/);
    await mine.getByLabel('What is shown').selectOption('Changes');
    const changes = stream(mine).getByRole('listitem').filter({ hasText: 'text of an event' });
    expect(await changes.textContent()).toContain(
      'Fay changed the text of an event from Release 412 is **rolled back** to Nothing happened',
    );
    await mine.getByLabel('What is shown').selectOption('Everything');
    await article.getByText('edited by Fay').waitFor();
    expect(await findings(mine)).toEqual(CLEAN);

    await theirs.getByRole('article').getByRole('button', { name: 'Delete' }).click();
    await theirs.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const deletion = stream(mine).getByRole('listitem').filter({ hasText: 'deleted the event' });
    await deletion.getByRole('button', { name: 'Show' }).click();
    expect(await deletion.textContent()).toContain('Fay deleted the event Nothing happened');
    await eventually(async () => (await article.count()) === 0);
    expect(await findings(mine)).toEqual(CLEAN);
    await deletion.getByRole('button', { name: 'Restore' }).click();
    await article.getByText('Nothing happened').waitFor();
    await stream(mine).getByText('restored the event').waitFor();
    await deletion.getByRole('button', { name: 'Restore' }).waitFor({ state: 'detached' });

    const { follow_up: left } = (await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'A larger pool' }))
      .body;
    await stream(mine).getByText('added a follow-up').waitFor();
    await client().patch(`/api/v1/follow-ups/${left.id}`, { status: 'done' }, at(1));
    await stream(mine).getByText('completed the follow-up A larger pool').waitFor();
    await client().delete(`/api/v1/follow-ups/${left.id}`);
    await stream(mine).getByText('deleted the follow-up').waitFor();
    expect(problems()).toEqual([]);
  });

  test('on a phone, what matters is at the top and within reach', async () => {
    const id = await fill();
    for (let index = 0; index < 12; index += 1) await note(id, { body: `Attempt ${index}` });
    await addPerson('Dee');
    const page = await open(`/incidents/${id}`, { profile: PHONE });
    await stream(page).getByText('Attempt 11').waitFor();
    for (const name of ['Severity', 'Status', 'Lead']) {
      const box = await page.getByRole('button', { name: new RegExp(`^Edit ${name}`) }).boundingBox();
      expect(box?.y).toBeLessThan(PHONE.viewport.height / 2);
    }
    const small = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main :is(button, select, input[type=search], textarea), header button')]
      .map((each) => [each, each.getBoundingClientRect().height])
      .filter(([, height]) => height > 0 && height < ${TARGET})
      .map(([each, height]) => each.textContent + height)`,
    );
    expect(small).toEqual([]);
    // Who wrote an event stands beside its buttons, and its marks below.
    const event = stream(page).getByRole('article').first();
    const [who, edit] = await Promise.all([
      event.getByText(/^test/).first().boundingBox(),
      event.getByRole('button', { name: 'Edit' }).boundingBox(),
    ]);
    expect(who?.y).toBeGreaterThan(edit?.y ?? Infinity);
    expect(who?.y).toBeLessThan((edit?.y ?? 0) + TARGET);
    await page.getByRole('button', { name: /^Edit Lead/ }).tap();
    await page.getByRole('combobox', { name: 'Lead' }).selectOption('Dee');
    await page.getByRole('button', { name: 'Save' }).tap();
    await page.getByRole('button', { name: 'Edit Lead: Dee' }).waitFor();

    const bar = page.getByRole('group', { name: 'Most frequent' });
    const bottom = async () => {
      const box = await bar.boundingBox();
      return Math.round((box?.y ?? 0) + (box?.height ?? 0));
    };
    expect(await bottom()).toBe(PHONE.viewport.height);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    expect(await bottom()).toBe(PHONE.viewport.height);
    await bar.getByRole('button', { name: 'Add' }).tap();
    await page.keyboard.type('Written with a thumb');
    await page.getByRole('button', { name: 'Add', exact: true }).first().tap();
    await stream(page).getByText('Written with a thumb').waitFor();
    await page.getByRole('button', { name: 'Declare', exact: true }).tap();
    await page.getByRole('dialog', { name: 'Declare an incident' }).waitFor();
    expect(await findings(page)).toEqual(CLEAN);
    await page.getByRole('button', { name: 'Cancel' }).tap();
    await bar.getByRole('button', { name: 'Resolve' }).tap();
    await page.getByRole('dialog').getByRole('button', { name: 'Resolve' }).tap();
    await bar.getByRole('button', { name: 'Reopen' }).waitFor();
    expect(await incident(id)).toMatchObject({ status: 'resolved' });
  });

  test('is accessible and fits while it is read and written, in light and dark colours, wide and narrow', async () => {
    const id = await fill();
    const page = await open(`/incidents/${id}`, { viewport: PHONE.viewport });
    const expectSoundInAllLooks = async () => {
      for (const viewport of [WIDE, PHONE.viewport])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          expect({ viewport, colorScheme, ...(await findings(page)) }).toEqual({ viewport, colorScheme, ...CLEAN });
        }
    };
    await stream(page).getByText('drain db-1').waitFor();
    await expectSoundInAllLooks();
    await page.getByRole('button', { name: /^Edit Status/ }).click();
    await page.getByRole('article').last().getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Set a time' }).click();
    await page.getByRole('button', { name: /^Edit Impact summary/ }).click();
    await expectSoundInAllLooks();
  });

  test('a post-mortem is copied as Markdown, and a failure is reported', async () => {
    const id = await fill();
    const page = await open(`/incidents/${id}/postmortem`);
    const button = page.getByRole('button', { name: 'Copy post-mortem' });
    await button.click();
    await page.getByText(`The post-mortem of INC-${id} is copied as Markdown.`).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(new RegExp(`^# INC-${id}: Checkout answers slowly\n`));
    // The same is live as in the activity.
    expect(copied).toContain('**Latency** of `checkout` is *high*, see [https\\://grafana.example.com/d/1](<https://');
    expect(copied).toContain('[a guide](<https://wiki.example.com/db>) \\[no link\\]\\(javascript:alert(1)) &lt;img ');
    expect(copied).toContain('\n  ```\n  select 1 <b>now</b>\n  ```\n');
    expect(await findings(page)).toEqual(CLEAN);
    expect(problems()).toEqual([]);

    const refusal = { code: 'service_unavailable', message: 'The users cannot be read at the moment; try again' };
    await page.route('**/postmortem', async (route) => route.fulfill({ status: 503, json: refusal }));
    await button.click();
    await page.getByText(refusal.message).waitFor();
    expect(await button.isEnabled()).toBe(true);
  });
}
