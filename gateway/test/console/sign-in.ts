import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { type Console, expectSound, NARROW, OWNER, WIDE } from './harness.ts';
import { type Provider, withProvider } from './provider.ts';

export function testSignIn(console: Console, provider: Provider): void {
  const { open, visit, client, origin, linkFor, addPerson } = console;
  test('an owner invites somebody, who signs in with the link once', async () => {
    const page = await open('/users');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Name').fill('Ana New');
    await page.getByLabel('Email').fill('ana@acme.example');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'A link for Ana New' });
    const link = (await dialog.locator('code').textContent()) ?? '';
    expect(link).toMatch(new RegExp(`^${origin()}/app/sign-in#tcl_`));
    await expectSound(page, 'invite');
    const invited = await visit(link);
    await invited.page.getByText('Ana New', { exact: true }).waitFor();
    await invited.close();
    const again = await visit(link);
    await again.page.getByText('You are not signed in').waitFor();
    await again.close();
    // Another one for somebody who is there already.
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row').filter({ hasText: 'ana@acme.example' });
    await row.getByRole('button', { name: 'More for Ana New' }).click();
    await row.getByRole('button', { name: 'Sign-in link' }).click();
    await dialog.waitFor();
    expect(await dialog.locator('code').textContent()).not.toBe(link);
  });

  test('an address without a workspace says so', async () => {
    const { page } = await visit(origin().replace('acme', 'nobody') + '/app/');
    await page.getByRole('heading', { name: 'There is no workspace here' }).waitFor();
    await page.getByText(new URL(page.url()).host).waitFor();
    await expectSound(page, 'no-workspace');
  });

  test('who is signed out reads the ways in, pastes a token, and is on the page that was asked for', async () => {
    for (const [colorScheme, viewport] of [
      ['light', NARROW],
      ['dark', WIDE],
    ] as const) {
      const { page, close } = await visit(`${origin()}/app/catalog`, { viewport, colorScheme });
      await page.getByText('You can also paste an API token of your own.').waitFor();
      await page.getByRole('heading', { name: 'You are signed out of acme' }).waitFor();
      await page.getByText('Nobody signs in with an organization here').waitFor();
      await expectSound(page, `signed-out-${colorScheme}`);
      await page.getByLabel('API token').fill('tcs_wrong');
      await page.keyboard.press('Enter');
      await page.getByText('The token is not valid in this workspace.').waitFor();
      await page.getByLabel('API token').fill(client().token);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Services and teams' }).waitFor();
      await close();
    }
  });

  test('who is asked by an agent signs in, reads who asks for what, and goes back to it with a code', async () => {
    const redirectUri = 'http://127.0.0.1:9/callback';
    const { body: registered } = await client().post('/oauth/register', {
      client_name: '<b>An agent</b>',
      redirect_uris: [redirectUri],
    });
    const asked = new URLSearchParams({
      ...{
        client_id: registered.client_id,
        redirect_uri: redirectUri,
        response_type: 'code',
        state: '12345678901234567890',
      },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
    });
    const { page, close } = await visit(`${origin()}/app/authorize?${asked.toString()}`);
    await page.route(`${redirectUri}?**`, async (route) => route.fulfill({ body: 'Connected' }));
    await page.getByLabel('API token').fill(client().token);
    await page.keyboard.press('Enter');
    await page.getByText('<b>An agent</b>').waitFor();
    await page.getByText('127.0.0.1:9', { exact: true }).waitFor();
    await page.getByText('incidents:write').waitFor();
    expect(page.url()).toBe(`${origin()}/app/authorize`);
    await expectSound(page, 'connect-agent');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Connected').waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('state'), searchParams.get('code')]).toEqual([asked.get('state'), expect.any(String)]);
    await page.goto(`${origin()}/app/keys`);
    const row = page.getByRole('row').filter({ hasText: '<b>An agent</b>' });
    await row.getByRole('button', { name: 'End' }).click();
    await row.waitFor({ state: 'detached' });
    await close();
  });

  test('an address or a cookie with the token of a key signs nobody in', async () => {
    const { token } = client();
    const { page } = await visit(`${origin()}/app/sign-in#${token}`);
    await page.getByText('You are signed out').waitFor();
    expect(page.url()).toBe(`${origin()}/app/`);
    await page.context().addCookies([{ name: 'tocsin-link', value: token, url: origin() }]);
    await page.goto(`${origin()}/app/sign-in?by=provider`);
    await page.getByText('You are not signed in').waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('tocsin');
  });

  test('a saved view is shown to its user only, in a browser that several use', async () => {
    const page = await open('/?view=all&days=90', { profile: {} });
    const views = page.getByLabel('Saved views').locator('option');
    await page.getByLabel('Saved views').selectOption('Save this view…');
    await page.getByRole('dialog').getByLabel('Name').fill('Mine alone');
    await page.keyboard.press('Enter');
    await eventually(async () => (await views.allTextContents()).includes('Mine alone'));
    const others = await page.context().newPage();
    await others.goto(await linkFor(await addPerson('Dan')));
    await others.getByRole('button', { name: 'Sign in as Dan' }).click();
    await others.getByText('Dan', { exact: true }).waitFor();
    await others.goto(`${origin()}/app/?view=all&days=90`);
    const theirs = others.getByLabel('Saved views').locator('option');
    await theirs.first().waitFor({ state: 'attached' });
    expect(await theirs.allTextContents()).toEqual(['Views', 'Save this view…']);
    await others.goto(await linkFor(OWNER));
    await others.getByRole('button', { name: 'Sign in as Person 1' }).click();
    await others.getByText('Person 1', { exact: true }).waitFor();
    await others.goto(`${origin()}/app/`);
    await eventually(async () => (await theirs.allTextContents()).includes('Mine alone'));
  });

  test('says that the session ends five minutes before, and ends it after 12 hours without the person', async () => {
    const page = await open('/', { profile: {} });
    await page.clock.install();
    await page.reload();
    await page.getByRole('heading', { name: 'Incidents', level: 1 }).waitFor();
    const notice = page.getByText('you will be signed out in');
    await page.clock.fastForward('11:54:00');
    await page.clock.runFor(31_000);
    expect(await notice.count()).toBe(0);
    await page.clock.fastForward('01:00');
    await page.clock.runFor(31_000);
    await notice.waitFor();
    await expectSound(page, 'idle');
    // Somebody is there.
    await page.keyboard.press('Shift');
    await notice.waitFor({ state: 'detached' });
    await page.clock.fastForward('12:00:00');
    await page.clock.runFor(31_000);
    await page.getByText('because nobody used this browser for 12 hours').waitFor();
    // At the server, too.
    await page.reload();
    await page.getByText('You are signed out').waitFor();
  });

  describe('by the provider of the workspace', () => {
    withProvider(console, provider);

    test('asks before another user is signed out', async () => {
      const email = await addPerson('Dora');
      provider.signIn({ sub: 'dora', email, email_verified: true, name: 'Dora' });
      const page = await open();
      const signedIn = async (name: string) => page.getByText(name, { exact: true }).first().waitFor();
      await signedIn('Person 1');
      await page.goto(`${origin()}/app/oidc`);
      await page.getByRole('button', { name: 'Sign in as Dora' }).waitFor();
      await expectSound(page, 'other-user');
      await page.getByRole('button', { name: 'Stay Person 1' }).click();
      await signedIn('Person 1');
      await page.goto(`${origin()}/app/oidc`);
      await page.getByRole('button', { name: 'Sign in as Dora' }).click();
      await signedIn('Dora');
      // Nobody is asked about themselves, and a link was used once.
      await page.goto(`${origin()}/app/oidc`);
      await signedIn('Dora');
      await page.goto(`${origin()}/app/sign-in?by=provider`);
      await page.getByText('You are not signed in').waitFor();
    });
  });
}
