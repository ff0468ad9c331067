import type { Webhook } from '@tocsin/sdk';
import type { ComponentProps } from 'react';
import { useAccess, useGet } from '../api/hooks.ts';
import { formatName } from '../ui/format.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { EVERY } from './connection.tsx';

export const WEBHOOKS = '/settings/webhooks';

export const nameOfWebhook = ({ name, url }: Webhook): string => name ?? url;

/** All webhooks: the API reads no single one. */
export const useWebhooks = () => {
  const { canManage } = useAccess();
  return useGet<{ webhooks: Webhook[] }>(WEBHOOKS, { enabled: canManage, every: EVERY });
};

/** Whether it may be changed: only who sees restricted incidents lets others have them. */
export const useCanChange = ({ include_restricted: isRestricted }: Webhook): boolean => {
  const { seesAllRestricted } = useAccess();
  return seesAllRestricted || !isRestricted;
};

export const hasFailedLast = ({ last_success_at: success, last_failure_at: failure }: Webhook): boolean =>
  failure !== null && (success === null || failure > success);

/** What makes a paused webhook send again. */
export const wayBackOf = (webhook: Webhook): 'verify' | 'resume' =>
  hasFailedLast(webhook) || webhook.last_success_at === null ? 'verify' : 'resume';

/** Why a webhook is as it is, and what to do. */
export function explainWebhook(webhook: Webhook): string {
  const hasFailed = hasFailedLast(webhook);
  if (webhook.status === 'revoked') return 'It has ended for good, and gets nothing.';
  if (webhook.status === 'active')
    return hasFailed
      ? 'The last delivery failed: look at what the receiver answered. Five failures in a row pause the webhook.'
      : 'It gets every incident that is declared.';
  if (hasFailed) return 'It is paused, and the last delivery failed. Mend the receiver, then verify it.';
  if (wayBackOf(webhook) === 'resume') return 'It is paused by hand, and does not get what is declared meanwhile.';
  return 'It gets nothing yet. Give the secret to the receiver, then verify that it answers.';
}

type Tone = 'good' | 'warn' | 'plain';

/** How a state looks. */
function lookOf(webhook: Webhook): [tone: Tone, icon: IconName] {
  if (webhook.status === 'revoked') return ['plain', 'close'];
  if (webhook.status === 'paused') return ['warn', 'theme'];
  return hasFailedLast(webhook) ? ['warn', 'alert'] : ['good', 'check'];
}

export const WebhookBadge = ({ webhook }: { webhook: Webhook }) => (
  <Badge tone={lookOf(webhook)[0]}>{formatName(webhook.status)}</Badge>
);

export function WebhookIcon({ webhook }: { webhook: Webhook }) {
  const [tone, icon] = lookOf(webhook);
  return <IconBadge tone={tone} icon={icon} label={formatName(webhook.status)} />;
}

/** A state as a picture, all of one size, so that what stands beside them begins in one line. */
export const IconBadge = ({
  tone,
  icon,
  label,
}: {
  tone: ComponentProps<typeof Badge>['tone'];
  icon: IconName;
  label: string;
}) => (
  <Badge tone={tone}>
    <Icon name={icon} />
    <span className={ui.hidden}>{label}</span>
  </Badge>
);
