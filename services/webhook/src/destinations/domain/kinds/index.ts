import type { Destination, Kind } from '../destination.ts';
import type { Described } from '../describe-event.ts';
import { DEFAULT_TEMPLATE, parseTemplate } from '../template.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { goalert } from './goalert.ts';
import { googleChat } from './google-chat.ts';
import { http } from './http.ts';
import type { KindOfDestination } from './kind.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { pagerduty } from './pagerduty.ts';
import { slackApp } from './slack-app.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';

export const KINDS_BY_NAME: Readonly<Record<Kind, KindOfDestination>> = {
  ...{ slack, teams, discord, mattermost, ntfy, email, pagerduty, goalert, http },
  ...{ google_chat: googleChat, slack_app: slackApp },
};

/** Makes the text of an event; without markup and template that is the event itself. */
export function textMaker({
  kind,
  template,
}: Pick<Destination, 'kind' | 'template'>): (described: Described) => string {
  const { markup, joins } = KINDS_BY_NAME[kind];
  if (markup === undefined || (template === null && !joins)) return ({ body }) => body;
  return parseTemplate(template ?? DEFAULT_TEMPLATE, markup);
}
