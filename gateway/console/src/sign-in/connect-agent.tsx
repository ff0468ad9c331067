import { useMutation, useQuery } from '@tanstack/react-query';
import { TocsinError } from '@tocsin/sdk';
import { reloadForOther } from '../api/browser-user.ts';
import { tocsin } from '../api/client.ts';
import { failureOf, sayError } from '../api/failures.ts';
import { useMe } from '../api/hooks.ts';
import { ASKED } from './asked.ts';
import { Button } from '../ui/button.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';

/** Where the gateway says who asks, and takes the decision. */
const PATH = '/oauth/consent';

/** What a client wants, in its own words. */
interface Asked {
  client_name: string;
  redirect_host: string;
  scopes: string[];
}

async function ask<Body>(method: string, more: Record<string, string> = {}): Promise<Body> {
  const query = { ...Object.fromEntries(new URLSearchParams(sessionStorage.getItem(ASKED) ?? '')), ...more };
  const answer = await tocsin.request(method, PATH, { query }).catch((error: unknown) => {
    throw failureOf(error);
  });
  return answer.body as Body;
}

/** Asks whether a client may act for the person who is signed in. */
export function ConnectAgentPage() {
  const { data: me } = useMe();
  const isAsked = sessionStorage.getItem(ASKED) !== null;
  const asked = useQuery<Asked, TocsinError>({
    queryKey: [PATH],
    queryFn: async () => ask('GET'),
    enabled: isAsked,
    gcTime: 0,
  });
  const decide = useMutation<{ redirect_to: string }, TocsinError, 'allow' | 'refuse'>({
    mutationFn: async (decision) => {
      if (reloadForOther()) throw new TocsinError('other_user', 'Somebody else has signed in');
      return ask('POST', { decision });
    },
    onSuccess: ({ redirect_to: address }) => {
      sessionStorage.removeItem(ASKED);
      window.location.assign(address);
    },
    onError: sayError,
  });
  const isBusy = decide.isPending || decide.isSuccess;
  if (!isAsked && !decide.isSuccess) return <Empty title="No program asks for anything" heading="h1" icon="key" />;
  return (
    <Page
      title="Connect an agent"
      lead={`A program wants to act for you in ${me?.workspace.name ?? 'this workspace'}.`}
    >
      <Card padded>
        <Loaded query={asked}>
          {({ client_name: name, redirect_host: host, scopes }) => (
            <div className={ui.stack}>
              <dl className={ui.terms}>
                <dt>It calls itself</dt>
                <dd>
                  <q>{name}</q>
                </dd>
                <dt>You go on to</dt>
                <dd className={ui.strong}>{host}</dd>
                <dt>It acts as</dt>
                <dd>
                  {me?.user.name} ({me?.user.email})
                </dd>
                <dt>It may</dt>
                <dd className={ui.row}>
                  {scopes.map((scope) => (
                    <code key={scope}>{scope}</code>
                  ))}
                </dd>
              </dl>
              <p className={ui.muted}>
                Anybody can choose a name. Allow only what you have just begun yourself at {host}. It can do no more
                than you, and you can end it under Keys and sessions.
              </p>
              <div className={ui.row}>
                <Button kind="primary" busy={isBusy} onClick={() => decide.mutate('allow')}>
                  Allow
                </Button>
                <Button busy={isBusy} onClick={() => decide.mutate('refuse')}>
                  Refuse
                </Button>
              </div>
            </div>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}
