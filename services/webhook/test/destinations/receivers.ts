/**
 * What the receivers of destinations accept, as their public documentation says: Slack's incoming webhooks, workflows of
 * Microsoft Teams with Adaptive Cards, Google Chat's and Discord's webhooks, Mattermost's, ntfy's publishing as JSON,
 * PagerDuty's Events API v2 and GoAlert's generic API. Nothing here was compared with the services themselves.
 */
import { behave, type ReceivedRequest } from '@tocsin/testing';
import { z } from 'zod';

const text = (longest: number) => z.string().min(1).max(longest);
const json = (schema: z.ZodType) => (body: string) => {
  const { success, error } = schema.safeParse(JSON.parse(body));
  return success ? undefined : z.prettifyError(error);
};

/** What a kind is set up with, the path that it is asked at, and what it refuses. */
interface FakeReceiver {
  settings: (url: (path: string) => string) => Record<string, unknown>;
  path: string;
  /** Returns why it refuses a body. */
  refuses: (body: string, headers: ReceivedRequest['headers']) => string | undefined;
  answer: { status: number; body: string };
}

const TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';

const card = z.strictObject({
  type: z.literal('AdaptiveCard'),
  version: z.string(),
  msteams: z.strictObject({ width: z.literal('Full') }),
  body: z.array(z.strictObject({ type: z.literal('TextBlock'), text: text(28_000), wrap: z.boolean() })).min(1),
});

export const RECEIVERS: Readonly<Record<string, FakeReceiver>> = {
  slack: {
    settings: (url) => ({ url: url('/services/T024BE7LD/B024BE7LH/Qm8sVt0Kx2') }),
    path: '/services/T024BE7LD/B024BE7LH/Qm8sVt0Kx2',
    refuses: json(
      z.strictObject({
        text: text(40_000),
        blocks: z
          .array(
            z.strictObject({
              type: z.literal('section'),
              text: z.strictObject({ type: z.literal('mrkdwn'), text: text(3_000), verbatim: z.boolean() }),
            }),
          )
          .min(1)
          .max(50),
        unfurl_links: z.boolean(),
        unfurl_media: z.boolean(),
      }),
    ),
    answer: { status: 200, body: 'ok' },
  },
  teams: {
    settings: (url) => ({ url: url('/workflows/0123/triggers/manual/paths/invoke?sig=Qm8sVt0Kx2') }),
    path: '/workflows/0123/triggers/manual/paths/invoke?sig=Qm8sVt0Kx2',
    refuses: json(
      z.strictObject({
        type: z.literal('message'),
        attachments: z.tuple([
          z.strictObject({
            contentType: z.literal('application/vnd.microsoft.card.adaptive'),
            contentUrl: z.null(),
            content: card,
          }),
        ]),
      }),
    ),
    answer: { status: 202, body: '' },
  },
  google_chat: {
    settings: (url) => ({ url: url('/v1/spaces/AAAA/messages?key=k&token=t') }),
    path: '/v1/spaces/AAAA/messages?key=k&token=t',
    refuses: json(
      z.strictObject({
        fallbackText: text(4_096),
        cardsV2: z.tuple([
          z.strictObject({
            cardId: text(64),
            card: z.strictObject({
              sections: z
                .array(
                  z.strictObject({
                    widgets: z.array(z.strictObject({ textParagraph: z.strictObject({ text: text(30_000) }) })).min(1),
                  }),
                )
                .min(1),
            }),
          }),
        ]),
      }),
    ),
    answer: { status: 200, body: '{"name":"spaces/AAAA/messages/BBBB"}' },
  },
  discord: {
    settings: (url) => ({ url: url('/api/webhooks/1234/Qm8sVt0Kx2') }),
    path: '/api/webhooks/1234/Qm8sVt0Kx2?wait=true',
    refuses: json(
      z.strictObject({
        content: text(2_000),
        allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])).max(0) }),
      }),
    ),
    answer: { status: 200, body: '{"id":"1"}' },
  },
  mattermost: {
    settings: (url) => ({ url: url('/hooks/qm8svt0kx2') }),
    path: '/hooks/qm8svt0kx2',
    refuses: json(z.strictObject({ text: text(16_383) })),
    answer: { status: 200, body: 'ok' },
  },
  ntfy: {
    settings: (url) => ({ url: url('/incidents'), credential: TOKEN }),
    path: '/',
    refuses: (body, { authorization }) =>
      authorization === `Bearer ${TOKEN}`
        ? json(
            z.strictObject({
              topic: z.literal('incidents'),
              title: text(250),
              message: text(4_096),
              priority: z.int().min(1).max(5),
              click: z.url().optional(),
            }),
          )(body)
        : 'unauthorized',
    answer: { status: 200, body: '{"id":"sPs71M8A2T","event":"message","topic":"incidents"}' },
  },
  pagerduty: {
    settings: (url) => ({ url: url('/v2/enqueue'), credential: 'R015S7CRBYPCRUGX2KEK34PMHPEFPXIH' }),
    path: '/v2/enqueue',
    refuses: json(
      z.strictObject({
        routing_key: z.string().length(32),
        event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
        dedup_key: text(255),
        payload: z
          .strictObject({
            summary: text(1_024),
            source: text(255),
            severity: z.enum(['critical', 'error', 'warning', 'info']),
            timestamp: z.iso.datetime(),
            component: text(255).optional(),
            custom_details: z.record(z.string(), z.string()),
          })
          .optional(),
        client: z.string().optional(),
        client_url: z.url().optional(),
        links: z.array(z.strictObject({ href: z.url(), text: z.string() })).optional(),
      }),
    ),
    answer: { status: 202, body: '{"status":"success","message":"Event processed","dedup_key":"k"}' },
  },
  goalert: {
    settings: (url) => ({ url: url('/api/v2/generic/incoming?token=5e2b2a9c') }),
    path: '/api/v2/generic/incoming?token=5e2b2a9c',
    refuses: json(
      z.strictObject({
        summary: text(1_024),
        details: z.string().max(6_144),
        dedup: text(512),
        action: z.literal('close').optional(),
      }),
    ),
    answer: { status: 204, body: '' },
  },
  http: {
    settings: (url) => ({
      url: url('/incidents'),
      credential: 'K6mZ5sTq',
      headers: { 'X-Team': 'payments' },
      template: '{"text":"{{reference}} {{title}}: {{what}}","severity":"{{severity}}"}',
    }),
    path: '/incidents',
    refuses: (body, headers) =>
      headers['x-team'] === 'payments'
        ? json(z.strictObject({ text: text(4_000), severity: z.string() }))(body)
        : 'unauthorized',
    answer: { status: 200, body: '{}' },
  },
};

/** Answers as the receiver of a kind does: 400 for what its documentation does not allow. */
export const answerOf = (kind: string, refused: string[]) => (request: ReceivedRequest) => {
  const { path, refuses, answer } = RECEIVERS[kind]!;
  const problem = request.path === path ? refuses(request.body, request.headers) : `no such path: ${request.path}`;
  if (problem === undefined) return behave.answer(answer.status, {}, answer.body);
  refused.push(`${kind}: ${problem}`);
  return behave.answer(400, {}, problem);
};
