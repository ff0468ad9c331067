import { TocsinError } from '@tocsin/sdk';
import { type SubmitEvent, useEffect, useState } from 'react';
import { failureOf } from '../api/failures.ts';
import { readWaysIn, signIn, type WaysIn } from './session.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { hasDrafts } from '../ui/drafts.ts';
import { Input, Refusable } from '../ui/fields.tsx';
import { Empty } from '../ui/states.tsx';
import { OtherUser, usersOf } from './other-user.tsx';
import ui from '../ui/ui.module.css';
import css from './signed-out.module.css';

/** The three ways in. @param props `reason` says why somebody is here who did not sign out */
export const SignedOut = ({ reason }: { reason?: string | undefined }) => {
  const [ways, setWays] = useState<WaysIn>();
  useEffect(() => void readWaysIn().then(setWays), []);
  if (ways?.workspace === null) return <NoWorkspace />;
  const provider = ways?.provider ?? undefined;
  const isOffered = provider !== undefined;
  return (
    <main>
      <Empty
        title={
          (reason === undefined ? 'You are signed out' : 'You are not signed in') +
          (ways === undefined ? '' : ` ${reason === undefined ? 'of' : 'to'} ${ways.workspace}`)
        }
        icon="lock"
        heading="h1"
      >
        {reason !== undefined && <span role="alert">{reason.replace(/[^.]$/, '$&.')} </span>}
        {hasDrafts() && 'What you have written is kept in this tab. '}
        {isOffered ? 'Sign in with your organization, or ask' : 'Ask'} an owner or admin of the workspace, or an
        operator, for a link: it works once, within ten minutes. You can also paste an API token of your own.
      </Empty>
      <div className={css.ways}>
        {isOffered && (
          <div className={css.form}>
            <a className={buttonClass('primary')} href="/app/oidc">
              Sign in with your organization
            </a>
            <p className={ui.hint}>{`You go to ${nameOf(provider)}, and come back.`}</p>
          </div>
        )}
        <TokenForm isFirst={!isOffered} />
        {ways !== undefined && !isOffered && (
          <p className={ui.hint}>
            Nobody signs in with an organization here: no operator has{' '}
            <a href="/docs/guides/sign-in-providers">connected its provider</a>.
          </p>
        )}
      </div>
    </main>
  );
};

const NoWorkspace = () => (
  <main>
    <Empty title="There is no workspace here" icon="search" heading="h1">
      No workspace is in use at {window.location.host}. Look at the address, or ask who gave it to you.
    </Empty>
  </main>
);

/** The providers whose hosts people may not know. */
const PROVIDERS: readonly (readonly [host: RegExp, name: string])[] = [
  [/^login\.microsoftonline\.(?:com|us)$/, 'Microsoft'],
  [/^accounts\.google\.com$/, 'Google'],
  [/\.okta(?:-emea|preview)?\.com$/, 'Okta'],
];

const nameOf = (provider: string): string => {
  const name = PROVIDERS.find(([host]) => host.test(provider))?.[1];
  return name === undefined ? provider : `${name} (${provider})`;
};

/** Begins a session with a token, and returns to the page that was asked for. @param props `isFirst`: there is no better way */
function TokenForm({ isFirst }: { isFirst: boolean }) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<TocsinError | null>(null);
  const users = usersOf(error);
  const send = async (replaces: boolean) => {
    setBusy(true);
    try {
      await signIn(token.trim(), { replaces });
      enter();
    } catch (refusal) {
      setError(refusalOf(refusal));
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (token.trim() !== '' && !isBusy) void send(false);
  };
  if (users !== undefined) return <OtherUser {...users} onReplace={() => void send(true)} onStay={enter} />;
  return (
    <form className={css.form} onSubmit={submit}>
      <Refusable error={error}>
        <Input name="token" label="API token" type="password" placeholder="tcs_…" value={token} onValue={setToken} />
      </Refusable>
      <Button type="submit" kind={isFirst ? 'primary' : 'normal'} busy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}

const refusalOf = (error: unknown): TocsinError => {
  const failure = failureOf(error);
  const { code, status } = failure;
  if (status !== 401) return failure;
  return new TocsinError(code, 'The token is not valid in this workspace.', { status, field: 'token' });
};

function enter(): void {
  if (window.location.pathname === '/app/sign-in') window.location.replace('/app/');
  else window.location.reload();
}

const REFUSALS: Readonly<Record<string, string>> = {
  expired: 'The sign-in took longer than ten minutes, or began in another browser',
  provider_unavailable: 'The sign-in of your organization does not answer',
  provider_refused: 'Your organization did not confirm the sign-in',
  unverified_email: 'Your organization has not verified your email address',
  unusable_account: 'Your organization describes your account in a way that Tocsin cannot keep',
  other_account:
    'Your organization names another account for your email address than before: an operator has to confirm it',
  unknown_user: 'You have no user in this workspace: ask one of its owners',
  deactivated_user: 'Your user is deactivated: ask an owner of the workspace',
  user_quota: 'The workspace has as many users as it may have',
};

/** What a refused sign-in by the provider says to people. */
export const refusalText = (reason: string): string => REFUSALS[reason] ?? 'The sign-in failed';
