import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { Locator, Page } from 'playwright-core';
import { at, type Console, expectSound, NARROW, WIDE } from './harness.ts';

export function testPostmortem({ open, client, system, origin, addPerson, declare, note, problems }: Console): void {
  const others: string[] = [];
  beforeAll(async () => {
    for (const name of ['Pia', 'Quin']) others.push(await addPerson(name));
  });

  interface Section {
    key: string;
    title: string;
    body: string;
  }
  const path = (id: number) => `/api/v1/incidents/${id}/postmortem`;
  const written = async (id: number) =>
    (await client().get(path(id))).body.document as { revision: number; state: string; sections: Section[] };
  const texts = async (id: number) => (await written(id)).sections.map(({ title, body }) => [title, body]);
  const begin = async (id: number, sections: Section[]) => client().post(path(id), { sections });
  const three: Section[] = [
    { key: 'a', title: 'What happened', body: 'Nobody could pay' },
    { key: 'b', title: 'Why', body: '{{activity}}' },
    { key: 'c', title: 'What we do', body: '{{follow_ups}}' },
  ];

  const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const edit = async (page: Page, name: string, text: string) => {
    await section(page, name).getByRole('button', { name: 'Edit' }).click();
    await section(page, name).getByLabel('Text of the section').fill(text);
  };
  const save = async (page: Page, name: string) =>
    section(page, name).getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = (page: Page) => page.getByRole('dialog', { name: 'Somebody else changed this, too' });
  /** Waits for the focus, which what is saved or removed gives to something else when it is gone. */
  const focusAt = async (page: Page, text: string) =>
    eventually(async () => (await page.evaluate<string>('document.activeElement.textContent')) === text);

  test('three people write one post-mortem at once, and nothing is lost', async () => {
    const { id, human_id: reference } = await declare('The card provider was down');
    await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'A second provider' });
    const mine = await open(`/incidents/${reference}`);
    const [pia, quin] = [
      await open(`/incidents/${id}/postmortem`, { email: others[0] ?? '' }),
      await open(`/incidents/${reference}/postmortem`, { email: others[1] ?? '' }),
    ];
    await pia.waitForURL(`${origin()}/app/incidents/${reference}/postmortem`);
    await mine.getByRole('link', { name: 'Write or read it' }).click();
    await mine.getByText('Nobody has begun to write.').waitFor();
    await expectSound(mine, 'postmortem-none');
    await mine.getByRole('button', { name: 'Write the post-mortem' }).click();
    // Everybody sees what the template has, with live parts.
    for (const page of [mine, pia, quin]) await section(page, 'Follow-ups').getByText('A second provider').waitFor();

    await edit(mine, 'Summary', 'Cards were **refused** for an hour.');
    await edit(pia, 'People', 'Pia found it.\n\n{{people}}');
    await edit(quin, 'Services', 'Only checkout.');
    await quin.getByRole('button', { name: 'Add a section' }).click();
    await section(quin, 'New section').getByLabel('Heading').fill('What went well');
    await section(quin, 'New section').getByLabel('Text of the section').fill('The alarm 🔔');
    await save(quin, 'New section');
    await section(quin, 'What went well').waitFor();
    await save(mine, 'Summary');
    await save(pia, 'People');
    await save(quin, 'Services');
    for (const page of [mine, pia, quin]) {
      await section(page, 'Summary').locator('strong', { hasText: 'refused' }).waitFor();
      await section(page, 'People').getByText('Pia found it.').waitFor();
      await section(page, 'People').getByText('Declared by').waitFor();
      await section(page, 'Services').getByText('Only checkout.').waitFor();
      await section(page, 'What went well').getByText('The alarm 🔔').waitFor();
    }
    expect((await texts(id)).at(-1)).toEqual(['What went well', 'The alarm 🔔']);

    // Two change the same section: the second one sees both, and neither is lost.
    await edit(mine, 'Summary', 'Mine');
    await edit(pia, 'Summary', 'Theirs');
    await save(pia, 'Summary');
    await section(mine, 'Summary').getByText('Somebody changed it while you write.').waitFor();
    await save(mine, 'Summary');
    const cells = conflict(mine).locator('tbody tr').locator('th, td');
    await conflict(mine).waitFor();
    expect(await cells.allTextContents()).toEqual(['Summary', 'Summary\n\nTheirs', 'Summary\n\nMine']);
    await expectSound(mine, 'postmortem-conflict');
    await conflict(mine).getByRole('button', { name: 'Save mine' }).click();
    await section(pia, 'Summary').getByText('Mine').waitFor();
    await pia.getByRole('button', { name: 'Versions' }).click();
    await pia
      .getByRole('button', { name: /^What it said/ })
      .first()
      .click();
    await section(pia, 'Versions').getByText('Theirs').waitFor();
    await expectSound(pia, 'postmortem-versions');

    // One is removed while somebody writes it.
    await edit(quin, 'Services', 'Only checkout, and refunds.');
    await section(mine, 'Services').getByRole('button', { name: 'Remove Services' }).click();
    await mine.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await section(mine, 'Services').waitFor({ state: 'detached' });
    await focusAt(mine, 'Add a section');
    await quin.getByText('Somebody removed this section while you write.').waitFor();
    await save(quin, 'Services');
    await conflict(quin).getByRole('button', { name: 'Save mine' }).click();
    await section(mine, 'Services').getByText('Only checkout, and refunds.').waitFor();

    await mine.getByLabel('State of the post-mortem').selectOption('Published');
    for (const page of [pia, quin]) await page.getByText(/^published .+ by Person 1$/).waitFor();
    expect(await written(id)).toMatchObject({ state: 'published' });
    await pia.getByRole('link', { name: reference }).first().click();
    await section(pia, 'Post-mortem').getByText('Published').waitFor();
    await section(pia, 'Activity').getByText('published the post-mortem').waitFor();
    expect(problems().filter((problem) => !problem.includes('412'))).toEqual([]);
  });

  test('sections are written, moved and removed by keyboard; drafts survive a reload', async () => {
    const { id } = await declare('By keyboard');
    await begin(id, three);
    const page = await open(`/incidents/${id}/postmortem`);
    const { keyboard } = page;
    await section(page, 'Why').getByRole('button', { name: 'Edit' }).press('Enter');
    await keyboard.press('Control+a');
    await keyboard.type('A **pool** ran out.');
    await page.getByRole('group', { name: 'Preview' }).locator('strong', { hasText: 'pool' }).waitFor();
    await page.getByLabel('Live part').selectOption('Moments');
    await page.getByLabel('Live part').press('Enter');
    expect(await page.getByLabel('Text of the section').inputValue()).toBe('A **pool** ran out.\n\n{{moments}}');
    await expectSound(page, 'postmortem-edit');
    await page.setViewportSize(NARROW);
    await expectSound(page, 'postmortem-edit-narrow');
    await page.setViewportSize(WIDE);
    await page.reload();
    const area = page.getByLabel('Text of the section');
    await area.waitFor();
    expect(await area.inputValue()).toBe('A **pool** ran out.\n\n{{moments}}');
    expect((await texts(id))[1]).toEqual(['Why', '{{activity}}']);
    await area.press('Control+Enter');
    await section(page, 'Why').getByRole('table').waitFor();
    await focusAt(page, 'Edit Why');
    expect((await texts(id))[1]).toEqual(['Why', 'A **pool** ran out.\n\n{{moments}}']);

    const down = page.getByRole('button', { name: 'Move What happened down' });
    await down.press('Enter');
    await eventually(async () => (await texts(id)).map(([title]) => title).join() === 'Why,What happened,What we do');
    await eventually(
      async () => (await page.locator('article h2').allTextContents()).join() === 'Why,What happened,What we do',
    );
    expect(await page.evaluate<string>("document.activeElement.getAttribute('aria-label')")).toBe(
      'Move What happened down',
    );
    await section(page, 'Why').getByRole('button', { name: 'Edit' }).press('Enter');
    await keyboard.press('Escape');
    await focusAt(page, 'Edit Why');
    await page.getByRole('button', { name: 'Add a section' }).press('Enter');
    await keyboard.press('Escape');
    await focusAt(page, 'Add a section');
    // What the server refuses stands at its field.
    await page.getByRole('button', { name: 'Add a section' }).press('Enter');
    await page.getByLabel('Text of the section').fill('é'.repeat(40_000));
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await eventually(
      async () => (await page.getByLabel('Text of the section').getAttribute('aria-invalid')) === 'true',
    );
    await page.getByText('Must be at most 65536 bytes').waitFor();
  });

  test('is printed, downloaded and copied with its live parts as they are', async () => {
    const long = 'عطل في الدفع 💳 '.repeat(12).trim();
    const { id, human_id: reference } = await declare(long);
    await note(id, { body: 'The **pool** is <b>full</b>', is_key: true });
    const { follow_up: followUp } = (await client().post(`/api/v1/incidents/${id}/follow-ups`, { title: 'A pool' }))
      .body;
    await begin(id, [
      { key: 'z', title: long.slice(0, 255), body: '# {{reference}}: {{title}}' },
      { key: 'y', title: 'Seen in {{reference}}', body: '' },
      ...three,
    ]);
    const page = await open(`/incidents/${id}/postmortem`);
    await page.getByText(`${reference}: ${long}`).waitFor();
    await page.getByRole('heading', { name: `Seen in ${reference}` }).waitFor();
    await section(page, 'Why').getByText('is <b>full</b>').waitFor();
    await section(page, 'What we do').getByText('Open').waitFor();
    for (const [viewport, colorScheme] of [
      [WIDE, 'light'],
      [NARROW, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await expectSound(page, `postmortem-${colorScheme}`);
    }
    // On a phone, what stands above the document has two lines.
    const exports = page.getByRole('group', { name: 'Export' }).getByRole('button');
    const middleOf = async (part: Locator) => {
      const box = await part.boundingBox();
      return Math.round((box?.y ?? 0) + (box?.height ?? 0) / 2);
    };
    const above = [page.getByLabel('State of the post-mortem'), page.getByRole('button', { name: 'Versions' })];
    expect(new Set(await Promise.all([...above, ...(await exports.all())].map(middleOf))).size).toBe(2);
    // A live part follows the incident.
    await client().patch(`/api/v1/follow-ups/${followUp.id}`, { status: 'done' }, at(followUp.revision));
    await section(page, 'What we do').getByText('Done').waitFor();

    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.getByText('Nobody could pay').waitFor();
    for (const hidden of [page.getByRole('button'), page.getByRole('navigation'), page.getByRole('combobox')])
      expect(await hidden.locator('visible=true').count()).toBe(0);
    const colours = await page.evaluate<string>('getComputedStyle(document.body).color');
    expect(colours).toBe('rgb(28, 27, 25)');
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
    await page.emulateMedia({ media: 'screen' });

    await page.getByRole('button', { name: 'Copy post-mortem' }).click();
    await page.getByText(`The post-mortem of ${reference} is copied as Markdown.`).waitFor();
    const markdown = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(markdown).toContain('## What happened\n\nNobody could pay');
    for (const [kind, text] of [
      ['Markdown', markdown.slice(markdown.indexOf('## What happened'))],
      ['HTML', '<h2>What happened</h2>'],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: `Download ${kind}` }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`${reference}-post-mortem.${kind === 'HTML' ? 'html' : 'md'}`);
      expect(await readFile(await download.path(), 'utf8')).toContain(text.slice(0, 500));
    }
  });

  test('is read by whoever has no seat, and found by its state', async () => {
    const [none, draft] = [await declare('Zeppelin two'), await declare('Zeppelin one')];
    await begin(draft.id, three);
    await system().as({ role: 'viewer', seat: 'none' });
    const viewer = (await client().get('/api/v1/settings/users?role=viewer')).body.users.at(-1);
    const page = await open(`/incidents/${draft.id}/postmortem`, { email: viewer.email });
    await page.getByText('Nobody could pay').waitFor();
    for (const name of ['Edit', 'Add a section', 'Remove', 'Write the post-mortem'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    await page.goto(`${origin()}/app/?q=zeppelin`);
    const found = async (...titles: string[]) =>
      eventually(async () => (await page.locator('[data-rows] a').allTextContents()).sort().join() === titles.join());
    await found(draft.title, none.title);
    await page.getByLabel('Post-mortem', { exact: true }).selectOption('Post-mortem in draft');
    await found(draft.title);
    await page.getByLabel('Post-mortem', { exact: true }).selectOption('No post-mortem');
    await found(none.title);
    await page.reload();
    await found(none.title);
    await client().post(`/api/v1/incidents/${draft.id}/archive`);
    const mine = await open(`/incidents/${draft.id}/postmortem`);
    await mine.getByText('Nobody could pay').waitFor();
    expect(await mine.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  });
}
