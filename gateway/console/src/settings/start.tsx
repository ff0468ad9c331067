/**
 * `settings` is how a workspace is set up: people and the links that sign them in, keys and sessions, custom fields,
 * statuses, severities and tiers, the monitors that send alerts with what they have sent, the destinations that tell
 * chats, pagers and people, the trackers in which follow-ups have tickets, and the webhooks that tell other systems. Owners and admins change most of it; everybody else
 * sees why they cannot. Secrets are shown once, when they are made. This file is the page for whoever begins: the steps from no incident to a verified webhook, and which
 * are done.
 */
import type { Webhook } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { readWaysIn } from '../sign-in/session.ts';
import { useAccess, useGet, useMe, usePeople, useServices } from '../api/hooks.ts';
import { Icon } from '../ui/icon.tsx';
import { Button, buttonClass, classes } from '../ui/button.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { isPutAway, putAway } from './put-away.ts';
import css from './start.module.css';

type Place = '/' | '/alerts' | '/catalog' | '/users' | '/webhooks';

interface Step {
  title: string;
  text: ReactNode;
  isDone: (has: ReturnType<typeof useProgress>) => boolean;
  /** A page, or a part of the reference. */
  to: Place | `/docs#${string}`;
  label: string;
}

const isPage = (to: Step['to']): to is Place => !to.startsWith('/docs');

/** From no incident to a verified webhook. */
const STEPS: readonly Step[] = [
  {
    title: 'Declare an incident',
    text: (
      <>
        Press <Badge>c</Badge> on any page. A title is enough; try it with something that did not happen.
      </>
    ),
    isDone: ({ incidents }) => incidents > 0,
    to: '/',
    label: 'Incidents',
  },
  {
    title: 'Name your services and teams',
    text: 'An incident of a service belongs to its team from the first moment on.',
    isDone: ({ services }) => services.length > 0,
    to: '/catalog',
    label: 'Services and teams',
  },
  {
    title: 'Invite those who respond',
    text: 'Responders need a seat; everybody else can read along.',
    isDone: ({ people }) => people.filter(({ active }) => active).length > 1,
    to: '/users',
    label: 'People',
  },
  {
    title: 'Let monitors declare incidents',
    text: 'Alertmanager, Grafana, PagerDuty’s events and others send their alerts with a key of their own.',
    isDone: ({ alerts }) => alerts.length > 0,
    to: '/alerts',
    label: 'Alerts',
  },
  {
    title: 'Sign in with your organization',
    text: 'An operator connects your OpenID Connect provider; until then, people sign in with links from you.',
    isDone: ({ hasOidc }) => hasOidc,
    to: '/docs#tag/sign-in-providers',
    label: 'How it works',
  },
  {
    title: 'Connect the chat',
    text: 'An operator connects your Slack; then an incident can get a channel when it is declared.',
    isDone: ({ hasChat }) => hasChat,
    to: '/docs#tag/connecting-slack',
    label: 'How it works',
  },
  {
    title: 'Tell another system',
    text: 'A webhook sends every declared incident to an address of yours, signed with a secret.',
    isDone: ({ receivers }) => receivers.length > 0,
    to: '/webhooks',
    label: 'Webhooks',
  },
  {
    title: 'Verify the webhook',
    text: 'Tocsin sends a signed request, and the webhook becomes active when the receiver answers.',
    isDone: ({ receivers }) => receivers.some(({ status }) => status === 'active'),
    to: '/webhooks',
    label: 'Webhooks',
  },
];

/** What the workspace has of what the steps ask for. */
function useProgress() {
  const { canManage } = useAccess();
  const { data: services = [] } = useServices();
  const { data: people = [] } = usePeople();
  const counts = useGet<{ collection_counts?: { all: number } }>('/incidents?limit=1&include_counts=true');
  const webhooks = useGet<{ webhooks: Webhook[] }>('/settings/webhooks', { enabled: canManage });
  const alerts = useGet<{ notifications: unknown[] }>('/alerts?limit=1');
  const me = useMe();
  const [hasOidc, setOidc] = useState(false);
  useEffect(() => void readWaysIn().then((ways) => setOidc(typeof ways?.provider === 'string')), []);
  return {
    ...{ services, people, hasOidc },
    incidents: counts.data?.collection_counts?.all ?? 0,
    alerts: alerts.data?.notifications ?? [],
    hasChat: me.data?.workspace.chat === true,
    receivers: webhooks.data?.webhooks.filter(({ status }) => status !== 'revoked') ?? [],
  };
}

export function StartPage() {
  const progress = useProgress();
  const hasPutAway = isPutAway.useValue();
  const steps = STEPS.map((step) => ({ ...step, isDone: step.isDone(progress) }));
  const next = steps.findIndex(({ isDone }) => !isDone);
  const done = steps.filter(({ isDone }) => isDone).length;
  return (
    <Page
      title="First steps"
      lead={`${done} of ${steps.length} done.`}
      actions={<Button onClick={() => putAway(!hasPutAway)}>{hasPutAway ? 'Show among the pages' : 'Put away'}</Button>}
    >
      <Card>
        <ol>
          {steps.map(({ title, text, isDone, to, label }, index) => (
            <li key={title} className={css.step} aria-current={index === next ? 'step' : undefined}>
              <span className={classes(css.mark, isDone && css.done)}>
                {isDone ? <Icon name="check" /> : index + 1}
                <span className={ui.hidden}>{isDone ? 'done' : 'to do'}</span>
              </span>
              <div>
                <h2>{title}</h2>
                <p className={ui.muted}>{text}</p>
              </div>
              {isPage(to) ? (
                <Link to={to} className={buttonClass(index === next ? 'primary' : 'quiet')}>
                  {label}
                </Link>
              ) : (
                <a href={to} target="_blank" rel="noreferrer" className={buttonClass('quiet')}>
                  {label}
                </a>
              )}
            </li>
          ))}
        </ol>
      </Card>
    </Page>
  );
}
