import { useEffect, useState } from 'react';
import { hasProvider } from '../api/client.ts';
import { buttonClass, Empty } from '../ui/ui.tsx';

export const SignedOut = ({ reason }: { reason?: string }) => {
  const [isOffered, setOffered] = useState(false);
  useEffect(() => void hasProvider().then(setOffered), []);
  return (
    <main>
      <Empty title={reason === undefined ? 'You are signed out' : 'You are not signed in'} icon="lock" heading="h1">
        {reason !== undefined && <span role="alert">{reason.replace(/[^.]$/, '$&.')} </span>}
        {isOffered ? (
          <a className={buttonClass('primary')} href="/app/oidc">
            Sign in with your organization
          </a>
        ) : (
          <>
            Ask an operator for a link: <code>admin login-link --workspace … --email …</code>. It works once, within ten
            minutes.
          </>
        )}
      </Empty>
    </main>
  );
};

const REFUSALS: Readonly<Record<string, string>> = {
  expired: 'The sign-in took longer than ten minutes, or began in another browser',
  provider_unavailable: 'The sign-in of your organization does not answer',
  provider_refused: 'Your organization did not confirm the sign-in',
  unverified_email: 'Your organization has not verified your email address',
  unknown_user: 'You have no user in this workspace: ask one of its owners',
  deactivated_user: 'Your user is deactivated: ask an owner of the workspace',
  user_quota: 'The workspace has as many users as it may have',
};

/** What a refused sign-in by the provider says to people. */
export const refusalText = (reason: string): string => REFUSALS[reason] ?? 'The sign-in failed';
